#!/usr/bin/env bash
# Every test that needs no GPU: builds all flavours, runs each test program, adds up their closing
# lines. `make test` and CI call this. The full output of each part is in build/test-logs/.
set -u
cd "$(dirname "$0")/.." || exit 1
logs=build/test-logs
rm -rf "$logs"
mkdir -p "$logs"
jobs=$(nproc 2>/dev/null || echo 2)
passed=0 failed=0 skipped=0
# Tests that measure time, or compare times: nothing runs beside them.
alone='test_busy test_device test_timing test_bench_memory test_standby'
may_skip='build-cuda sweep-slurm' # parts that may pass nothing: they need what a machine can lack

# part NAME COMMAND...: runs it and adds its closing line; one without that line is a failure.
part() {
    local name=$1 start=$SECONDS
    shift
    "$@" >"$logs/$name.log" 2>&1 </dev/null
    tell "$name" $? $((SECONDS - start))
}

# begin NAME COMMAND...: a part that runs beside others, one to a processor; waits for a free one.
# finish: waits for all of them.
declare -A name_of=() start_of=() # by process
begin() {
    while [ "${#name_of[@]}" -ge "$jobs" ]; do end_one; done
    "${@:2}" >"$logs/$1.log" 2>&1 </dev/null &
    name_of[$!]=$1
    start_of[$!]=$SECONDS
}
finish() {
    while [ "${#name_of[@]}" -gt 0 ]; do end_one; done
}
end_one() {
    local pid status
    wait -n -p pid "${!name_of[@]}"
    status=$?
    tell "${name_of[$pid]}" "$status" $((SECONDS - start_of[$pid]))
    unset "name_of[$pid]" "start_of[$pid]"
}

