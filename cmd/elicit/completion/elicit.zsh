#compdef elicit
# Completion of elicit for zsh. Put this into ~/.zshrc, after compinit:
#
#     source <(elicit completion zsh)

_elicit() {
    local -a out names shown
    local line
    out=("${(@f)$("${words[1]/#\~/$HOME}" __complete "${(@)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}")
    case $out[1] in
    files)
        compset -P '--*='
        _files
        ;;
    command)
        integer dashes=${words[(i)--]}
        words=("${(@)words[dashes+1,-1]}")
        ((CURRENT -= dashes))
        _normal
        ;;
    words)
        for line in "${(@)out[2,-1]}"; do
            names+=("${line%%$'\t'*}")
            shown+=("${line/$'\t'/  -- }")
        done
        compadd -l -d shown -a names
        ;;
    esac
}

if [[ $funcstack[1] == _elicit ]]; then
    _elicit "$@"
else
    compdef _elicit elicit
fi
