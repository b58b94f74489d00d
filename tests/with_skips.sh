#!/bin/sh
# Runs a suite that may have nothing to test with, and says so in a line "skipped: ...". Exit status: 77 if it did and
# nothing failed (CTest's SKIP_RETURN_CODE), else the suite's. CTest could look for such lines by itself
# (SKIP_REGULAR_EXPRESSION), but that goes before the exit status: a suite that skips a test and fails another would pass.
#
# Where THRONG_NO_SKIPS is set, what is missing ("skipped: no ...") is a failure: scripts/test has installed it.
folder=$(mktemp -d) || exit 4
trap 'rm -rf "$folder"' EXIT
{
    "$@" 2>&1
    echo $? >"$folder/status"
} | tee "$folder/output"
read -r status <"$folder/status"

says() {
    grep -q "$1" "$folder/output"
}

[ "$status" = 0 ] || exit "$status"
[ -z "${THRONG_NO_SKIPS:-}" ] || ! says "skipped: no " || exit 1
# CTest would not look for a leak any more.
says "skipped: " && ! says LeakSanitizer && exit 77
exit 0
