// Stands in for OpenMP's header in the fuzzer, which runs on one thread.
#ifndef OMP_H
#define OMP_H

static inline int omp_get_max_threads(void) { return 1; }
static inline int omp_get_thread_num(void) { return 0; }

#endif