# tell NAME STATUS SECONDS
tell() {
    local name=$1 status=$2 log=$logs/$1.log line
    line=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$log" | tail -n 1)
    if [[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
        passed=$((passed + BASH_REMATCH[1]))
        failed=$((failed + BASH_REMATCH[2]))
        skipped=$((skipped + BASH_REMATCH[3]))
        [ "$status" -eq 0 ] || [ "${BASH_REMATCH[2]}" -ne 0 ] || failed=$((failed + 1))
        if [ "${BASH_REMATCH[1]}" -eq 0 ] && [ "$status" -eq 0 ] && [[ " $may_skip " != *" $name "* ]]; then
            line="$line: FAILED, nothing was tested"
            failed=$((failed + 1))
        fi
    else
        line="no closing line, exit status $status"
        failed=$((failed + 1))
    fi
    printf '%-24s %s (%d s)\n' "$name" "$line" "$3"
    if [ "$status" -ne 0 ]; then
        grep -E -A 8 --no-group-separator 'FAIL|ERROR|error|warning' "$log" | head -n 60
    fi
    grep -E '^skipped: ' "$log"
}

# one COMMAND...: a single check by exit status, in the form that part() reads.
one() {
    if "$@"; then echo '1 passed, 0 failed, 0 skipped'; else echo '0 passed, 1 failed, 0 skipped'; false; fi
}

# A build that must succeed without a warning, on $processors of the machine.
processors=$jobs
build() {
    local log
    log=$(mktemp)
    make -s -j"$processors" "$@" >"$log" 2>&1
    local status=$?
    cat "$log"
    ! grep -E 'warning|error|undefined' "$log" && [ "$status" -eq 0 ]
    status=$?
    rm -f "$log"
    return $status
}

# A second make has nothing to do, and a touched header rebuilds what includes it.
incremental() {
    make CUDA=0 || return
    make -q CUDA=0 || { echo 'FAILED: a second make is not idle'; return 1; }
    touch src/measure/timing.h
    if make -q CUDA=0; then echo 'FAILED: a touched header rebuilds nothing'; return 1; fi
    make CUDA=0
}

export OMP_NUM_THREADS="${OMP_NUM_THREADS:-$jobs}"
export OMP_WAIT_POLICY=passive # a busy machine must not spin at barriers
export ASAN_OPTIONS="detect_leaks=1:${ASAN_OPTIONS:-}"
export XDG_CACHE_HOME="$PWD/$logs/cache"

# Of the tests only those that run without the sanitizers.
part build-cpu one build CUDA=0 spbench build/cpu/tests/{kernels/test_algos,measure/test_mutants,mkl/libmkl_rt.so,mkl_old/libmkl_rt.so,nvml/libnvidia-ml.so.1,sweep/spbench,sweep/library.so,plugin/{right,bad_endings,bad_fields,no_symbol,fake_cuda}.so}
part incremental one incremental
part build-emu one build EMU=1 build/emu/spbench tests

python=python3
python3 -c 'import matplotlib' 2>/dev/null || python=/usr/bin/python3
checker=python3 # of JSON by a schema
python3 -c 'import jsonschema' 2>/dev/null || checker=/usr/bin/python3

# These compute and measure nothing: each has one processor. The longest come first.
nvcc=$(command -v nvcc || command -v /usr/local/cuda/bin/nvcc || true)
if [ -n "$nvcc" ]; then
    # All of the CUDA code, for one GPU, and the tests that run on a GPU. Without build/cuda the build has
    # a folder of its own. Nothing of this build runs, so the compiler optimises little.
    cuda=(BUILD=build/cuda)
    [ -e build/cuda/spbench ] ||
        cuda=(BUILD=build/cuda-test CFLAGS=-O1 NVCCFLAGS='-O3 -Xcicc -O1 -Xptxas -O1')
    mapfile -t gpu_tests < <(grep -o 'tests/[a-z]*/test_[a-z_0-9]*' tests/gpu.sh | sort -u | sed "s|^|${cuda[0]#BUILD=}/|")
    processors=$(((jobs + 1) / 2))
    begin build-cuda one build CUDA=1 ARCH="${ARCH:-90}" "${cuda[@]}" "${cuda[0]#BUILD=}/spbench" "${gpu_tests[@]}"
else
    part build-cuda bash -c "echo 'skipped: no nvcc, the CUDA code was not compiled'; echo '0 passed, 0 failed, 1 skipped'"
fi
begin plots "$python" tests/plots/test_plots.py
mapfile -t operations < <(sed -n 's/^OP(\(.*\))$/\1/p' src/algos/ops.def)
for op in "${operations[@]}"; do
    halves=(even odd)
    [ "$op" = spgemm ] && halves=(short) # its runs make their results, which takes longest
    for half in "${halves[@]}"; do
        begin "test_algos-emu-$op-$half" build/emu/tests/kernels/test_algos cuda "$op" "$half"
    done
done
for name in test_traps test_graded test_narrow test_ping_pong test_auto test_aspt test_faults test_hash test_tile test_formats test_check_rounding test_check test_check_product; do
    begin "$name-emu" build/emu/tests/*/"$name"
done
# The sanitizers watch a third of the CPU's; all of them run without.
begin test_algos-emu-cpu env MKL_RT=build/emu/tests/mkl/libmkl_rt.so build/emu/tests/kernels/test_algos cpu short
# Some mutants are timed, and are tried ten times. The test needs a fast build.
begin test_mutants-cpu build/cpu/tests/measure/test_mutants
begin test_algos-cpu env MKL_RT=build/cpu/tests/mkl/libmkl_rt.so build/cpu/tests/kernels/test_algos
for source in tests/*/test_*.c tests/*/test_*.cpp; do
    name=$(basename "${source%.*}")
    [[ $name == test_algos || $name == test_mutants || " $alone " == *" $name "* || -e $logs/$name-emu.log ]] ||
        begin "$name-emu" "build/emu/${source%.*}"
done
begin list python3 tests/list.py
begin layers python3 tests/layers.py
begin column tests/extend/test_column.sh
begin documents python3 tests/documents.py build/cpu/spbench
begin results "$python" tests/results.py build/cpu/spbench
begin man tests/cli/man.sh build/cpu/spbench

# These wait more than they compute.
begin cli-emu env XDG_CACHE_HOME="$PWD/$logs/cache-cli-emu" tests/cli/run.sh build/emu/spbench
begin cli-cpu env XDG_CACHE_HOME="$PWD/$logs/cache-cli-cpu" tests/cli/run.sh build/cpu/spbench
begin sweep-kill "$python" tests/sweep/test_sweep_kill.py build/cpu
begin sweep "$python" tests/sweep/test_sweep.py build/cpu build/emu/spbench
begin plugin "$python" tests/plugin/test_plugin.py build/cpu build/emu/spbench
begin records tests/records/test_records.sh build/cpu/spbench build/emu/spbench
begin fetch tests/fetch/test_fetch.sh
begin install tests/make/test_install.sh build/cpu/spbench
begin first-build tests/make/test_first_build.sh
begin dist tests/make/test_dist.sh
begin precision tests/extend/test_precision.sh
begin container tests/make/test_container.sh
begin derive "$python" tests/tools/test_derive.py
begin kinds "$python" tests/tools/test_kinds.py
begin measure tests/tools/test_measure.sh build/cpu/spbench
begin ci "$python" tests/tools/test_ci.py build/cpu/spbench
begin compare-formats "$checker" tests/compare/test_verdict_formats.py build/cpu/spbench
begin sweep-slurm tests/sweep/test_sweep_slurm.sh build/cpu/tests/sweep/spbench
begin shellcheck one bash -c 'shellcheck .ci/run ./*.sh fetch/*.sh tests/*.sh tests/*/*.sh tools/*.sh tools/*/*.sh'
finish

for name in $alone; do
    part "$name-emu" build/emu/tests/*/"$name"
done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
