#!/bin/sh
# own_symbols.sh ARCHIVE NM OBJCOPY: in a static library, lets what others wrote (glad, stb) begin with th_, too. A program
# may then have a glad or stb of its own.
set -eu
names=$(mktemp)
trap 'rm -f "$names"' EXIT
"$2" --extern-only --defined-only --format=posix "$1" | awk 'NF && !/:$/ && $1 !~ /^(th_|_)/ { print $1, "th_" $1 }' | sort -u >"$names"
if [ -s "$names" ]; then
    "$3" --redefine-syms="$names" "$1"
fi
