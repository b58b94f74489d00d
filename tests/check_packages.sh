#!/bin/sh
# check_packages.sh SOURCE VERSION: debian/ is of this version, and asks for what scripts/setup.sh installs to build.
set -eu
cd "$1"
. scripts/setup.sh
head -n 1 debian/changelog | grep -qF "throng ($2) " || {
    echo "debian/changelog does not begin with version $2"
    exit 1
}
for package in $build_packages; do
    case $package in
    gcc | g++ | libegl1 | libgl1-mesa-dri) continue ;; # there anyway; only to run
    esac
    sed -n '/^Build-Depends/,/^[^ B]/p' debian/control | grep -Eq "^ $package[, ]" || {
        echo "debian/control does not build with $package"
        exit 1
    }
done
