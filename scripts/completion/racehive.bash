# SPDX-License-Identifier: Apache-2.0
# Completion of `racehive` for bash. Subcommands and options are those that --help lists, so that
# nothing is kept in step by hand.

_racehive() {
    local word=${COMP_WORDS[COMP_CWORD]} sub=${COMP_WORDS[1]:-}
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "$(racehive --help 2>/dev/null |
            sed -n '/^Subcommands:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p') --help --version" -- "$word"))
    elif [ "${word#-}" != "$word" ]; then
        COMPREPLY=($(compgen -W "$(racehive "$sub" --help 2>/dev/null |
            sed -n 's/^ *\(-h, \)\{0,1\}\(--[a-z-]*=\{0,1\}\).*/\2/p')" -- "$word"))
        case ${COMPREPLY[0]:-} in *=) compopt -o nospace 2>/dev/null ;; esac
    else
        COMPREPLY=($(compgen -f -- "$word"))
    fi
}
complete -o filenames -F _racehive racehive
