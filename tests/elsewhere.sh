#!/bin/sh
# elsewhere.sh COMMAND...: runs it where nobody develops: without root's rights, home, display, network, IPv6 or a second
# CPU, in Turkish and another time zone, with files for the owner alone and a temporary folder with a space in its name.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/te mp" "$folder/locales"
localedef -i tr_TR -f UTF-8 "$folder/locales/tr_TR.UTF-8"
chmod -R a+rX "$folder"
chmod 1777 "$folder/te mp"
umask 077
unset HOME DISPLAY XDG_CACHE_HOME XDG_RUNTIME_DIR THRONG_MODELS
export TMPDIR="$folder/te mp" LOCPATH="$folder/locales" LC_ALL=tr_TR.UTF-8 TZ=Asia/Kathmandu OMP_NUM_THREADS=1
[ "$(id -u)" = 0 ] || {
    echo "not root: with the network and the rights that are there" >&2
    taskset -c 0 "$@"
    exit
}
# shellcheck disable=SC2016 # for the inner shell
unshare --net sh -c 'ip link set lo up
    echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
    exec setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all taskset -c 0 "$@"' sh "$@"
