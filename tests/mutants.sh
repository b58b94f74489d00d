#!/bin/sh
# mutants.sh PROGRAM: runs every command that measures with each deliberate fault (throng/core/mutant.h) that concerns it.
# Each must fail and say that palettes or pictures are wrong; without a fault none may say so.
#
# So many characters are posed in stress that few frames show a fault that begins late: a busy machine misses the others.
#
# THRONG_TEST_NIGHTLY=yes tries all faults, otherwise some of each kind. A fault of posing concerns bench, scale, stress and compare, one of drawing bench and stress --draw. slow and stall
# leave palettes right: what finds them is the study of compare.
program=$1
folder=$(mktemp -d) || exit 4
trap 'rm -rf "$folder"' EXIT
wrong='double-precision reference|palettes of another frame|palettes are written again|its palettes changed|its error grew'
failed=0

# what expected-status-or-any command...
run() {
    what=$1
    shift
    "$@" >"$folder/out" 2>"$folder/err"
    status=$?
    if grep -Eq "$wrong" "$folder/err"; then said=yes; else said=no; fi
    if [ -n "${THRONG_MUTANT:-}" ]; then
        [ "$status" = 1 ] && [ "$said" = yes ] && echo "found:  $THRONG_MUTANT by $what" && return
    else
        [ "$said" = no ] && echo "good:   $what" && return
    fi
    echo "FAILED: ${THRONG_MUTANT:-no fault}, $what: exit $status, says wrong: $said"
    cat "$folder/err"
    failed=1
}

posing() {
    run bench "$program" bench --filter '^(pose/(avx2|neon|scalar)/f32|interp/nlerp/scalar|crowd/10|blend/mask)$' --repetitions 20 \
        --repetition-time 1 --out "$folder/new.json"
    run scale "$program" scale --count 500 --threads 1,2 --repetitions 20 --repetition-time 1
    run stress "$program" stress --count 1024 --threads 1 --budget-ms 4 --frames 299
    run "compare" "$program" compare "$folder/old.json" "$folder/new.json"
}

drawing() {
    run "bench frame/" "$program" bench --filter '^frame/all_visible/whole$' --drawn 5 --shadow 0 --samples 1 --repetitions 2
    run "stress --draw" "$program" stress --draw --count 3 --threads 1 --budget-ms 8 --frames 299 --size 160x90 --shadow 0 \
        --samples 1
}

"$program" bench --filter '^(pose/(avx2|neon|scalar)/f32|interp/nlerp/scalar|crowd/10|blend/mask)$' --repetitions 20 \
    --repetition-time 1 --out "$folder/old.json" >"$folder/out" || exit 1
posing
drawing
posing_faults='skip_batches tired:1000 flip_sign' drawing_faults=stale_slot
if [ -n "${THRONG_TEST_NIGHTLY:-}" ]; then
    posing_faults="$posing_faults skip_frames copy_neighbours tired:60 loose_bound drop_bone"
    # With one CPU the software renderer reads the palettes before others are written.
    if [ "$(nproc)" -gt 1 ]; then
        drawing_faults="$drawing_faults late_fence"
    else
        echo "left out: late_fence, which takes two CPUs"
    fi
fi
for mutant in $posing_faults; do
    export THRONG_MUTANT=$mutant
    posing
done
for mutant in $drawing_faults; do
    export THRONG_MUTANT=$mutant
    drawing
done
exit $failed
