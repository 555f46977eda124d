#include "base/variables.h"

#include <stddef.h>

// To add a variable: add a row. tests/cli/man.sh checks that the list has all variables of the
// source.
const struct variable variables[] = {
    {"MKL_RT", "the libmkl_rt of the algorithm mkl; else one is looked for where the loader does",
     true, false},
    {"NCU", "the ncu of -counters; else that on the PATH, else that in /usr/local/cuda/bin", false,
     false},
    {"XDG_CACHE_HOME", "where the folder spbench is, of what is kept between runs; else ~/.cache",
     false, false},
    {"HOME", "the folder of ~/.cache", false, false},
    {"TMPDIR", "the folder of the records that compare -ab does not keep; else /tmp", false, false},
    {"OMP_NUM_THREADS", "threads of the CPU algorithms where -threads is left out", true, false},
    {"OMP_PROC_BIND", "whether they stay on their processor: spread, close", true, false},
    {"OMP_PLACES", "what a place for a thread is: cores, threads", true, false},
    {"OMP_WAIT_POLICY", "passive: waiting threads sleep, which makes short runs longer", true,
     false},
    {"CUDA_VISIBLE_DEVICES", "the GPUs that there are, and their order: the first is cuda:0", true,
     false},
    {"CUDA_LAUNCH_BLOCKING", "1: each launch is waited for, which spoils the times of short runs",
     true, true},
    {"LD_LIBRARY_PATH", "where the loader looks first, for libcusparse and libmkl_rt", true, false},
    {NULL, NULL, false, false},
};
