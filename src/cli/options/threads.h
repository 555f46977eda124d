// How many threads OpenMP uses.
#ifndef THREADS_H
#define THREADS_H

#define THREADS_MAX 4096

// That many from now on, no less; 0: as the environment says, else one for each processor.
// ERR_USAGE: it is too many for this program, for OMP_THREAD_LIMIT, or for the system, for which
// OpenMP would end the program.
int threads_use(int wanted);

#endif
