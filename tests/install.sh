#!/bin/sh
# install.sh BUILD SOURCE [WRAPPER...]: installs a build into an empty prefix and builds and runs the examples from there,
# once with CMake and once with pkg-config. WRAPPER: runs a program where there is a display (xvfb-run ...).
set -eu
build=$1 source=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
prefix=$folder/prefix
cmake --install "$build" --prefix "$prefix" >"$folder/log"

for file in man/man1/throng.1 man/man1/throng-bench.1 bash-completion/completions/throng zsh/site-functions/_throng; do
    [ -s "$prefix/share/$file" ] || { echo "share/$file is missing"; exit 1; }
done

# A program may have a glad or stb of its own.
find "$prefix" -name 'libthrong*.a' -exec nm --extern-only --defined-only --format=posix {} + 2>"$folder/nm" | awk \
    'NF > 1 && $1 !~ /^(th_|_)/ { print "a library defines " $1; bad = 1 } END { exit bad }'

echo "with CMake"
cmake -S "$source/examples" -B "$folder/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release >>"$folder/log"
cmake --build "$folder/cmake" >>"$folder/log"
# Beside throng, as the library was configured for another prefix: a program of the same installation finds the importer.
find "$folder/cmake" -maxdepth 1 -name '*_crowd' -exec cp {} "$prefix/bin" \;
"$prefix/bin/pose_crowd" "$source/tests/data/rotations.fbx" 100
"$prefix/bin/pose_crowd" >"$folder/pose"
cat "$folder/pose"
if [ -x "$prefix/bin/draw_crowd" ] && [ $# -gt 0 ]; then
    "$@" "$prefix/bin/draw_crowd" "$source/tests/data/rotations.fbx" 3
fi

echo "with pkg-config"
config=$(find "$prefix" -name throng.pc)
flags=$(PKG_CONFIG_PATH=$(dirname "$config") pkg-config --cflags --libs throng --define-variable=prefix="$prefix" \
    --define-variable=libdir="$(dirname "$(dirname "$config")")" --define-variable=includedir="$prefix/include")
# shellcheck disable=SC2086 # a list
cc -std=c11 -D_GNU_SOURCE "$source/examples/pose_crowd.c" -o "$folder/pose_crowd" $flags
"$folder/pose_crowd" >"$folder/again"

# Timings differ, palettes do not.
sed 's/.*palettes//' "$folder/pose" >"$folder/a"
sed 's/.*palettes//' "$folder/again" | diff "$folder/a" - || {
    echo "the palettes differ"
    exit 1
}
