#!/bin/bash
# slurm.sh THRONG_MPI [RANKS]: runs throng-mpi by srun in a Slurm of this host alone, which lives in a temporary folder
# and ends with the script; then loses a rank. Debian: slurm-wlm, munge. Slurm's daemons want root. Not a test of CTest.
# THRONG_SLURM_MPI=pmi2: for a program that is built with MPICH.
set -euo pipefail

program=$(realpath "$1")
ranks=${2:-4}
host=$(hostname -s)
folder=$(mktemp -d)
pids=()

stop() {
    local pid
    for pid in "${pids[@]}"; do
        kill "$pid" 2>/dev/null || true
    done
    wait
    rm -rf "$folder"
}
trap stop EXIT

fail() {
    echo "slurm.sh: $*" >&2
    tail -n 20 "$folder"/*.log >&2 || true
    exit 1
}

# wait_for SECONDS COMMAND...: until it succeeds.
wait_for() {
    local left=$(($1 * 10))
    shift
    until "$@" >/dev/null 2>&1; do
        ((left-- > 0)) || fail "gave up waiting for: $*"
        sleep 0.1
    done
}

start() {
    "$@" >>"$folder/daemons.log" 2>&1 &
    pids+=($!)
}

mkdir "$folder/state" "$folder/spool"
head -c 1024 /dev/urandom >"$folder/munge.key"
chmod 600 "$folder/munge.key"
chmod 755 "$folder"
cat >"$folder/slurm.conf" <<END
ClusterName=throng
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
CryptoType=crypto/munge
SlurmctldPort=16817
SlurmdPort=16818
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
ReturnToService=2
MpiDefault=pmix
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES OverSubscribe=FORCE:64 State=UP
END
export SLURM_CONF=$folder/slurm.conf

start munged --foreground --force --key-file="$folder/munge.key" --socket="$folder/munge.socket" \
    --pid-file="$folder/munge.pid" --log-file="$folder/munged.log" --seed-file="$folder/munge.seed"
wait_for 5 test -S "$folder/munge.socket"
start slurmctld -D -f "$SLURM_CONF"
start slurmd -D -f "$SLURM_CONF" -N "$host"
wait_for 20 bash -c "sinfo --noheader --format %T | grep -q idle"

job=(srun --ntasks "$ranks" --overcommit --mpi "${THRONG_SLURM_MPI:-pmix}" --kill-on-bad-exit=1)
"${job[@]}" "$program" scale --count 1000 --repetitions 2 --threads 1 || fail "the job failed"

# A rank that is lost ends the job.
"${job[@]}" "$program" scale --count 2000 --repetitions 100000 --threads 1 --timeout 3 >"$folder/lost" 2>&1 &
lost=$!
wait_for 10 pgrep --full -- "$program scale --count 2000 --repetitions 100000"
sleep 1
kill -KILL "$(pgrep --newest --full -- "^$program scale --count 2000 --repetitions 100000")"
if wait "$lost"; then
    fail "a job that lost a rank ended well"
fi
grep -E "$host.*(Killed|does not answer)|on $host does not answer" "$folder/lost" || fail "nobody names the host of the lost rank: $(cat "$folder/lost")"
pgrep --full -- "^$program scale --count 2000" && fail "a rank is left"
echo "slurm.sh: good"
