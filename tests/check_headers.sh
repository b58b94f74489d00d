#!/bin/sh
# check_headers.sh "C COMPILER" "C++ COMPILER" FOLDER...: every header in the folders compiles alone, as C17, and so does each
# that is installed as C++17; and in both languages all of them together, in alphabetical order and in the opposite one. So
# any two can be included together. Those that a source includes first compile alone as C when that is built. An empty
# compiler is left out.
set -eu
c=$1 cxx=$2
shift 2
includes=
headers=
for folder in "$@"; do
    includes="$includes -I$folder"
    headers="$headers $(cd "$folder" && find -- * -name '*.h' | sort)"
done
[ -n "$headers" ] || {
    echo "no headers in $*" >&2
    exit 1
}
file=$(mktemp -d)
trap 'rm -rf "$file"' EXIT
first=$(for folder in "$@"; do find "${folder%include}" -name '*.c' -exec grep -hm1 '^#include' {} +; done)
failed=

# compile LANGUAGE WHAT HEADER...
compile() {
    language=$1 what=$2
    shift 2
    [ "$language" = c ] && compiler=$c || compiler=$cxx
    [ -n "$compiler" ] || return 0
    printf '#include <%s>\n' "$@" >"$file/all.h"
    echo 'extern int not_empty;' >>"$file/all.h"
    # shellcheck disable=SC2086 # lists
    $compiler -x "$language" -std="${language}17" -D_GNU_SOURCE -Wall -Wextra -Wpedantic -Werror -fsyntax-only \
        $includes "$file/all.h" -Wno-unused-function || {
        echo "$what does not compile as $language" >&2
        failed=1
    }
}

for header in $headers; do
    [ "${first#*"<$header>"}" != "$first" ] || compile c "$header" "$header"
    [ "${header#throng/}" = "$header" ] || compile c++ "$header" "$header"
done
for language in c c++; do
    # shellcheck disable=SC2086
    compile "$language" "all headers" $headers
    # shellcheck disable=SC2046
    compile "$language" "all headers, backwards" $(for h in $headers; do echo "$h"; done | sort -r)
done
[ -z "$failed" ] || exit 1
echo "$(echo $headers | wc -w) headers"
