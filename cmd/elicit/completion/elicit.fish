# Completion of elicit for fish. Put this into ~/.config/fish/completions/elicit.fish:
#
#     elicit completion fish | source

function __elicit_complete
    set -l words (commandline -opc)
    set -l cur (commandline -ct)
    set -l program (string replace -r '^~' $HOME -- $words[1])
    set -l out ($program __complete $words[2..-1] "$cur" 2>/dev/null)
    switch "$out[1]"
        case files
            set -l flag (string match -r '^--[^=]*=' -- "$cur")
            for path in (__fish_complete_path (string replace -r '^--[^=]*=' '' -- "$cur"))
                echo "$flag$path"
            end
        case command
            set -l dashes (contains -i -- -- $words)
            set -l command
            test $dashes -lt (count $words); and set command (string escape -- $words[(math $dashes + 1)..-1])
            complete -C (string join ' ' -- $command "$cur")
        case words
            printf '%s\n' $out[2..-1]
    end
end

complete -c elicit -f -a '(__elicit_complete)'
