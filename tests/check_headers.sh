#!/bin/sh
# check_headers.sh "C COMPILER" "C++ COMPILER" FOLDER...: every header in the folders compiles alone, as C17 and
# as C++17, and so do all of them together, in alphabetical order and in the opposite one. So any two can be included
# together. An empty compiler is left out.
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

# compile WHAT HEADER...: in each language.
compile() {
    what=$1
    shift
    printf '#include <%s>\n' "$@" >"$file/all.h"
    echo 'extern int not_empty;' >>"$file/all.h"
    for language in c c++; do
        [ "$language" = c ] && compiler=$c || compiler=$cxx
        [ -n "$compiler" ] || continue
        # shellcheck disable=SC2086 # lists
        $compiler -x "$language" -std="${language}17" -D_GNU_SOURCE -Wall -Wextra -Wpedantic -Werror -fsyntax-only \
            $includes "$file/all.h" -Wno-unused-function || {
            echo "$what does not compile as $language" >&2
            failed=1
        }
    done
}

failed=
for header in $headers; do
    compile "$header" "$header"
done
# shellcheck disable=SC2086
compile "all headers" $headers
# shellcheck disable=SC2046
compile "all headers, backwards" $(for h in $headers; do echo "$h"; done | sort -r)
[ -z "$failed" ] || exit 1
echo "$(echo $headers | wc -w) headers"
