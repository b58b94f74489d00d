#compdef throng
# Completion of throng in zsh. The program says what can come next (src/cli/help.h).
local line value what
local -a lines found files
lines=("${(@f)$("${(Q)words[1]/#\~/$HOME}" complete-words "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
for line in "${(@)lines[2,-1]}"; do
    value=${${line%%$'\t'*}//:/\\:}
    what=${line#*$'\t'}
    found+=("$value${what:+:$what}")
done
files=(${=lines[1]})
compset -P '--*='
_describe word found
case $files[1] in
folders) _files -/ ;;
files) if ((#files > 1)); then _files -g "*${(j: *:)files[2,-1]}"; else _files; fi ;;
esac
