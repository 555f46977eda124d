#include "bench/isolation.h"

#include <stdio.h>
#include <unistd.h>

#include "base/other_threads.h"
#include "base/process_state.h"
#include "base/size.h"

#define REST_STEP_MS    1.0   // resting threads are watched for this time
#define REST_PROCESSORS 0.1   // processors that they may use meanwhile
#define REST_MOST_MS    500.0 // Intel's OpenMP threads spin for 200 ms
#define LEAVE_MOST_MS   200.0 // time for a joined thread to disappear from /proc
#define MORE_THREADS    1.1   // most processors that runs may use, per thread of the device
#define MORE_MS         10.0  // more processor time than that: resolution of the clocks

static struct {
    struct process_state kept;
    bool held;                    // kept by isolation_hold()
    const struct device_ops *ops; // of the device of the case
    struct other_threads before;  // threads beside the OpenMP team before the case
    double rest;                  // processors that other threads used at isolation_start()
    int running;                  // number of other threads that ran at isolation_start()
    char spoiler[64];             // algorithm of the case that spoiled the process; "": none
} state;

bool isolation_spoiled(void) { return state.spoiler[0]; }

static void spoil(const struct algo_entry *entry)
{
    snprintf(state.spoiler, sizeof state.spoiler, "%s", entry->name);
}

// Returns the processors that these threads use now.
static double processors_of(const struct other_threads *x)
{
    if (!x->count) return 0;
    double used = other_threads_used_ms(x), begin = clock_ms();
    usleep((useconds_t)(REST_STEP_MS * 1e3));
    return (other_threads_used_ms(x) - used) / (clock_ms() - begin);
}

static void find_others(struct other_threads *x)
{
    other_threads_find(x, state.kept.ids, state.kept.team);
}

// Waits until other threads use no processors and, with `leave`, none is new. Returns OK, or
// ERR_STATE with the reason.
static int wait_for_rest(bool leave)
{
    struct other_threads now;
    double waited, begin = clock_ms();
    bool runs;
    int left;
    do {
        find_others(&now);
        double processors = processors_of(&now);
        // A thread that waits for a processor uses none, and counts as running.
        runs = processors > state.rest + REST_PROCESSORS ||
               other_threads_running(&now) > state.running;
        left = leave ? other_threads_new(&now, &state.before) : 0;
        waited = clock_ms() - begin;
    } while ((runs || left) && waited < (runs ? REST_MOST_MS : LEAVE_MOST_MS));
    state.before = now;
    if (runs) return fail(ERR_STATE, "it left threads behind that still run");
    if (left) return fail(ERR_STATE, "it left %d thread%s behind", left, left == 1 ? "" : "s");
    return OK;
}

int isolation_hold(void)
{
    int err = process_state_keep(&state.kept);
    state.held = !err;
    return err;
}

int isolation_start(void)
{
    if (isolation_spoiled()) return OK; // the state of the start is kept
    if (!state.held) {
        process_state_free(&state.kept);
        int err = process_state_keep(&state.kept);
        if (err) return err;
    }
    find_others(&state.before);
    state.rest = processors_of(&state.before);
    state.running = other_threads_running(&state.before);
    return OK;
}

int isolation_begin(struct device *d)
{
    char what[PROCESS_STATE_TEXT];
    // isolation_end() of the previous case has restored OpenMP's threads.
    process_state_restore(&state.kept, false, what);
    if (isolation_spoiled() && wait_for_rest(false)) {
        fail_drop();
        return fail(ERR_STATE, "not measured: threads that '%s' left behind still run",
                    state.spoiler);
    }
    state.ops = d->ops;
    return OK;
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

static int look_at_functions(const struct device *d)
{
    return d->ops == state.ops ? OK : fail(ERR_STATE, "it replaced the functions of %s", d->id);
}

int isolation_look(struct task *t)
{
    char what[PROCESS_STATE_TEXT];
    if (process_state_handler_changed(&state.kept, what)) return fail(ERR_STATE, "it set %s", what);
    int err = look_at_functions(t->dev);
    return err ? err : look_behind_blocks(t->dev, t);
}

int isolation_processors(const struct device *d, const struct timing *t, int processors)
{
    if (!device_is_host(d) || processors <= d->units ||
        t->runs_cpu_ms <= MORE_THREADS * d->units * t->runs_ms + MORE_MS)
        return OK;
    return fail(ERR_STATE, "it used %.3g processors with %d thread%s", t->runs_cpu_ms / t->runs_ms,
                d->units, d->units == 1 ? "" : "s");
}

int isolation_end(struct device *d, const struct algo_entry *entry)
{
    char what[PROCESS_STATE_TEXT];
    struct process_state present;
    // Threads of a library may stay. A GPU's driver starts threads on demand.
    bool lives_on = entry->algo->library || !device_is_host(d);
    int err = look_at_functions(d);
    if (err) spoil(entry);
    d->ops = state.ops;
    int behind = look_behind_blocks(d, NULL);
    if (!err) err = behind;
    enum process_change change = process_state_restore(&state.kept, true, what);
    if (what[0]) {
        int stayed = fail(ERR_STATE, "it left %s behind", what);
        if (!err) err = stayed;
    }
    // A state that cannot be restored is no failure of the next case.
    if (change == PROCESS_STUCK && !process_state_keep(&present)) {
        process_state_free(&state.kept);
        state.kept = present;
    }
    int left = wait_for_rest(!lives_on);
    if (left || change == PROCESS_STUCK) spoil(entry);
    return err ? err : left;
}
