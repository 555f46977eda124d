// The state of the process is kept, compared and restored.
#define _GNU_SOURCE // sched_setaffinity
#include "base/process_state.h"
#include "test.h"

#include <fenv.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static void one_thread(void) { omp_set_num_threads(1); }
static void dynamic(void) { omp_set_dynamic(1); }
static void flat(void) { omp_set_max_active_levels(0); }
static void upward(void) { fesetround(FE_UPWARD); }
static void downward(void) { fesetround(FE_DOWNWARD); }
static void toward_zero(void) { fesetround(FE_TOWARDZERO); }
static void upward_in_team(void)
{
#pragma omp parallel
    if (omp_get_thread_num()) fesetround(FE_UPWARD);
}
static void traps(void) { feenableexcept(FE_DIVBYZERO); }
static void one_processor(void)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
}
static void block(void)
{
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
}
static void handle(int number) { (void)number; }
static void set_handler(void) { signal(SIGFPE, handle); }
static void ignore(void) { signal(SIGUSR2, SIG_IGN); }
static void start_timer(void)
{
    const struct itimerval far = {.it_value = {.tv_sec = 1000}};
    setitimer(ITIMER_REAL, &far, NULL);
}

static void make_batch(void) { sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){0}); }

static const struct {
    void (*change)(void);
    const char *what;
    int threads; // least number for which there is a change
    bool on_x86; // other processors may have no such change
} changes[] = {
    {one_thread, "an OpenMP team of 1 thread", 2, false},
    {dynamic, "OpenMP teams of dynamic size", 1, false},
    {flat, "a limit of 0 nested OpenMP regions", 1, false},
    {upward, "rounding upward", 1, false},
    {downward, "rounding downward", 1, false},
    {toward_zero, "rounding toward zero", 1, false},
    {upward_in_team, "rounding upward", 2, false},
    {traps, "traps of floating-point exceptions", 1, true},
    {one_processor, "an affinity to 1 processor", 2, false},
    {block, "other blocked signals", 1, false},
    {set_handler, "a handler of signal 8 (Floating point exception)", 1, false},
    {ignore, "other handling of signal 12 (User defined signal 2)", 1, false},
    {start_timer, "a running timer", 1, false},
    {make_batch, "scheduling policy 3 with priority 0", 1, false},
};

static void test_changes(void)
{
    struct process_state kept;
    char what[PROCESS_STATE_TEXT];
    int threads = omp_get_max_threads(), processors = omp_get_num_procs();
    CHECK(!process_state_keep(&kept), "%s", fail_text());
    CHECK(process_state_restore(&kept, what) == PROCESS_SAME && !what[0], "%s", what);
    for (int i = 0; i < COUNT(changes); i++) {
        if ((threads < processors ? threads : processors) < changes[i].threads) continue;
#ifndef __x86_64__
        if (changes[i].on_x86) continue;
#endif
        changes[i].change();
        CHECK(process_state_restore(&kept, what) == PROCESS_RESTORED, "%s", changes[i].what);
        CHECK_TEXT(what, changes[i].what);
        CHECK(process_state_restore(&kept, what) == PROCESS_SAME, "%s is not restored: %s",
              changes[i].what, what);
    }
    process_state_free(&kept);
}

#ifdef __SSE2__
static void test_flushing(void)
{
    struct process_state kept;
    char what[PROCESS_STATE_TEXT];
    static const unsigned bits[] = {0x8000, 0x0040}; // results, operands
    CHECK(!process_state_keep(&kept), "%s", fail_text());
    for (int i = 0; i < COUNT(bits); i++) {
        __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | bits[i]);
        CHECK(process_state_restore(&kept, what) == PROCESS_RESTORED, "%x", bits[i]);
        CHECK_TEXT(what, "flushing of denormal numbers");
        CHECK(!(__builtin_ia32_stmxcsr() & bits[i]), "%x is not restored", bits[i]);
    }
    process_state_free(&kept);
}
#else
static void test_flushing(void) { SKIP("flushing of denormal numbers: no SSE2"); }
#endif

static void test_handlers(void)
{
    struct process_state kept;
    char what[PROCESS_STATE_TEXT];
    signal(SIGUSR1, handle); // of the program itself
    CHECK(!process_state_keep(&kept), "%s", fail_text());
    CHECK(!process_state_handler_changed(&kept, what), "%s", what);
    signal(SIGSEGV, handle);
    CHECK(process_state_handler_changed(&kept, what), "no handler is seen");
    CHECK_TEXT(what, "a handler of signal 11 (Segmentation fault)");
    process_state_restore(&kept, what);
    CHECK(!process_state_handler_changed(&kept, what), "%s", what);
    struct sigaction now;
    sigaction(SIGUSR1, NULL, &now);
    CHECK(now.sa_handler == handle, "the handler of the program is lost");
    process_state_free(&kept);
}

// A nice value that only root may lower: the child has another user.
static void test_stuck(void)
{
    struct process_state kept;
    char what[PROCESS_STATE_TEXT];
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        struct rlimit none = {0, 0};
        omp_set_num_threads(1); // the threads of the parent are not here
        if (!getuid() && (setrlimit(RLIMIT_NICE, &none) || setuid(65534))) _exit(3);
        if (process_state_keep(&kept)) _exit(3);
        setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + 1);
        _exit(process_state_restore(&kept, what) == PROCESS_STUCK &&
                      !strncmp(what, "a nice value of ", 16)
                  ? 0
                  : 1);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || WEXITSTATUS(status) == 3)
        SKIP("a nice value that cannot be lowered");
    else
        CHECK(WIFEXITED(status) && !WEXITSTATUS(status), "status %x", (unsigned)status);
}

TESTS(test_changes, test_flushing, test_handlers, test_stuck)
