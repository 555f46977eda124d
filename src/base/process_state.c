#define _GNU_SOURCE // sched_getaffinity, fegetexcept
#include "base/process_state.h"

#include <errno.h>
#include <fenv.h>
#include <float.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

struct thread_state {
    fenv_t env;
    int rounding; // FE_TONEAREST, ...
    int traps;    // unmasked floating-point exceptions
    bool flushes; // denormal operands or results become 0
    cpu_set_t cpus;
    bool has_cpus; // false: the system has more processors than cpu_set_t
    sigset_t blocked;
    int nice;
    int policy; // SCHED_OTHER, ...
    struct sched_param priority;
};

// Sets rounding and flushing from results of arithmetic. fegetround() of x86 tells the mode of the
// x87 unit only. Exceptions are masked meanwhile.
static void probe_arithmetic(struct thread_state *s)
{
    volatile double one = 1, minus_one = -1, bit = 0x1p-60, half = 0.5;
    volatile double least = DBL_MIN, denormal = 0x1p-1074, large = 0x1p100;
    s->traps = fegetexcept();
    feholdexcept(&s->env);
    volatile double above = one + bit, below = one - bit, under = minus_one - bit;
    volatile double result = least * half, operand = denormal * large;
    s->rounding = above > 1    ? FE_UPWARD
                  : under < -1 ? FE_DOWNWARD
                  : below < 1  ? FE_TOWARDZERO
                               : fegetround();
    s->flushes = result == 0 || operand == 0;
    fesetenv(&s->env);
}

static struct thread_state read_thread(void)
{
    struct thread_state s;
    memset(&s, 0, sizeof s); // the system writes only parts of its sets
    probe_arithmetic(&s);
    s.has_cpus = !sched_getaffinity(0, sizeof s.cpus, &s.cpus);
    pthread_sigmask(SIG_SETMASK, NULL, &s.blocked);
    // Linux keeps these for each thread.
    s.nice = getpriority(PRIO_PROCESS, 0);
    s.policy = sched_getscheduler(0);
    sched_getparam(0, &s.priority);
    return s;
}

static const char *rounding_name(int rounding)
{
    switch (rounding) {
    case FE_UPWARD: return "rounding upward";
    case FE_DOWNWARD: return "rounding downward";
    case FE_TOWARDZERO: return "rounding toward zero";
    default: return "rounding to nearest";
    }
}

// Writes the first difference between two threads into `what`. Returns false if there is none.
static bool thread_differs(const struct thread_state *kept, const struct thread_state *now,
                           char what[PROCESS_STATE_TEXT])
{
    what[0] = 0;
    if (now->rounding != kept->rounding)
        snprintf(what, PROCESS_STATE_TEXT, "%s", rounding_name(now->rounding));
    else if (now->flushes != kept->flushes)
        snprintf(what, PROCESS_STATE_TEXT, "%s of denormal numbers",
                 now->flushes ? "flushing" : "no flushing");
    else if (now->traps != kept->traps)
        snprintf(what, PROCESS_STATE_TEXT, "traps of floating-point exceptions");
    else if (now->has_cpus && memcmp(&now->cpus, &kept->cpus, sizeof now->cpus))
        snprintf(what, PROCESS_STATE_TEXT, "an affinity to %d processor%s", CPU_COUNT(&now->cpus),
                 CPU_COUNT(&now->cpus) == 1 ? "" : "s");
    else if (memcmp(&now->blocked, &kept->blocked, sizeof now->blocked))
        snprintf(what, PROCESS_STATE_TEXT, "other blocked signals");
    else if (now->nice != kept->nice)
        snprintf(what, PROCESS_STATE_TEXT, "a nice value of %d", now->nice);
    else if (now->policy != kept->policy ||
             now->priority.sched_priority != kept->priority.sched_priority)
        snprintf(what, PROCESS_STATE_TEXT, "scheduling policy %d with priority %d", now->policy,
                 now->priority.sched_priority);
    return what[0];
}

// Returns false if the system refuses.
static bool set_thread(const struct thread_state *kept)
{
    fesetenv(&kept->env);
    pthread_sigmask(SIG_SETMASK, &kept->blocked, NULL);
    return (!kept->has_cpus || !sched_setaffinity(0, sizeof kept->cpus, &kept->cpus)) &&
           !sched_setscheduler(0, kept->policy, &kept->priority) &&
           !setpriority(PRIO_PROCESS, 0, kept->nice);
}

static void read_handlers(struct process_state *s)
{
    for (int i = 1; i <= PROCESS_SIGNALS; i++)
        s->has_handler[i] = !sigaction(i, NULL, &s->handlers[i]);
}

static const int timers[PROCESS_TIMERS] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};

static bool is_timer_running(int i)
{
    struct itimerval now;
    return !getitimer(timers[i], &now) && (now.it_value.tv_sec || now.it_value.tv_usec);
}

void process_state_free(struct process_state *kept)
{
    mem_free(kept->threads);
    *kept = (struct process_state){.team = 0};
}

