// A plug-in whose algorithms end badly, each in another way. p-clock and p-lag change the clock. So
// does the constructor if the variable SPBENCH_TEST_CLOCK is set.
#define _GNU_SOURCE
#include "spbench_plugin.h"

#include <dlfcn.h>
#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int right(struct spbench_task *t, void *stream)
{
    const struct spbench_csr *A = t->A;
    const int64_t *ptr = A->ptr;
    (void)stream;
    for (int64_t i = 0; i < A->m; i++)
        for (int64_t j = 0; j < t->C->cols; j++) {
            float sum = 0;
            for (int64_t p = ptr[i]; p < ptr[i + 1]; p++)
                sum += ((float *)A->val)[p] * ((float *)t->B->val)[A->idx[p] * t->B->ld + j];
            ((float *)t->C->val)[i * t->C->ld + j] = sum;
        }
    return SPBENCH_OK;
}

static int crash(struct spbench_task *t, void *stream)
{
    volatile int *nowhere = NULL;
    (void)stream;
    t->host->log(t, "before the crash");
    *nowhere = 1;
    return SPBENCH_OK;
}

static int leave(struct spbench_task *t, void *stream)
{
    (void)t;
    (void)stream;
    exit(7);
}

static int raise_term(struct spbench_task *t, void *stream)
{
    (void)t;
    (void)stream;
    return raise(SIGTERM) ? SPBENCH_FAILED : SPBENCH_OK;
}

static int raise_int(struct spbench_task *t)
{
    (void)t;
    return raise(SIGINT) ? SPBENCH_FAILED : SPBENCH_OK;
}

static int leave_as_interrupted(struct spbench_task *t, void *stream)
{
    (void)t;
    (void)stream;
    exit(130);
}

static int hang(struct spbench_task *t, void *stream)
{
    (void)t;
    (void)stream;
    for (volatile int more = 1; more;) usleep(1000);
    return SPBENCH_OK;
}

static int eat(struct spbench_task *t, void *stream)
{
    (void)t;
    (void)stream;
    for (char *p; (p = malloc(1 << 24));) memset(p, 1, 1 << 24);
    return SPBENCH_NO_MEMORY;
}

static int give_up(struct spbench_task *t)
{
    t->host->log(t, "the analysis found a loop");
    return SPBENCH_FAILED;
}

static int refuse(struct spbench_task *t)
{
    t->host->log(t, "only square matrices");
    return SPBENCH_UNSUPPORTED;
}

static int keep(struct spbench_task *t)
{
    void *block;
    return t->host->alloc(t, 64, &block);
}

static int allocate(struct spbench_task *t, void *stream)
{
    void *block;
    (void)stream;
    return t->host->alloc(t, 64, &block);
}

static int right_rounded_down(struct spbench_task *t, void *stream)
{
    fesetround(FE_DOWNWARD);
    return right(t, stream);
}

static void *spin(void *arg)
{
    for (volatile int more = 1; more;) {}
    return arg;
}

static int right_with_thread(struct spbench_task *t, void *stream)
{
    pthread_t thread;
    if (!pthread_create(&thread, NULL, spin, NULL)) pthread_detach(thread);
    return right(t, stream);
}

static int right_and_behind(struct spbench_task *t, void *stream)
{
    ((float *)t->C->val)[t->C->rows * t->C->ld] = 1;
    return right(t, stream);
}

// Keeps a block for run(), which must not free the block.
static int keep_state(struct spbench_task *t) { return t->host->alloc(t, 64, &t->state); }

static int free_state(struct spbench_task *t, void *stream)
{
    t->host->free(t, t->state);
    return right(t, stream);
}

static void drop_state(struct spbench_task *t) { t->host->free(t, t->state); }

static int free_nothing(struct spbench_task *t)
{
    t->host->free(t, NULL);
    t->host->free(t, &t->state);
    return SPBENCH_OK;
}

