#!/bin/sh
# Runs a suite that may have nothing to test with, and says so: Criterion in a line "[SKIP] suite::test: why", others in
# "skipped: why". Exit status: 77 if nothing was tested and nothing failed (CTest's SKIP_RETURN_CODE), else the suite's.
# CTest could look for such lines by itself (SKIP_REGULAR_EXPRESSION), but that goes before the exit status.
#
# Where THRONG_NO_SKIPS is set, a reason that begins with "no ..." is a failure: scripts/test has installed what is missing.
folder=$(mktemp -d) || exit 4
trap 'rm -rf "$folder"' EXIT
{
    "$@" 2>&1
    echo $? >"$folder/status"
} | tee "$folder/output" | grep -v -e '^.RUN \]' -e '^.PASS\]' # Criterion's --verbose
read -r status <"$folder/status"

says() {
    grep -q -E "$1" "$folder/output"
}

# Criterion's socket has the number of its process, and one that was killed, of somebody else, has left its own.
! says '^criterion: .*: Address already in use' || { rm -rf "$folder" && exec "$0" "$@"; }
[ "$status" = 0 ] || exit "$status"
[ -z "${THRONG_NO_SKIPS:-}" ] || ! says '^(skipped|\[SKIP\] [a-z0-9_]+::[a-z0-9_]+): no ' || exit 1
# CTest would not look for a leak any more.
says '^skipped: |Tested: 0 ' && ! says LeakSanitizer && exit 77
exit 0
