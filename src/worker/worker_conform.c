#include "worker/worker_conform.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "bench/case.h"
#include "bench/isolation.h"
#include "exact/traps.h"
#include "sweep/protocol.h"

#define ENTRIES_SHOWN 12 // of the matrix of a case
#define SHORT_STEP    3  // without -full: each third matrix, and each third k

struct conform {
    const struct worker_request *request;
    const struct options *o;
    const struct algo_entry *entry;
    struct device dev;
    const char *trap; // name of the trap that runs, or CONFORM_EXACT
};

const char *worker_conform_name(const struct algo_entry *e, char text[CONFORM_NAME_MAX])
{
    snprintf(text, CONFORM_NAME_MAX, "%s %s %s", e->op->name, e->name, device_list[e->device].name);
    return text;
}

// Writes the matrix of a case: its size, and its entries if they are few.
static void matrix_text(const struct exact_case *c, char *text, size_t size)
{
    const struct csr *A = c->A;
    int used = snprintf(text, size, "\"%s\": m %d, n %d, %lld nonzeros", c->name, A->m, A->n,
                        (long long)A->nnz);
    if (A->nnz > ENTRIES_SHOWN || !A->nnz) return;
    for (int32_t i = 0; i < A->m; i++)
        for (int64_t p = A->ptr[i]; p < A->ptr[i + 1] && used < (int)size; p++)
            used += snprintf(text + used, size - (size_t)used, "%sA(%d, %d) = %g", p ? ", " : ": ",
                             i, A->idx[p], A->val[p]);
}

// Returns the size of an input. The parent shows the wrong case of the smallest size.
static long long input_size(const struct exact_case *c)
{
    int64_t k = c->entry->op->axes[0] == &axis_k ? c->axis[0] : 1;
    return (c->A->nnz + c->A->m + c->A->n) * k;
}

static int begin(void *arg, const struct exact_case *c)
{
    char axes[OP_AXES_TEXT], matrix[512];
    struct conform *x = arg;
    isolation_begin();
    matrix_text(c, matrix, sizeof matrix);
    return protocol_say_text(LINE_TESTING, "%s %lld %s, %s%s, %s", x->trap, input_size(c),
                             prec_name(c->prec), op_axes_text(c->entry->op, c->axis, axes), c->note,
                             matrix);
}

// Reports a case. A changed state of the process makes the case wrong. If no other case can run in
// this process, another worker runs the other cases. After an illegal access nothing runs on a
// device.
static int take(void *arg, const struct exact_case *c, enum exact_result result, const char *why)
{
    struct conform *x = arg;
    (void)c;
    const bool dead = result != EXACT_RIGHT && device_sync(&x->dev);
    if (dead) fail_drop();
    if (isolation_end(&x->dev, x->entry)) {
        const char *left = fail_text();
        if (result < EXACT_FAILED) result = EXACT_WRONG, why = left;
    }
    if (dead) result = EXACT_CRASHED;
    int err = protocol_say_text(LINE_TESTED, "%d %s", (int)result, why);
    fail_check_ended();
    if (err || (!dead && !isolation_spoiled())) return err;
    err = protocol_say(LINE_AGAIN);
    return err ? err : ERR_STATE;
}

static bool is_this(void *arg, const struct algo_entry *e)
{
    return e == ((struct conform *)arg)->entry;
}

// Reports memory that is left after all cases as a case of its own.
static int report_left(int64_t bytes)
{
    int err = protocol_say_text(LINE_TESTING, CONFORM_EXACT " %lld all cases", LLONG_MAX);
    return err ? err
               : protocol_say_text(LINE_TESTED,
                                   "%d %lld bytes of alloc() are left after teardown()",
                                   (int)EXACT_WRONG, (long long)bytes);
}

static bool is_left_out(const struct conform *x, const char *trap)
{
    const struct texts *without = &x->request->without;
    for (int64_t i = 0; i < without->count; i++)
        if (!strcmp(without->list[i], trap)) return true;
    return x->o->conform.traps && !summary_fits(x->o->conform.traps, trap);
}

static int run_cases(struct conform *x)
{
    const bool whole = x->o->conform.full || x->entry->algo->plugin;
    struct exact_rule rule = {.step = whole ? 1 : SHORT_STEP,
                              .axis_step = whole ? 1 : SHORT_STEP,
                              .skip = x->request->skip,
                              .offset = TRAP_OFFSET,
                              .wants = is_this,
                              .begin = begin,
                              .take = take,
                              .arg = x};
    int err = OK;
    for (int i = 0; x->o->prec_values.text && i < x->o->prec_count; i++)
        rule.precs |= BIT(x->o->precs[i]);
    x->trap = CONFORM_EXACT;
    if (!is_left_out(x, x->trap)) err = exact_run(&x->dev, x->entry->op, &rule);
    for (int i = 0; i < trap_count && !err; i++) {
        x->trap = traps[i].name;
        if (!is_left_out(x, x->trap)) err = trap_run(&x->dev, &traps[i], x->entry, &rule);
    }
    if (!err && x->dev.used_bytes) err = report_left(x->dev.used_bytes);
    return err;
}

static int run_algorithm(struct conform *x)
{
    const char *missing = device_missing(x->entry->device);
    if (!missing) missing = algo_missing(x->entry);
    if (missing) return protocol_say_text(LINE_SKIPPED, "%s", missing);
    int err = device_open(x->request->device, &x->dev);
    if (err) return err;
    const struct bench_case c = {.entry = x->entry};
    if (case_library(&c)) err = protocol_say_text(LINE_LIBRARY, "%s", case_library(&c));
    if (!err) err = isolation_start();
    if (!err && x->entry->algo->plugin) err = plugin_load(x->entry->algo->plugin);
    if (!err) err = run_cases(x);
    device_close(&x->dev);
    return err;
}

int worker_conform(const struct worker_request *request, const struct options *o)
{
    char name[CONFORM_NAME_MAX];
    struct conform x = {.request = request, .o = o};
    for (int i = 0; i < algo_count; i++)
        if (!strcmp(worker_conform_name(&algos[i], name), request->conform)) x.entry = &algos[i];
    return x.entry ? run_algorithm(&x) : fail(ERR_INPUT, "%s: no such algorithm", request->conform);
}