// Writes stats under the names figure0, figure1, ...
static int write_figures(struct spbench_task *t)
{
    for (int i = 0; i < 40; i++) {
        char name[16];
        snprintf(name, sizeof name, "figure%d", i);
        t->host->number(t, name, i);
    }
    return SPBENCH_OK;
}

static int write_long_name(struct spbench_task *t)
{
    t->host->number(t, "a-name-of-thirty-one-letters---", 1);
    t->host->number(t, "a-name-of-thirty-two-letters----", 1);
    return SPBENCH_OK;
}

// Multiplies diagonal matrices, in nine phases.
static int multiply_diagonal(struct spbench_task *t, void *stream)
{
    struct spbench_csr *R = t->R;
    void *idx;
    (void)stream;
    for (char name[] = "phase0"; name[5] <= '8'; name[5]++) t->host->phase(t, name);
    R->nnz = t->A->nnz;
    if (t->host->alloc(t, (R->m + 1) * 8, &R->ptr) || t->host->alloc(t, R->nnz * 4, &idx) ||
        t->host->alloc(t, R->nnz * 4, &R->val))
        return SPBENCH_NO_MEMORY;
    R->idx = idx;
    memcpy(R->ptr, t->A->ptr, (size_t)(R->m + 1) * 8);
    memcpy(R->idx, t->A->idx, (size_t)R->nnz * 4);
    for (int64_t p = 0; p < R->nnz; p++)
        ((float *)R->val)[p] = ((float *)t->A->val)[p] * ((float *)t->S->val)[p];
    return SPBENCH_OK;
}

static int zero(struct spbench_task *t, void *stream)
{
    (void)stream;
    memset(t->C->val, 0, (size_t)(t->C->rows * t->C->ld) * 4);
    return SPBENCH_OK;
}

// Adds 0 * B(0, j) to each element: a format that pads rows with zeros.
static int right_and_padded(struct spbench_task *t, void *stream)
{
    int err = right(t, stream);
    for (int64_t i = 0; i < t->C->rows && t->B->rows; i++)
        for (int64_t j = 0; j < t->C->cols; j++)
            ((float *)t->C->val)[i * t->C->ld + j] += 0 * ((float *)t->B->val)[j];
    return err;
}

// Sums that are no whole numbers have another last bit in every other run.
static int right_but_varying(struct spbench_task *t, void *stream)
{
    static int runs;
    int err = right(t, stream);
    runs++;
    for (int64_t i = 0; i < t->C->rows; i++)
        for (int64_t j = 0; j < t->C->cols; j++) {
            float *c = (float *)t->C->val + i * t->C->ld + j;
            if (runs % 2 && *c != (float)(int)*c) *c *= 1 + 2e-7f;
        }
    return err;
}

// Takes zeros for a B that the run before has written.
static const void *last_chained;
static int right_unless_chained(struct spbench_task *t, void *stream)
{
    int err = right(t, stream);
    if (t->B->val == last_chained) memset(t->C->val, 0, (size_t)(t->C->rows * t->C->ld) * 4);
    last_chained = t->C->val;
    return err;
}
static void forget_chained(struct spbench_task *t)
{
    (void)t;
    last_chained = NULL; // another task may get this memory
}

// Crashes for infinities, in the middle of the traps.
static int right_or_crash(struct spbench_task *t, void *stream)
{
    int err = right(t, stream);
    for (int64_t i = 0; i < t->C->rows && t->C->cols; i++)
        if (((float *)t->C->val)[i * t->C->ld] - ((float *)t->C->val)[i * t->C->ld] != 0)
            return crash(t, stream);
    return err;
}

// A clock at a fifth of the speed. patch_clock() makes clock_gettime() jump to this function.
static int slow_clock(clockid_t clock, struct timespec *now)
{
    long status = syscall(SYS_clock_gettime, clock, now);
    if (clock != CLOCK_MONOTONIC) return (int)status;
    static int64_t first;
    int64_t ns = now->tv_sec * 1000000000 + now->tv_nsec;
    if (!first) first = ns;
    ns = first + (ns - first) / 5;
    now->tv_sec = ns / 1000000000;
    now->tv_nsec = ns % 1000000000;
    return (int)status;
}

