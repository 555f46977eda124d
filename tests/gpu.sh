#!/usr/bin/env bash
# The tests that need a GPU: the tables of cases on it, then again under compute-sanitizer where that
# is installed. Call: tests/gpu.sh BUILD_FOLDER. SANITIZE_SECONDS bounds each sanitizer run.
set -u
build=${1:?usage: tests/gpu.sh BUILD_FOLDER}
limit=${SANITIZE_SECONDS:-600}
status=0

run() {
    echo "== $*"
    "$@" || status=1
}

run "$build/tests/device/test_device"
run "$build/tests/device/test_device_run"
run "$build/tests/device/test_digest"
run "$build/tests/device/test_roof"
run "$build/tests/measure/test_bound"
run "$build/tests/formats/test_formats"
run "$build/tests/formats/test_aspt"
run "$build/tests/formats/test_dcsc"
run "$build/tests/formats/test_tiled"
run "$build/tests/kernels/test_graded"
run "$build/tests/kernels/test_narrow"
run "$build/tests/kernels/test_ping_pong"
run "$build/tests/measure/test_in_order"
run "$build/tests/select/test_auto"
run "$build/tests/kernels/test_balanced_strips"
run "$build/tests/kernels/test_hash"
run "$build/tests/kernels/test_speck"
run "$build/tests/kernels/test_tile"
run "$build/tests/kernels/test_tsparse"
run "$build/tests/measure/test_check"
run "$build/tests/exact/test_traps"
run "$build/tests/measure/test_check_product"
run "$build/tests/kernels/test_algos" cuda
run python3 "$(dirname "$0")/plugin/test_plugin.py" "$build"
sanitizer=$(command -v compute-sanitizer || command -v /usr/local/cuda/bin/compute-sanitizer || true)
if [ -z "$sanitizer" ]; then
    echo 'skipped: compute-sanitizer is not installed'
    exit $status
fi
# The tool is slow, so it gets shorter tables. racecheck reports races inside a vendor's library
# (COO_ALG3 of cuSPARSE 12.6.3), which nobody here can mend: it gets this project's kernels only.
run timeout "$limit" "$sanitizer" --tool memcheck --error-exitcode 1 "$build/tests/kernels/test_algos" cuda short
run timeout "$limit" "$sanitizer" --tool racecheck --error-exitcode 1 "$build/tests/kernels/test_algos" cuda tiny own
exit $status
