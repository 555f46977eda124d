#include "base/variables.h"

#include <stddef.h>
#include <stdlib.h>

// To add a variable: add a row. tests/cli/man.sh checks that the list has all variables of the
// source.
const struct variable variables[] = {
    {"MKL_RT", "path of libmkl_rt for the algorithm mkl; default: found by the loader", true,
     false},
    {"NCU", "path of ncu for -counters; default: on the PATH, else in /usr/local/cuda/bin", false,
     false},
    {"XDG_CACHE_HOME", "parent of the cache folder spbench; default: ~/.cache", false, false},
    {"HOME", "parent of .cache", false, false},
    {"TERM", "dumb, or empty: a terminal that gets no line of progress", false, false},
    {"TMPDIR", "folder for temporary records of compare -ab; default: /tmp", false, false},
    {"OMP_NUM_THREADS", "threads of the CPU algorithms without -threads", true, false},
    {"OMP_PROC_BIND", "binding of threads to places: spread, close", true, false},
    {"OMP_PLACES", "places for threads: cores, threads", true, false},
    {"OMP_WAIT_POLICY", "passive: waiting threads sleep, which makes short runs slower", true,
     false},
    {"GOMP_SPINCOUNT",
     "spins of a waiting thread before it sleeps; default: 50000, unless OMP_WAIT_POLICY is set",
     true, false},
    {"CUDA_VISIBLE_DEVICES", "visible GPUs and their order: the first is cuda:0", true, false},
    {"CUDA_LAUNCH_BLOCKING", "1: each launch blocks, which spoils the times of short runs", true,
     true},
    {"LD_LIBRARY_PATH", "searched first for libcusparse and libmkl_rt", true, false},
    {"LD_PRELOAD", "libraries loaded first: they can replace allocator and clock", true, false},
    {"LD_AUDIT", "libraries that watch the loader: they can replace allocator and clock", true,
     false},
    {NULL, NULL, false, false},
};

const char *variable_preload(void)
{
    static const char *const names[] = {"LD_PRELOAD", "LD_AUDIT"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && *value) return names[i];
    }
    return NULL;
}