// A clock that is behind by half of the runs, and catches up at the LAG_CALLS-th call after a run.
#define LAG_CALLS 6
static int64_t lag_ns;
static int lag_calls;
static int64_t true_ns(void)
{
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000 + now.tv_nsec;
}
static int lagging_clock(clockid_t clock, struct timespec *now)
{
    if (clock != CLOCK_MONOTONIC) return (int)syscall(SYS_clock_gettime, clock, now);
    if (!--lag_calls) lag_ns = 0;
    const int64_t ns = true_ns() - lag_ns;
    now->tv_sec = ns / 1000000000;
    now->tv_nsec = ns % 1000000000;
    return 0;
}

static int patch(int (*clock)(clockid_t, struct timespec *))
{
#ifdef __x86_64__
    unsigned char *to = dlsym(RTLD_DEFAULT, "clock_gettime");
    unsigned char jump[12] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};
    void *target = (void *)clock;
    uintptr_t page = (uintptr_t)to & ~(uintptr_t)4095;
    memcpy(jump + 2, &target, sizeof target);
    if (mprotect((void *)page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC)) return SPBENCH_FAILED;
    memcpy(to, jump, sizeof jump);
#endif
    return SPBENCH_OK;
}

static int patch_clock(struct spbench_task *t) { return (void)t, patch(slow_clock); }
static int patch_lag(struct spbench_task *t) { return (void)t, patch(lagging_clock); }
__attribute__((constructor)) static void patch_at_once(void)
{
    if (getenv("SPBENCH_TEST_CLOCK")) patch(slow_clock);
}

static int right_with_lag(struct spbench_task *t, void *stream)
{
    const int64_t begin = true_ns();
    int err = right(t, stream);
    lag_ns += (true_ns() - begin) / 2;
    lag_calls = LAG_CALLS;
    return err;
}

// Fails if the word behind the task is a pointer, such as to a struct with the timer.
static int follow(struct spbench_task *t)
{
    const uintptr_t behind = *(const uintptr_t *)((const char *)t + t->size);
    return behind > 1 << 20 ? SPBENCH_FAILED : SPBENCH_OK;
}

static int right_but_idle(struct spbench_task *t, void *stream)
{
    sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){0});
    return right(t, stream);
}

// Lets another process work beside the runs.
static pid_t helper;
static int start_helper(struct spbench_task *t)
{
    if (!(helper = fork())) spin(t);
    return helper > 0 ? SPBENCH_OK : SPBENCH_FAILED;
}
static void end_helper(struct spbench_task *t)
{
    (void)t;
    kill(helper, SIGKILL);
    waitpid(helper, NULL, 0);
}

static int right_slowly(struct spbench_task *t, void *stream)
{
    usleep(3000);
    return right(t, stream);
}

// Computes in prepare(), and copies the product in run().
static int compute(struct spbench_task *t)
{
    int err = t->host->alloc(t, t->C->rows * t->C->ld * 4, &t->state);
    if (!err) right(t, NULL);
    if (!err) memcpy(t->state, t->C->val, (size_t)(t->C->rows * t->C->ld) * 4);
    return err;
}

static int copy(struct spbench_task *t, void *stream)
{
    (void)stream;
    memcpy(t->C->val, t->state, (size_t)(t->C->rows * t->C->ld) * 4);
    return SPBENCH_OK;
}

#define ALGORITHM(symbol, title, prepare, run)                                                     \
    ALGORITHM_OF(SPBENCH_SPMM, symbol, title, prepare, run, NULL)
