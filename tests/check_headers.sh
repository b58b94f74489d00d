#!/bin/sh
# check_headers.sh "C COMPILER" "C++ COMPILER" SOURCE ROOM...: every header compiles alone: those that are installed as C17 and
# as C++17 without exceptions, those of the rooms as C17. So do those that are installed together, in both orders and twice,
# and all headers, in alphabetical order and in the opposite one: any two can be included together. Those that a source
# includes first compile alone when that is built. An empty compiler is left out.
set -eu
c=$1 cxx=$2 source=$3
shift 3
public=$(cd "$source/include" && find -- * -name '*.h' | sort)
includes="-I$source/include"
headers=
first=
for room in "$@"; do
    includes="$includes -I$source/$room/include"
    headers="$headers $(cd "$source/$room/include" && find -- * -name '*.h' | sort)"
    first="$first $(find "$source/$room" -name '*.c' -exec grep -hm1 '^#include' {} +)"
done
[ -n "$public" ] && [ -n "$headers" ] || {
    echo "no headers in $source" >&2
    exit 1
}
file=$(mktemp -d)
trap 'rm -rf "$file"' EXIT
failed=

# compile WHAT "COMPILER AND OPTIONS" HEADER...
compile() {
    what=$1 compiler=$2
    shift 2
    printf '#include <%s>\n' "$@" >"$file/all.h"
    echo 'extern int not_empty;' >>"$file/all.h"
    # shellcheck disable=SC2086 # lists
    $compiler -Wall -Wextra -Wpedantic -Werror -fsyntax-only "$file/all.h" || {
        echo "$what does not compile with $compiler" >&2
        failed=1
    }
}
backwards() {
    for header in "$@"; do echo "$header"; done | sort -r
}

for compiler in "$c -x c -std=c17" "${cxx:+$cxx -x c++ -std=c++17 -fno-exceptions -fno-rtti}"; do
    [ -n "$compiler" ] || continue
    for header in $public; do
        compile "$header" "$compiler -I$source/include" "$header"
    done
    # shellcheck disable=SC2046,SC2086
    compile "what is installed" "$compiler -I$source/include" $public $(backwards $public)
done
c="$c -x c -std=c17 -D_GNU_SOURCE -Wno-unused-function $includes"
for header in $headers; do
    [ "${first#*"<$header>"}" != "$first" ] || compile "$header" "$c" "$header"
done
# shellcheck disable=SC2086
compile "all headers" "$c" $public $headers
# shellcheck disable=SC2046,SC2086
compile "all headers, backwards" "$c" $(backwards $public $headers)
[ -z "$failed" ] || exit 1
echo "$(echo $public $headers | wc -w) headers"
