#!/bin/sh
# install.sh SOURCE TREE [WRAPPER...]: uses an installed tree from outside, with CMake and with pkg-config. TREE: a prefix;
# or a build folder, which is installed and then moved. WRAPPER: runs a program where there is a display (with_screen.sh).
set -eu
source=$1 tree=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
model=$source/tests/data/rotations.fbx

if [ -f "$tree/CMakeCache.txt" ]; then
    cmake --install "$tree" --prefix "$folder/prefix" >"$folder/log"
    grep -q "^ExecStart=$folder/prefix/bin/throng serve" "$folder/prefix/lib/systemd/system/throng.service"
    tree="$folder/moved to here"
    mv "$folder/prefix" "$tree"
    for file in man/man1/throng.1 man/man1/throng-bench.1 bash-completion/completions/throng zsh/site-functions/_throng; do
        [ -s "$tree/share/$file" ] || { echo "share/$file is missing"; exit 1; }
    done
fi
# A program may have a glad or stb of its own.
find "$tree/lib" -name 'libthrong*.a' -exec nm --extern-only --defined-only --format=posix {} + 2>"$folder/nm" | awk \
    'NF && !/:$/ && $1 !~ /^(th_|_)/ { print "a library defines " $1; bad = 1 } END { exit bad }'
"$source/tests/programs/check_exports.py" "$tree"
"$tree/bin/throng" inspect "$model" >"$folder/log"

echo "with CMake"
cmake -S "$source/examples" -B "$folder/cmake" -DCMAKE_PREFIX_PATH="$tree" -DCMAKE_BUILD_TYPE=Release >>"$folder/log"
cmake --build "$folder/cmake" >>"$folder/log"
"$folder/cmake/pose_crowd" "$model" 100 >"$folder/pose"
cat "$folder/pose"
"$folder/cmake/own_threads"
"$folder/cmake/characters"
if [ -x "$folder/cmake/draw_crowd" ]; then
    "$@" "$folder/cmake/draw_crowd" "$model" 3 || [ $? -eq 4 ] # it says that there is no OpenGL here
fi

echo "with pkg-config"
PKG_CONFIG_PATH=$(dirname "$(find "$tree/lib" -name throng.pc)")
export PKG_CONFIG_PATH
libdir=$(dirname "$PKG_CONFIG_PATH")
if [ -f "$libdir/libthrong.a" ]; then # a shared library finds the importer by itself
    ln -s "$(pkg-config --variable=importer throng | tr -d "\\\\")" "$folder"
fi
for package in throng throng-render; do
    flags=$(pkg-config --cflags --libs $package)
    echo "$flags"
    for example in own_threads.cpp characters.c pose_crowd.c; do # and nothing is lost
        language=cc
        [ "${example%.c}" != "$example" ] || language=c++
        eval "$language -D_GNU_SOURCE -fsanitize=address,undefined \"\$source/examples/$example\" \
            -o \"\$folder/${example%.c*}\" $flags"
        LD_LIBRARY_PATH=$libdir "$folder/${example%.c*}" "$model" 100 >"$folder/again"
    done
done

# Timings differ, palettes do not.
sed 's/.*palettes//' "$folder/pose" >"$folder/a"
sed 's/.*palettes//' "$folder/again" | diff "$folder/a" - || {
    echo "the palettes differ"
    exit 1
}

libdir=$(find "$tree/lib" -name libthrong_debug.a -printf %h)
[ -n "$libdir" ] || exit 0
echo "misuse: a release returns, and the library with asserts ends the program"
cat >"$folder/misuse.c" <<END
#include <throng/throng.h>
int main(void) { return th_model_find_joint(NULL, "root") != TH_NO_INDEX; }
END
for package in throng throng_debug; do
    eval "cc -std=c17 \"\$folder/misuse.c\" -o \"\$folder/\$package\" $(pkg-config --cflags --libs $package)"
done
LD_LIBRARY_PATH=$libdir "$folder/throng"
! "$folder/throng_debug" 2>"$folder/log"
grep -q "Assertion.*model" "$folder/log"
