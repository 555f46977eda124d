// Mutants that are right, and leave the process or the device in another state for the next case.
#ifndef MUTANTS_LEAVE_H
#define MUTANTS_LEAVE_H

#include <fenv.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "live.h"
#include "timed.h"

static inline void leaves_team(struct live *x)
{
    omp_set_num_threads(omp_get_max_threads() == 1 ? 2 : 1);
    x->altered = true;
}

static inline void leaves_dynamic(struct live *x) { omp_set_dynamic(1), x->altered = true; }

static inline void leaves_rounding(struct live *x) { x->altered = !fesetround(FE_TOWARDZERO); }

// Sets the rounding in the threads of the team, and not in the calling thread.
static inline void leaves_rounding_in_team(struct live *x)
{
    int others = 0;
#pragma omp parallel reduction(+ : others)
    if (omp_get_thread_num()) others += !fesetround(FE_UPWARD);
    if (!others) fesetround(FE_UPWARD); // one thread
    x->altered = true;
}

// Sets the register like a library that was linked with -ffast-math; without SSE2, rounding.
static inline void leaves_flushing(struct live *x)
{
#ifdef __SSE2__
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#else
    fesetround(FE_DOWNWARD);
#endif
    x->altered = true;
}

// Blocks a signal instead if there is only one processor.
static inline void leaves_affinity(struct live *x)
{
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
        if (CPU_ISSET(i, &all)) CPU_SET(i, &one);
    if (CPU_COUNT(&all) == 1)
        pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    else
        sched_setaffinity(0, sizeof one, &one);
    x->altered = true;
}

static inline void leaves_policy(struct live *x)
{
    x->altered = !sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){0});
}

static inline void leaves_timer(struct live *x)
{
    const struct itimerval far = {.it_value = {.tv_sec = 1000}};
    x->altered = !setitimer(ITIMER_VIRTUAL, &far, NULL);
}

static inline void handle_nothing(int number) { (void)number; }
static inline void leaves_handler(struct live *x)
{
    x->altered = signal(SIGPROF, handle_nothing) != SIG_ERR;
}

// Makes its result when somebody reads it, in a handler of SIGSEGV. The pages of C cannot be read
// until then. teardown() removes the handler.
static struct {
    struct live *of;
    char *first;
    size_t bytes;
    struct sigaction before;
} lazy;
static inline void lazy_make(int number)
{
    (void)number;
    mprotect(lazy.first, lazy.bytes, PROT_READ | PROT_WRITE);
    run_base(lazy.of, lazy.of->t);
}
static inline bool lazy_run(struct live *x)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const struct sigaction action = {.sa_handler = lazy_make, .sa_flags = SA_NODEFER};
    size_t bytes = (size_t)(row_first(x, rows_of(x) - 1) + row_count(x, rows_of(x) - 1)) *
                   type_bytes(prec_out(x->t->prec));
    uintptr_t begin = ((uintptr_t)values_of(x) + page - 1) / page * page;
    uintptr_t end = ((uintptr_t)values_of(x) + bytes) / page * page;
    if (!is_timed(x) || end <= begin) return false;
    lazy.of = x;
    lazy.first = (char *)begin;
    lazy.bytes = end - begin;
    if (!x->altered) sigaction(SIGSEGV, &action, &lazy.before);
    x->altered = true;
    return !mprotect(lazy.first, lazy.bytes, PROT_NONE);
}
static inline void lazy_end(struct live *x)
{
    if (!x->altered) return;
    mprotect(lazy.first, lazy.bytes, PROT_READ | PROT_WRITE);
    sigaction(SIGSEGV, &lazy.before, NULL);
}

// Threads end after a while. leave_end() waits for the last one.
#define LEFT_RUNS_MS  300.0
#define LEFT_SLEEP_MS 300
static inline void *left_running(void *arg)
{
    for (double begin = clock_ms(); clock_ms() - begin < LEFT_RUNS_MS;) {}
    return arg;
}
static inline void *left_asleep(void *arg) { return usleep(LEFT_SLEEP_MS * 1000), arg; }
static struct {
    pthread_t thread;
    bool exists;
} left;
static inline void leave_end(void)
{
    if (left.exists) pthread_join(left.thread, NULL);
    left.exists = false;
}
static inline void leave_thread(struct live *x, void *(*function)(void *))
{
    leave_end();
    x->altered = left.exists = !pthread_create(&left.thread, NULL, function, NULL);
}
static inline void leaves_running(struct live *x) { leave_thread(x, left_running); }
static inline void leaves_asleep(struct live *x) { leave_thread(x, left_asleep); }

// Writes eight bytes behind C. A block of a timed run has no guard, so other memory would be hit.
static inline void writes_behind(struct live *x)
{
    const struct task *t = x->t;
    size_t count = (size_t)(row_first(x, rows_of(x) - 1) + row_count(x, rows_of(x) - 1));
    if (kind_of(x) == RESULT_SPARSE && !t->dev->poison) return;
    memset((char *)values_of(x) + count * type_bytes(prec_out(t->prec)), 0xab, 8);
    x->altered = true;
}

#endif
