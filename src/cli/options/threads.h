// Number of OpenMP threads.
#ifndef THREADS_H
#define THREADS_H

#define THREADS_MAX 4096

// Sets the number of threads. 0: OMP_NUM_THREADS, or one per processor. Returns ERR_USAGE if this
// program, OMP_THREAD_LIMIT or the system allows fewer. OpenMP itself would end the program.
int threads_use(int wanted);

#endif
