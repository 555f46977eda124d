#!/usr/bin/env bash
# The job array of the README on a real Slurm: test_sweep_slurm.sh [PROGRAM]. A Slurm of one node is
# started in a temporary folder, with a key, sockets and ports of its own; one job is ended half way and
# handed in again.
# shellcheck disable=SC2317,SC2154  # some functions are called by their names; checks.sh counts
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
binary=$(realpath "${1:-$here/../build/cpu/tests/sweep/spbench}")
# shellcheck source=/dev/null
. "$here/lib/checks.sh"

end() {
    echo "$passed passed, $failed failed, ${1:-0} skipped"
    exit $((failed != 0))
}
skip() {
    echo "skipped: a sweep as a job array of Slurm: $*"
    end 1
}
PATH=$PATH:/usr/sbin:/sbin
for program in sbatch squeue scancel scontrol slurmctld slurmd munged mungekey; do
    command -v "$program" >/dev/null || skip "there is no $program (Debian: slurm-wlm, munge)"
done

work=$(mktemp -d)
chmod 755 "$work"
pids=()
stop() {
    [ "${#pids[@]}" -eq 0 ] || kill "${pids[@]}" 2>/dev/null
    wait
    rm -rf "$work"
}
trap stop EXIT

# Ports that nobody has: of a free pair, found by trying.
port=$((20000 + $$ % 20000))
while (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || (exec 3<>"/dev/tcp/127.0.0.1/$((port + 1))") 2>/dev/null; do
    port=$((port + 2))
done
mkdir -p "$work/munge" "$work/state" "$work/spool" "$work/run"
chmod 711 "$work/run"
chmod 700 "$work/munge"
mungekey --create --keyfile="$work/munge/key" >"$work/munge.log" 2>&1 || skip "mungekey: $(tail -n 1 "$work/munge.log")"
munged --foreground --force --key-file="$work/munge/key" --socket="$work/run/munge" --pid-file="$work/munge/pid" \
    --log-file="$work/munge/log" --seed-file="$work/munge/seed" >"$work/munge.log" 2>&1 &
pids+=($!)

node=$(hostname -s)
cpus=$(nproc)
cat >"$work/slurm.conf" <<END
ClusterName=test
SlurmctldHost=$node(127.0.0.1)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/munge
AuthInfo=socket=$work/run/munge
CredType=cred/munge
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/ctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/ctld.log
SlurmdLogFile=$work/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,batch_sched_delay=1,sched_min_interval=100000
MpiDefault=none
ReturnToService=2
KillWait=2
NodeName=$node NodeAddr=127.0.0.1 CPUs=$cpus State=UNKNOWN
PartitionName=all Nodes=$node Default=YES MaxTime=10 State=UP
END
export SLURM_CONF=$work/slurm.conf
# until SECONDS COMMAND...: whether it succeeds in that time.
until_true() {
    local limit=$((SECONDS + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        [ "$SECONDS" -lt "$limit" ] || return 1
        sleep 0.2
    done
}
until_true 10 test -S "$work/run/munge" || skip "munged does not start: $(tail -n 1 "$work/munge.log")"
slurmctld -D -f "$SLURM_CONF" >"$work/ctld.out" 2>&1 &
pids+=($!)
slurmd -D -f "$SLURM_CONF" -N "$node" >"$work/slurmd.out" 2>&1 &
pids+=($!)
is_idle() { scontrol show node "$node" | grep -q 'State=IDLE'; }
until_true 20 is_idle || skip "no node comes up: $(grep -h error "$work"/*.log "$work"/*.out | tail -n 1)"

cd "$work" || exit 1
mkdir bin
ln -s "$binary" bin/spbench
PATH=$work/bin:$PATH
export XDG_CACHE_HOME=$work/cache OMP_WAIT_POLICY=passive
options=(-device cpu -threads 1 -op spmm -k 2 -reps 1 -warmup 1)
matrices=(gen:stencil:3 gen:band:9:1 gen:aspect:4:20 gen:rmat:4:2 gen:fem:2 gen:uniform:20:3)
"$binary" sweep -q "${options[@]}" -alg merge,rowsplit -o whole.jsonl "${matrices[@]}" # and the ceilings are kept
cases() { grep -ho '"case":"[^"]*"' "$@" | sort; }
jobs_over() { [ -z "$(squeue -h)" ]; }

check 'a job array is taken' sbatch -o out.%a "$here/sweep/array.sbatch" "${options[@]}" -alg merge,rowsplit "${matrices[@]}" >job
check 'a job array ends' until_true 30 jobs_over
check 'each part has a file' test "$(find . -name 'part*.jsonl' | wc -l)" -eq 4
cat part*.jsonl >all.jsonl
check 'the parts are the whole, each case once' test "$(cases all.jsonl)" = "$(cases whole.jsonl)"
check 'nothing is said' test -z "$(cat out.*)"

# shellcheck disable=SC2016 # fences of Markdown
check 'docs/sweeps.md shows that script' test "$(cat "$here/sweep/array.sbatch")" = \
    "$(sed -n '/^```slurm$/,/^```$/p' "$here/../docs/sweeps.md" | sed '1d;$d')"

# One that hangs, is ended as a batch system ends jobs, and is handed in again without what hung.
rm -f part*.jsonl
sbatch -o out.%a --array=1 "$here/sweep/array.sbatch" "${options[@]}" -alg merge,plant-hang gen:stencil:3 >job
has_one() { [ "$(grep -c '"kind":"result"' part1.jsonl)" -eq 1 ]; }
check 'the first case is there' until_true 20 has_one
scancel "$(grep -o '[0-9]*$' job)"
check 'a job that is ended ends' until_true 20 jobs_over
check 'that is no crash' test "$(grep -c '"status":"crashed"' part1.jsonl)" -eq 0
check 'and leaves whole lines' test "$(grep -vc '^{.*}$' part1.jsonl)" -eq 0
sbatch -o out.%a --array=1 "$here/sweep/array.sbatch" "${options[@]}" -alg merge,rowsplit gen:stencil:3 >job
check 'a job that goes on ends' until_true 20 jobs_over
check 'it has done the rest' test "$(grep -o '"status":"ok"' part1.jsonl | wc -l)" -eq 2
end
