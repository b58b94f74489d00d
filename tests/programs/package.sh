#!/bin/sh
# package.sh [--install]: builds the Debian packages of the files that git tracks, in a temporary folder; lintian judges
# them; unpacked into a folder they are used from there. --install: installed on this machine too, as root, and purged.
set -eu
here=$(dirname "$(readlink -f "$0")")
. "$here/../../scripts/setup.sh"
root=$(dirname "$(dirname "$here")")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# What debian/ does not ask for is left out of the packages in silence.
for package in $build_packages; do
    case $package in
    gcc | g++ | libegl1 | libgl1-mesa-dri) continue ;; # there anyway; only to run
    esac
    sed -n '/^Build-Depends/,/^[^ B]/p' "$root/debian/control" | grep -Eq "^ $package[, ]" || {
        say "debian/control does not build with $package"
        exit 1
    }
done

# The code that users run. That warnings are errors and nobody debugs it changes none of it.
mkdir "$folder/throng"
(cd "$root" && git ls-files -z | xargs -0 cp --parents --target-directory="$folder/throng")
(
    cd "$folder/throng"
    export DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=$(nproc)" DEB_BUILD_PROFILES=nocheck
    export DEB_CFLAGS_STRIP=-g DEB_CXXFLAGS_STRIP=-g DEB_CFLAGS_APPEND=-Werror DEB_CXXFLAGS_APPEND=-Werror
    dpkg-buildpackage -b -us -uc
) >"$folder/log" 2>&1 || {
    tail -n 40 "$folder/log" >&2
    say "building the packages failed"
    exit 1
}
lintian --fail-on error,warning "$folder"/*.changes

# Uses what is installed in a prefix.
use() {
    say "using $1"
    version=$(dpkg-parsechangelog -l "$root/debian/changelog" -S Version)
    "$1/bin/throng" --version | grep -E "^throng $version( |$)" || {
        say "debian/changelog begins with another version, $version"
        exit 1
    }
    "$1/bin/throng" inspect synthetic:joints=20 >"$folder/log"
    "$1/bin/throng" inspect "$root/tests/data/draco.glb" >"$folder/log"
    "$1/bin/throng" bench --dry-run --filter '^pose/' >"$folder/log"
    "$root/tests/programs/install.sh" "$root" "$1"
}

for package in "$folder"/*.deb; do
    dpkg-deb --extract "$package" "$folder/unpacked here"
done
use "$folder/unpacked here/usr"
[ "${1:-}" = --install ] || exit 0

files() {
    find /etc /opt /usr /var/lib -xdev -path /var/lib/dpkg -prune -o -print | sort
}
purge() {
    $as_root dpkg --purge throng libthrong-dev libthrong-render0.1 libthrong0.1
}
find_root "the packages, for a moment"
files >"$folder/before"
trap 'purge; rm -rf "$folder"' EXIT
$as_root dpkg --install "$folder"/*.deb
use /usr
purge
trap 'rm -rf "$folder"' EXIT
files | diff "$folder/before" - || {
    say "files were left, or are gone"
    exit 1
}