#define ALGORITHM_OF(operation, symbol, title, prepare, run, teardown)                             \
    static const struct spbench_algorithm symbol = {sizeof symbol,                                 \
                                                    title,                                         \
                                                    "ends badly",                                  \
                                                    "Own work",                                    \
                                                    operation,                                     \
                                                    SPBENCH_ON_CPU,                                \
                                                    SPBENCH_F32,                                   \
                                                    SPBENCH_ROW_MAJOR,                             \
                                                    SPBENCH_CSR,                                   \
                                                    NULL,                                          \
                                                    0,                                             \
                                                    prepare,                                       \
                                                    run,                                           \
                                                    teardown};
ALGORITHM(a_right, "p-right", NULL, right)
ALGORITHM(a_crash, "p-crash", NULL, crash)
ALGORITHM(a_exit, "p-exit", NULL, leave)
ALGORITHM(a_term, "p-term", NULL, raise_term)
ALGORITHM(a_int, "p-int", raise_int, right)
ALGORITHM(a_130, "p-130", NULL, leave_as_interrupted)
ALGORITHM(a_hang, "p-hang", NULL, hang)
ALGORITHM(a_eat, "p-eat", NULL, eat)
ALGORITHM(a_fail, "p-fail", give_up, right)
ALGORITHM(a_refuse, "p-refuse", refuse, right)
ALGORITHM(a_alloc, "p-alloc", NULL, allocate)
ALGORITHM_OF(SPBENCH_SPMM, a_free, "p-free", keep_state, free_state, drop_state)
ALGORITHM(a_round, "p-round", NULL, right_rounded_down)
ALGORITHM(a_thread, "p-thread", NULL, right_with_thread)
ALGORITHM(a_behind, "p-behind", NULL, right_and_behind)
ALGORITHM(a_stray, "p-stray", free_nothing, right)
ALGORITHM(a_many, "p-many", write_figures, right)
ALGORITHM(a_long, "p-long", write_long_name, right)
ALGORITHM_OF(SPBENCH_SPGEMM, a_phases, "p-phases", NULL, multiply_diagonal, NULL)
ALGORITHM(a_zero, "p-zero", NULL, zero)
ALGORITHM(a_pads, "p-pads", NULL, right_and_padded)
ALGORITHM(a_varies, "p-varies", NULL, right_but_varying)
ALGORITHM_OF(SPBENCH_SPMM, a_chain, "p-chain", NULL, right_unless_chained, forget_chained)
ALGORITHM(a_finite, "p-finite", NULL, right_or_crash)
ALGORITHM(a_clock, "p-clock", patch_clock, right_slowly)
ALGORITHM(a_last, "p-last", NULL, right)
ALGORITHM(a_slow, "p-slow", NULL, right_slowly)
ALGORITHM(a_kept, "p-kept", compute, copy)
ALGORITHM(a_leak, "p-leak", keep, right)
ALGORITHM(a_follow, "p-follow", follow, right)
ALGORITHM(a_lag, "p-lag", patch_lag, right_with_lag)
ALGORITHM(a_idle, "p-idle", NULL, right_but_idle)
ALGORITHM_OF(SPBENCH_SPMM, a_helper, "p-helper", start_helper, right, end_helper)
static const struct spbench_algorithm *const list[] = {
    &a_right,  &a_crash,  &a_exit,  &a_term,  &a_int,    &a_130,    &a_hang,   &a_eat,  &a_fail,
    &a_refuse, &a_alloc,  &a_free,  &a_stray, &a_round,  &a_thread, &a_behind, &a_many, &a_long,
    &a_phases, &a_zero,   &a_clock, &a_last,  &a_leak,   &a_slow,   &a_kept,   &a_pads, &a_varies,
    &a_chain,  &a_finite, &a_lag,   &a_idle,  &a_helper, &a_follow};
const struct spbench_plugin spbench_plugin_v1 = {sizeof spbench_plugin_v1, "0.9-bad", list,
                                                 sizeof list / sizeof *list};
