#include "cli/worker_test.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "bench/isolation.h"
#include "exact/exact.h"
#include "sweep/protocol.h"

#define ENTRIES_SHOWN 12 // of the matrix of a wrong case

struct test {
    const struct algo_entry *entry;
    struct device dev;
};

const char *worker_test_name(const struct algo_entry *e, char text[TEST_NAME_MAX])
{
    snprintf(text, TEST_NAME_MAX, "%s %s %s", e->op->name, e->name, device_list[e->device].name);
    return text;
}

// Writes the matrix of a case: its size, and its entries if they are few.
static void matrix_text(const struct exact_case *c, char *text, size_t size)
{
    const struct csr *A = c->A;
    int used = snprintf(text, size, "\"%s\": m %d, n %d, %lld nonzeros", c->shape->name, A->m, A->n,
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
    struct test *t = arg;
    int err = isolation_begin(&t->dev);
    if (err) return err;
    matrix_text(c, matrix, sizeof matrix);
    return protocol_say_text(LINE_TESTING, "%lld %s, %s%s, %s", input_size(c), prec_name(c->prec),
                             op_axes_text(c->entry->op, c->axis, axes), c->note, matrix);
}

// Reports a case. A state that the case has left behind is wrong. If no other case can run in this
// process, another worker tests the other algorithms.
static int take(void *arg, const struct exact_case *c, bool refused, const char *wrong)
{
    struct test *t = arg;
    int left = isolation_end(&t->dev, c->entry);
    if (left && !wrong) wrong = fail_text();
    int err = protocol_say_text(LINE_TESTED, "%s",
                                wrong     ? wrong
                                : refused ? "unsupported"
                                          : "right");
    if (err || !isolation_spoiled()) return err;
    err = protocol_say(LINE_AGAIN);
    return err ? err : ERR_STATE;
}

static bool is_this(void *arg, const struct algo_entry *e)
{
    return e == ((struct test *)arg)->entry;
}

// Reports memory that is left after all cases as a case of its own.
static int report_left(int64_t bytes)
{
    int err = protocol_say_text(LINE_TESTING, "%lld all cases", LLONG_MAX);
    return err ? err
               : protocol_say_text(LINE_TESTED, "%lld bytes of alloc() are left after teardown()",
                                   (long long)bytes);
}

static int test_algorithm(const struct algo_entry *e)
{
    char name[TEST_NAME_MAX];
    struct test t = {.entry = e};
    int err = protocol_say_text(LINE_ALGORITHM, "%s", worker_test_name(e, name));
    if (err) return err;
    if (device_missing(e->device))
        return protocol_say_text(LINE_SKIPPED, "%s", device_missing(e->device));
    err = device_open(device_list[e->device].name, &t.dev);
    if (err) return err;
    const struct exact_rule rule = {
        .step = 1, .axis_step = 1, .wants = is_this, .begin = begin, .take = take, .arg = &t};
    err = isolation_start();
    if (!err) err = exact_run(&t.dev, e->op, &rule);
    if (!err && t.dev.used_bytes) err = report_left(t.dev.used_bytes);
    device_close(&t.dev);
    return err;
}

int worker_test(const struct worker_request *request, const struct options *o)
{
    char name[TEST_NAME_MAX];
    int err = OK;
    for (int i = 0; i < algo_count && !err; i++) {
        const struct algo_entry *e = &algos[i];
        bool wanted = e->algo && e->algo->plugin && summary_fits(o->alg, e->name);
        worker_test_name(e, name);
        for (int64_t w = 0; w < request->without.count; w++)
            wanted &= strcmp(request->without.list[w], name) != 0;
        if (wanted) err = test_algorithm(e);
    }
    return err;
}
