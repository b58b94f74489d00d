#!/bin/sh
# mutants.sh PROGRAM: runs every command that measures with each deliberate fault (throng/core/mutant.h) that concerns it.
# Each must fail and say that palettes or pictures are wrong; without a fault none may say so.
#
# So many characters are posed in stress that few frames show a fault that begins late: a busy machine misses the others.
#
# A fault of posing concerns bench, scale, stress and compare, one of drawing bench and stress --draw. slow and stall
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

# Of few joints, with which all is quick. Only of the human do clips come near their error bound.
small=synthetic:joints=8,clips=3,keys=16,rate=15

# model
posing() {
    run bench "$program" bench --filter "$entries" --repetitions 9 --repetition-time 1 --model "$1" --out "$folder/new.json"
    run scale "$program" scale --count 500 --threads 1,2 --repetitions 5 --repetition-time 1 --model "$1"
    run stress "$program" stress --count 1024 --threads 1 --budget-ms 2 --frames 299 --model "$1"
    run compare "$program" compare "$folder/old-$1.json" "$folder/new.json"
}

drawing() {
    run "bench frame/" "$program" bench --filter '^frame/all_visible/whole$' --drawn 5 --shadow 0 --samples 1 \
        --repetitions 2 --model $small
    run "stress --draw" "$program" stress --draw --count 3 --threads 1 --budget-ms 8 --frames 299 --size 160x90 --shadow 0 \
        --samples 1 --model $small
}

entries='^(pose/(avx2|neon|scalar)/f32|interp/nlerp/scalar|crowd/10|blend/mask)$'
for model in $small human; do
    "$program" bench --filter "$entries" --repetitions 9 --repetition-time 1 --model $model --out "$folder/old-$model.json" \
        >"$folder/out" || exit 1
done
posing $small
drawing
for mutant in skip_frames skip_batches copy_neighbours tired:60 tired:1000 flip_sign drop_bone; do
    export THRONG_MUTANT=$mutant
    posing $small
done
THRONG_MUTANT=loose_bound
posing human
for mutant in stale_slot late_fence; do
    [ "$mutant" = late_fence ] && [ "$(nproc)" = 1 ] && continue # one CPU does one thing after the other
    export THRONG_MUTANT=$mutant
    drawing
done
exit $failed
