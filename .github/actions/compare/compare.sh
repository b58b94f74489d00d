#!/bin/bash
# The step of action.yml. BASELINE and CANDIDATE: commits of the repository in the working directory, which are built,
# or programs. OPTIONS, BENCH_OPTIONS: words with spaces between them. Ends with the exit code of throng compare.
set -euf
shopt -s inherit_errexit # a build that fails ends the step
summary=${GITHUB_STEP_SUMMARY:-/dev/stdout}
work=$(mktemp -d "${RUNNER_TEMP:-/tmp}/throng-XXXXXX")

# Prints the program of a commit or path.
program() { # commit or path, name
    if [ -f "$1" ]; then
        realpath "$1"
        return
    fi
    # A shallow clone has only the commit that it is of.
    git cat-file -e "$1^{commit}" 2>/dev/null || git fetch -q --depth=1 origin "$1" >&2
    git worktree add -q --detach "$work/$2" "$1" >&2
    "$work/$2/scripts/run" --version >&2 # installs what is missing, and builds
    echo "$work/$2/build/release/bin/throng"
}

if [ -z "${BASELINE:-}" ] || [ -z "${CANDIDATE:-}" ]; then
    echo "::error::baseline and candidate take a commit or a program each; only pull requests have a base by themselves"
    exit 2
fi
for commit in "$BASELINE" "$CANDIDATE"; do
    case $commit in
    -*)
        echo "::error::a commit does not begin with -: $commit"
        exit 2
        ;;
    esac
done
old=$(program "$BASELINE" baseline)
new=$(program "$CANDIDATE" candidate)
code=0
# shellcheck disable=SC2086 # words
"$new" compare --run "$old" "$new" --out "$work/compare.md" ${OPTIONS:-} -- ${BENCH_OPTIONS:-} 2>"$work/log" || code=$?
cat "$work/log" >&2
if [ -f "$work/compare.md" ]; then
    cat "$work/compare.md" >>"$summary"
else
    { echo "throng compare has no result:" && echo '```' && tail -n 20 "$work/log" && echo '```'; } >>"$summary"
fi
echo "exit-code=$code" >>"${GITHUB_OUTPUT:-/dev/null}"
exit "$code"
