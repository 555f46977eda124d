#!/usr/bin/env bash
# Stands for ncu: runs the program that it is given, and prints what ncu prints. FAKE_NCU says how:
#   plain      two kernels, as asked for: bytes, no separators (the default)
#   units      units and separators of a person's, and lines of others between
#   rights     no right to read the counters
#   nothing    no kernel was there
#   metric     the GPU does not know one of the metrics
# In FAKE_NCU_LOG, if that is set, are the words that it was started with, a line each.
if [ "${1:-}" = --version ]; then
    echo 'NVIDIA (R) Nsight Compute Command Line Profiler'
    echo 'Version 2024.3.2.0 (build 34861637) (public-release)'
    exit 0
fi
[ -z "${FAKE_NCU_LOG:-}" ] || printf '%s\n' "$@" >"$FAKE_NCU_LOG"
while [ $# -gt 0 ] && [ "${1#--}" != "$1" ]; do
    [ "$1" = --csv ] || shift # each of the others has a value
    shift
done
names='"ID","Process ID","Kernel Name","Block Size","Device","CC","dram__bytes.sum","l1tex__t_bytes.sum","lts__t_bytes.sum"'
kernel='"7","void name<float, 4>(int *, ""x"")","(256, 1, 1)","0","9.0"'
echo '==PROF== Connected to process 7'
if [ "${FAKE_NCU:-}" = rights ]; then
    echo '==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on the target device 0.'
    exit 1
fi
"$@" || { s=$?; echo '==PROF== Disconnected from process 7'; exit $s; }
echo '==PROF== Disconnected from process 7'
case ${FAKE_NCU:-plain} in
plain) printf '%s\n' "$names" '"","","","","","","byte","byte","byte"' \
    "\"0\",$kernel,\"1000\",\"3000\",\"2000\"" "\"1\",$kernel,\"500\",\"1\",\"70\"" ;;
units) printf '%s\r\n' "$names" '"","","","","","","Kbyte","byte","Mbyte"' \
    "\"0\",$kernel,\"1,234.5\",\"3,000,000\",\"2\"" '==PROF== Profiling "name" - 1: 0%....100%' "\"1\",$kernel,\"0.5\",\"1\",\"0\"" ;;
metric) printf '%s\n' "${names/lts__t_bytes.sum/other}" ;;
nothing) echo '==WARNING== No kernels were profiled.' ;;
esac
