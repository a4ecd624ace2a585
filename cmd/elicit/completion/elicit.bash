# Completion of elicit for bash. Put this into ~/.bashrc:
#
#     source <(elicit completion bash)

_elicit() {
    local rest=${COMP_LINE:0:COMP_POINT} cut part cur tail value line kind='' i
    local -a words=()
    COMPREPLY=()
    # bash takes words apart at = and :, in URLs for instance. What had no space before it belongs to the word before.
    for ((i = 0; i <= COMP_CWORD; i++)); do
        cut=${rest#"${rest%%[![:space:]]*}"}
        part=${COMP_WORDS[i]:0:${#cut}}
        if [[ $cut == "$rest" ]] && ((${#words[@]} > 0)); then
            words[${#words[@]} - 1]+=$part
        else
            words+=("$part")
        fi
        rest=${cut#"$part"}
    done
    cur=${words[${#words[@]} - 1]}
    # It replaces no more than what follows the last of them.
    tail=$cur
    for line in = :; do
        [[ $COMP_WORDBREAKS == *$line* ]] && tail=${tail##*$line}
    done
    cut=${cur%"$tail"}
    value=$cur
    [[ $cur == --*=* ]] && value=${cur#*=}

    while IFS= read -r line; do
        if [[ -z $kind ]]; then
            kind=$line
            continue
        fi
        line=${line%%$'\t'*}
        COMPREPLY+=("${line#"$cut"}")
    done < <("${words[0]/#\~/$HOME}" __complete "${words[@]:1}" 2>/dev/null)
    case $kind in
    files | command)
        type compopt &>/dev/null && compopt -o filenames
        while IFS= read -r line; do
            line=${cur%"$value"}$line
            COMPREPLY+=("${line#"$cut"}")
        done < <(
            compgen -f -- "$value"
            [[ $kind == command ]] && compgen -c -- "$value"
        )
        ;;
    esac
}

complete -F _elicit elicit
