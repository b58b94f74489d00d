# Completion of throng in bash. The program says what can come next (src/cli/help.h).
_throng() {
    local files='' value what
    COMPREPLY=()
    {
        read -r files
        while IFS=$'\t' read -r value what; do
            [[ $value != "$2"* ]] || COMPREPLY+=("$value")
        done
    } < <("${1/#\~/$HOME}" complete-words "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    [[ $files == f* ]] || return 0
    compopt -o filenames -o default
    while IFS= read -r value; do
        [[ -d $value || $files == files || "$files " == *" .${value##*.} "* ]] && COMPREPLY+=("$value")
    done < <(if [[ $files == folders ]]; then compgen -d -- "$2"; else compgen -f -- "$2"; fi)
    return 0
}
complete -F _throng throng
