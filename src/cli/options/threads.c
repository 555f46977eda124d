#include "cli/options/threads.h"

#include <omp.h>
#include <pthread.h>
#include <string.h>

#include "base/base.h"

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

// Keeps a probe thread alive until the gate opens.
static void *wait_at_gate(void *arg)
{
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    return arg;
}

// Returns how many threads can exist at once, up to `count`, including the caller. *reason: errno
// if fewer.
static int threads_probe(pthread_t *threads, int count, int *reason)
{
    int made = 1;
    pthread_mutex_lock(&gate);
    while (made < count && !(*reason = pthread_create(&threads[made], NULL, wait_at_gate, NULL)))
        made++;
    pthread_mutex_unlock(&gate);
    for (int i = 1; i < made; i++) pthread_join(threads[i], NULL);
    return made;
}

int threads_use(int wanted)
{
    int limit = omp_get_thread_limit(), reason = 0; // OMP_THREAD_LIMIT
    int count = wanted ? wanted : (int)min64(omp_get_max_threads(), limit);
    const char *how = wanted ? "-threads" : "OMP_NUM_THREADS";
    if (count > limit) return fail(ERR_USAGE, "%s %d: OMP_THREAD_LIMIT is %d", how, count, limit);
    if (count > THREADS_MAX)
        return fail(ERR_USAGE, "%s %d: at most %d threads are used", how, count, THREADS_MAX);
    pthread_t *threads = mem_alloc(count, sizeof *threads);
    if (!threads) return ERR_MEMORY;
    int made = threads_probe(threads, count, &reason);
    mem_free(threads);
    if (made < count)
        return fail(ERR_USAGE, "%s %d: the system allows only %d thread%s: %s", how, count, made,
                    made == 1 ? "" : "s", strerror(reason));
    omp_set_num_threads(count);
    omp_set_dynamic(0); // OpenMP must use the number of threads in the records
    return OK;
}