int process_state_keep(struct process_state *kept)
{
    int team = omp_get_max_threads();
    *kept = (struct process_state){.team = team,
                                   .dynamic = omp_get_dynamic(),
                                   .levels = omp_get_max_active_levels(),
                                   .threads = mem_zero_alloc(team, sizeof *kept->threads)};
    if (!kept->threads) return process_state_free(kept), ERR_MEMORY;
    read_handlers(kept);
    for (int i = 0; i < PROCESS_TIMERS; i++) kept->has_timer[i] = is_timer_running(i);
    kept->threads[0] = read_thread(); // OpenMP may give fewer threads
    for (int i = 1; i < team; i++) kept->threads[i] = kept->threads[0];
#pragma omp parallel num_threads(team)
    kept->threads[omp_get_thread_num()] = read_thread();
    return OK;
}

static bool is_function(const struct sigaction *a)
{
    return a->sa_flags & SA_SIGINFO || (a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN);
}

// The system adds flags of its own.
#define HANDLER_FLAGS                                                                              \
    (SA_NOCLDSTOP | SA_NOCLDWAIT | SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER | SA_RESETHAND)

static bool same_handler(const struct sigaction *a, const struct sigaction *b)
{
    return a->sa_handler == b->sa_handler &&
           (a->sa_flags & HANDLER_FLAGS) == (b->sa_flags & HANDLER_FLAGS);
}

// Returns the first signal above `last` with another handler; 0: none.
static int next_changed(const struct process_state *kept, int last, struct sigaction *now)
{
    for (int i = last + 1; i <= PROCESS_SIGNALS; i++)
        if (kept->has_handler[i] && !sigaction(i, NULL, now) &&
            !same_handler(now, &kept->handlers[i]))
            return i;
    return 0;
}

static void name_handler(int i, const struct sigaction *now, char what[PROCESS_STATE_TEXT])
{
    snprintf(what, PROCESS_STATE_TEXT, "%s of signal %d (%s)",
             is_function(now) ? "a handler" : "other handling", i, strsignal(i));
}

bool process_state_handler_changed(const struct process_state *kept, char what[PROCESS_STATE_TEXT])
{
    struct sigaction now;
    int i = next_changed(kept, 0, &now);
    what[0] = 0;
    if (i) name_handler(i, &now, what);
    return i;
}

static void restore_handlers(const struct process_state *kept, char what[PROCESS_STATE_TEXT])
{
    struct sigaction now;
    for (int i = 0; (i = next_changed(kept, i, &now));) {
        if (!what[0]) name_handler(i, &now, what);
        sigaction(i, &kept->handlers[i], NULL);
    }
}

// Stops new interval timers: without a handler their signals end the process. After an interrupt
// the program has an alarm of its own.
static void stop_timers(const struct process_state *kept, char what[PROCESS_STATE_TEXT])
{
    static const struct itimerval none;
    for (int i = 0; i < PROCESS_TIMERS && !interrupted; i++) {
        if (kept->has_timer[i] || !is_timer_running(i)) continue;
        setitimer(timers[i], &none, NULL);
        if (!what[0]) snprintf(what, PROCESS_STATE_TEXT, "a running timer");
    }
}

static void restore_openmp(const struct process_state *kept, char what[PROCESS_STATE_TEXT])
{
    int team = omp_get_max_threads(), levels = omp_get_max_active_levels();
    if (team != kept->team)
        snprintf(what, PROCESS_STATE_TEXT, "an OpenMP team of %d thread%s", team,
                 team == 1 ? "" : "s");
    else if ((omp_get_dynamic() != 0) != kept->dynamic)
        snprintf(what, PROCESS_STATE_TEXT, "OpenMP teams of %s size",
                 kept->dynamic ? "fixed" : "dynamic");
    else if (levels != kept->levels)
        snprintf(what, PROCESS_STATE_TEXT, "a limit of %d nested OpenMP regions", levels);
    if (!what[0]) return;
    omp_set_num_threads(kept->team);
    omp_set_dynamic(kept->dynamic);
    omp_set_max_active_levels(kept->levels);
}

// Restores a thread. Returns false if the system refuses.
static bool restore_thread(const struct thread_state *kept, char what[PROCESS_STATE_TEXT])
{
    struct thread_state now = read_thread(), again;
    char text[PROCESS_STATE_TEXT];
    if (!thread_differs(kept, &now, text)) return true;
    bool done = set_thread(kept);
    again = read_thread();
    done = done && !thread_differs(kept, &again, text);
    thread_differs(kept, &now, text);
#pragma omp critical(process_state)
    if (!what[0]) snprintf(what, PROCESS_STATE_TEXT, "%s", text);
    return done;
}

enum process_change process_state_restore(const struct process_state *kept,
                                          char what[PROCESS_STATE_TEXT])
{
    what[0] = 0;
    restore_openmp(kept, what);
    stop_timers(kept, what); // their signals may find no handler afterwards
    restore_handlers(kept, what);
    // New threads of the team inherit the state of the calling thread.
    bool done = restore_thread(&kept->threads[0], what);
#pragma omp parallel num_threads(kept->team) reduction(&& : done)
    done = restore_thread(&kept->threads[omp_get_thread_num()], what) && done;
    return !done ? PROCESS_STUCK : what[0] ? PROCESS_RESTORED : PROCESS_SAME;
}
