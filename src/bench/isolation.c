#include "bench/isolation.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/process_state.h"
#include "base/size.h"
#include "base/sysfs.h"

#define REST_STEP_MS    1.0   // threads of a library are watched for this time
#define REST_PROCESSORS 0.1   // processors that the process may use meanwhile
#define REST_MOST_MS    300.0 // Intel's OpenMP threads spin for 200 ms
#define LEAVE_MOST_MS   200.0 // time for a joined thread to disappear from /proc
#define MORE_THREADS    1.1   // most processors that runs may use, per thread of the device
#define CHILD_SHARE     0.1   // most processor time of child processes, of that of the runs
#define MORE_MS         10.0  // more processor time than that: resolution of the clocks

static struct {
    struct process_state kept; // team 0: nothing is kept
    int threads;               // of the process before the case
    bool spoiled;
} state;

bool isolation_spoiled(void) { return state.spoiled; }

// Returns the number of threads of this process; 0: unknown.
static int thread_count(void)
{
    char value[16];
    return sysfs_value("/proc/self/status", "Threads", value, sizeof value) ? atoi(value) : 0;
}

// Waits until the threads of a library use no processors.
static void wait_for_rest(void)
{
    const double begin = clock_ms();
    for (double used = 1, from = begin; used > REST_PROCESSORS && from - begin < REST_MOST_MS;
         from = clock_ms()) {
        used = clock_process_ms();
        usleep((useconds_t)(REST_STEP_MS * 1e3));
        used = (clock_process_ms() - used) / (clock_ms() - from);
    }
}

// Waits until no thread is new. Returns ERR_STATE if threads are left.
static int wait_for_threads(void)
{
    const double begin = clock_ms();
    int left;
    while ((left = thread_count() - state.threads) > 0 && clock_ms() - begin < LEAVE_MOST_MS)
        usleep(1000);
    if (left <= 0) return OK;
    return fail(ERR_STATE, "it left %d thread%s behind", left, left == 1 ? "" : "s");
}

int isolation_start(void) { return state.kept.team ? OK : process_state_keep(&state.kept); }

void isolation_begin(void)
{
    char what[PROCESS_STATE_TEXT];
    process_state_restore(&state.kept, what); // all threads of OpenMP's team exist then
    state.threads = thread_count();
}

// Returns ERR_WRONG if a block was written behind its end. `t`: NULL after the teardown.
static int look_behind_blocks(struct device *d, const struct task *t)
{
    struct device_block b = device_overrun(d);
    char bytes[32];
    if (!b.p) return OK;
    if (t && (b.p == t->C.val || b.p == t->val || b.p == t->R.val))
        return fail(ERR_WRONG, "it wrote behind the end of C");
    return fail(ERR_WRONG, "it wrote behind the end of a block of %s", size_text(b.bytes, bytes));
}

int isolation_look(struct task *t)
{
    char what[PROCESS_STATE_TEXT];
    if (process_state_handler_changed(&state.kept, what)) return fail(ERR_STATE, "it set %s", what);
    return look_behind_blocks(t->dev, t);
}

int isolation_processors(const struct device *d, const struct timing *t, int processors)
{
    if (!device_is_host(d) || processors <= d->units) return OK;
    if (t->children_cpu_ms > CHILD_SHARE * t->runs_cpu_ms + MORE_MS)
        return fail(ERR_STATE, "child processes used %.3g s of processor time",
                    t->children_cpu_ms * 1e-3);
    if (t->runs_cpu_ms <= MORE_THREADS * d->units * t->runs_ms + MORE_MS) return OK;
    return fail(ERR_STATE, "it used %.3g processors with %d thread%s", t->runs_cpu_ms / t->runs_ms,
                d->units, d->units == 1 ? "" : "s");
}

int isolation_end(struct device *d, const struct algo_entry *entry)
{
    char what[PROCESS_STATE_TEXT];
    struct process_state present;
    int err = look_behind_blocks(d, NULL), left = OK;
    enum process_change change = process_state_restore(&state.kept, what);
    if (what[0]) {
        int stayed = fail(ERR_STATE, "it left %s behind", what);
        if (!err) err = stayed;
    }
    // A state that cannot be restored is no failure of the next case.
    if (change == PROCESS_STUCK && !process_state_keep(&present)) {
        process_state_free(&state.kept);
        state.kept = present;
    }
    // Threads of a library may stay. A GPU's driver starts threads on demand.
    if (device_is_host(d) && !entry->algo->library)
        left = wait_for_threads();
    else if (device_is_host(d))
        wait_for_rest();
    state.spoiled |= left || change == PROCESS_STUCK;
    return err ? err : left;
}
