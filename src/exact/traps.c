#include "exact/traps.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "exact/inputs.h"
#include "measure/change.h"
#include "measure/in_order.h"
#include "measure/verify.h"

// Inputs of a case and a task that is ready to run.
struct ready {
    struct inputs in;
    struct task t;
};

// Makes the inputs. `exact`: whole numbers.
static int ready_inputs(struct trap_case *c, struct ready *r, bool exact)
{
    r->t = (struct task){.entry = c->entry, .algo = c->entry->algo};
    return inputs_make(&r->in, c->dev, c->entry->op, c->A, c->prec, c->axis, exact, 0);
}

static int ready_task(struct ready *r)
{
    struct setup setup;
    algo_defaults(r->t.algo, r->t.opt);
    return task_prepare(&r->t, &r->in.o, &setup);
}

static void ready_free(struct ready *r)
{
    task_teardown(&r->t);
    inputs_free(&r->in);
}

// Starts a run with a poisoned result, and waits for it.
static int run_once(struct task *t)
{
    task_release_result(t);
    t->dev->poison = true;
    int err = output_poison(t);
    if (!err) err = task_run(t);
    t->dev->poison = false;
    if (!err && t->algo->finish) err = unchecked(t->algo->finish(t));
    return err ? err : device_sync(t->dev);
}

// Compares the present result with the reference of exact inputs.
static enum exact_result judge(struct trap_case *c, struct ready *r)
{
    struct case_outcome out = {0};
    out.err = check_result(&r->t, &r->in.ref, CHECK_FULL, &out.check);
    return outcome_judge(&out, c->entry, c->prec, c->why);
}

// Runs an exact case once, and compares.
static enum exact_result run_and_judge(struct trap_case *c, struct ready *r)
{
    int err = run_once(&r->t);
    enum exact_result result = err ? trap_failed(c, err) : judge(c, r);
    task_release_result(&r->t);
    return result;
}

static bool has_dense_result(const struct algo_entry *e) { return e->op->result != RESULT_SPARSE; }

// Operands at addresses that are multiples of the size of an element only.
static bool unaligned_fits(const struct device *dev, const struct algo_entry *e)
{
    (void)dev;
    return e->algo->vendor && has_dense_result(e);
}

static enum exact_result unaligned_run(struct trap_case *c)
{
    struct ready r;
    int err = ready_inputs(c, &r, true);
    if (err) return trap_failed(c, err);
    err = inputs_unalign(&r.in);
    if (!err) err = ready_task(&r);
    enum exact_result result = err ? trap_failed(c, err) : run_and_judge(c, &r);
    ready_free(&r);
    return result;
}

static bool dense_fits(const struct device *dev, const struct algo_entry *e)
{
    (void)dev;
    return has_dense_result(e);
}

// Operands of one column have no lines that are far apart.
static bool wide_fits(const struct device *dev, const struct algo_entry *e)
{
    return dense_fits(dev, e) && !e->algo->columns;
}

// Few lines of dense operands, so far apart that the last begins beyond c->offset.
#define LONG_LINES 17 // also k, so that both layouts have as many lines
static enum exact_result long_ld_run(struct trap_case *c)
{
    struct inputs in;
    double opt[ALGO_OPTIONS_MAX];
    const int64_t lines = c->A->m, pad = c->offset / (lines - 1) + 64 - lines;
    int err = inputs_make(&in, c->dev, c->entry->op, c->A, c->prec, c->axis, true, pad);
    if (err) return trap_failed(c, err);
    const int64_t elements = lines * (lines + pad);
    int64_t bytes = 0;
    for (int i = 0; i < DENSE_MAX && in.p.in[i].val; i++)
        bytes += elements * (int64_t)type_bytes(prec_in(c->prec));
    if (c->entry->op->result == RESULT_DENSE)
        bytes += elements * (int64_t)type_bytes(prec_out(c->prec));
    enum exact_result result = EXACT_SKIPPED;
    if (trap_has_room(c, bytes)) {
        algo_defaults(c->entry->algo, opt);
        struct case_outcome out = case_run(&in, c->entry, opt, CHECK_FULL);
        result = outcome_judge(&out, c->entry, c->prec, c->why);
    }
    inputs_free(&in);
    return result;
}

// Sums up row i of a sparse product, without compensation: that would make NaN of an infinity.
// `sum`: size cols.
static void plain_product_row(const struct problem *p, int32_t i, double *sum, struct row *row)
{
    const enum prec in = prec_in(p->prec);
    const struct csr *A = p->A, *S = p->S;
    memset(sum, 0, (size_t)p->cols * sizeof *sum);
    for (int64_t x = A->ptr[i]; x < A->ptr[i + 1]; x++)
        for (int64_t y = S->ptr[A->idx[x]]; y < S->ptr[A->idx[x] + 1]; y++)
            sum[S->idx[y]] += type_round(in, A->val[x]) * type_round(in, S->val[y]);
    for (int64_t e = 0; e < row->count; e++) row->ref[e] = sum[row->col[e]];
}

// Compares two elements of a result; returns EXACT_RIGHT, _LACKING or _WRONG.
typedef enum exact_result same_element(double got, double want);

// Compares row i. A result above *worst replaces *worst and the reason.
static void match_row(struct trap_case *c, const struct output_view *R, int64_t i,
                      const struct row *row, same_element *same, enum exact_result *worst)
{
    const bool sparse = R->p->op->result == RESULT_SPARSE;
    int64_t at = 0; // next entry of the result
    for (int64_t e = 0; e < row->count; e++) {
        const int64_t j = sparse ? row->col[e] : output_col(R, i, e);
        const bool there = at < output_count(R, i) && output_col(R, i, at) == j;
        const double got = there ? output_at(R, i, at++) : 0,
                     want = type_round(prec_out(c->prec), row->ref[e]);
        const enum exact_result found = same(got, want);
        if (found <= *worst) continue;
        trap_differs(c, i, j, got, want);
        *worst = found;
    }
    if (at == output_count(R, i) || *worst == EXACT_WRONG) return;
    snprintf(c->why, sizeof c->why, "row %lld of C has a column without a product", (long long)i);
    *worst = EXACT_WRONG;
}

// Computes the reference of each row with the inputs of `p`, and compares R element by element.
// Returns the worst result of an element.
static enum exact_result match_rows(struct trap_case *c, const struct problem *p,
                                    const struct output_view *R, same_element *same)
{
    struct row row;
    enum exact_result worst = EXACT_RIGHT;
    int64_t room = 0;
    for (int32_t i = 0; i < p->rows; i++) room = max64(room, p->op->row_room(p, i));
    double *sum = mem_alloc(p->cols, sizeof *sum);
    int err = sum ? row_alloc(&row, p, room) : ERR_MEMORY;
    for (int32_t i = 0; i < p->rows && !err; i++) {
        p->op->row(p, c->entry->algo->variant, i, &row);
        if (p->op->result == RESULT_SPARSE) plain_product_row(p, i, sum, &row);
        match_row(c, R, i, &row, same, &worst);
    }
    mem_free(sum);
    if (!err) row_free(&row);
    return err ? trap_failed(c, err) : worst;
}

// Runs the task once, and compares element by element with the reference of the inputs.
static enum exact_result run_and_compare(struct trap_case *c, struct ready *r, same_element *same)
{
    struct output_view R = {0};
    int err = ready_task(r);
    if (!err) err = run_once(&r->t);
    if (!err) err = output_download(&r->t, &r->in.p, &R);
    enum exact_result result = EXACT_WRONG;
    if (err)
        result = trap_failed(c, err);
    else if (R.broken[0])
        snprintf(c->why, sizeof c->why, "%s", R.broken);
    else
        result = match_rows(c, &r->in.p, &R, same);
    output_free(&R);
    task_release_result(&r->t);
    return result;
}

// An algorithm that multiplies the zeros that A does not store cannot keep infinities apart.
static bool nonfinite_fits(const struct device *dev, const struct algo_entry *e)
{
    (void)dev;
    return !e->algo->dense;
}

static enum exact_result same_kind(double got, double want)
{
    return (isnan(want) ? isnan(got) : got == want) ? EXACT_RIGHT : EXACT_WRONG;
}

static const double specials[] = {INFINITY, NAN, -INFINITY};

// Writes infinities and NaN into a dense matrix: elements 0 to 2 of row 0, element 0 of row 3, the
// last element, and all of row 7. No nonzero of A is in column 7.
static void put_specials(const struct dense *D, enum prec type)
{
    for (int x = 0; x < COUNT(specials); x++) type_store(type, D->val, x, specials[x]);
    type_store(type, D->val, 3 * D->cols, -INFINITY);
    type_store(type, D->val, D->rows * D->cols - 1, NAN);
    for (int64_t j = 0; j < D->cols; j++) type_store(type, D->val, 7 * D->cols + j, NAN);
}

static enum exact_result nonfinite_run(struct trap_case *c)
{
    struct ready r;
    int err = ready_inputs(c, &r, true);
    if (err) return trap_failed(c, err);
    for (int i = 0; i < DENSE_MAX && r.in.p.in[i].val; i++)
        put_specials(&r.in.p.in[i], prec_in(c->prec));
    for (int x = 0; x < COUNT(specials) && !has_dense_result(c->entry); x++) {
        c->A->val[5 * x] = specials[x];
        if (r.in.source.transposed.ptr) r.in.source.transposed.val[7 * x] = specials[x];
    }
    enum exact_result result = run_and_compare(c, &r, same_kind);
    ready_free(&r);
    return result;
}

static enum exact_result same_or_flushed(double got, double want)
{
    return got == want ? EXACT_RIGHT : got == 0 ? EXACT_LACKING : EXACT_WRONG;
}

static void scale(double *val, int64_t count, int exponent)
{
    for (int64_t p = 0; p < count; p++) val[p] = ldexp(val[p], exponent);
}

// Whole numbers times the smallest number of the type: in the first dense input, or as products of
// two elements of A. The sums are multiples of that number, and exact.
static enum exact_result denormal_run(struct trap_case *c)
{
    struct ready r;
    int exponent;
    const enum prec in = prec_in(c->prec);
    int err = ready_inputs(c, &r, true);
    if (err) return trap_failed(c, err);
    frexp(type_list[in].smallest, &exponent);
    exponent--; // smallest is 2^exponent
    const struct dense *D = &r.in.p.in[0];
    for (int64_t x = 0; D->val && x < D->rows * D->cols; x++)
        type_store(in, D->val, x, ldexp(type_load(in, D->val, x), exponent));
    struct csr *T = &r.in.source.transposed;
    if (!D->val) scale(c->A->val, c->A->nnz, exponent / 2);
    if (!D->val && T->ptr) scale(T->val, T->nnz, exponent / 2);
    enum exact_result result = run_and_compare(c, &r, same_or_flushed);
    ready_free(&r);
    return result;
}

#define REPEATS 20
static enum exact_result repeat_run(struct trap_case *c)
{
    struct ready r;
    struct output_bits first, now;
    enum exact_result result = EXACT_RIGHT;
    int err = ready_inputs(c, &r, false);
    if (err) return trap_failed(c, err);
    err = ready_task(&r);
    for (int run = 0; run < REPEATS && !err && result == EXACT_RIGHT; run++) {
        err = run_once(&r.t);
        if (!err) err = output_digest(&r.t, run ? &now : &first);
        if (err || !run || output_same(&first, &now)) continue;
        snprintf(c->why, sizeof c->why, "run %d differs in a bit from run 1", run + 1);
        result = EXACT_LACKING;
    }
    if (err) result = trap_failed(c, err);
    task_release_result(&r.t);
    ready_free(&r);
    return result;
}

// Returns true if the result of the case can be the dense input of another product.
static bool can_chain(const struct trap_case *c)
{
    return c->entry->op->result == RESULT_DENSE && prec_in(c->prec) == prec_out(c->prec);
}

// Makes a dense input of the result of a task.
static int input_of_result(const struct task *t, const struct problem *p, struct dense *D)
{
    struct output_view R;
    const enum prec type = prec_in(p->prec);
    *D = (struct dense){p->rows, p->cols, mem_alloc(p->rows * p->cols, type_bytes(type))};
    int err = D->val ? output_download(t, p, &R) : ERR_MEMORY;
    if (err) return err;
    for (int64_t i = 0; i < p->rows; i++)
        for (int64_t j = 0; j < p->cols; j++)
            type_store(type, D->val, i * p->cols + j, output_at(&R, i, j));
    output_free(&R);
    return OK;
}

// Starts both products without a wait, and compares the second with its reference.
static int chain_once(struct trap_case *c, struct task *one, struct task *two,
                      const struct problem *p, enum exact_result *result)
{
    struct output_view R;
    char why[FAIL_TEXT_MAX];
    int err = output_poison(one);
    if (!err) err = output_poison(two);
    if (!err) err = task_run(one);
    if (!err) err = task_run(two);
    if (!err) err = output_download(two, p, &R);
    if (err) return err;
    *result = match_rows(c, p, &R, same_kind);
    output_free(&R);
    if (*result != EXACT_WRONG) return OK;
    memcpy(why, c->why, sizeof why);
    snprintf(c->why, sizeof c->why, "not in order: the product of a product: %.200s", why);
    *result = EXACT_LACKING;
    return OK;
}

#define CHAINS 3
static int chain_products(struct trap_case *c, struct task *one, struct task *two,
                          const struct problem *p, enum exact_result *result)
{
    struct problem next = *p;
    int err = run_once(one);
    if (!err) err = input_of_result(one, p, &next.in[0]);
    for (int x = 0; x < CHAINS && !err && *result == EXACT_RIGHT; x++)
        err = chain_once(c, one, two, &next, result);
    if (next.in[0].val != p->in[0].val) mem_free(next.in[0].val);
    return err;
}

// Prepares the second product, which shares the result of the first one, and runs both.
static int chain_two(struct trap_case *c, struct ready *r, enum exact_result *result)
{
    struct operands o;
    struct setup setup;
    struct task two = {.entry = c->entry, .algo = c->entry->algo};
    if (!can_chain(c)) return OK;
    operands_init(&o, c->dev);
    operands_use(&o, &r->in.p);
    o.in[0] = r->t.C;
    algo_defaults(two.algo, two.opt);
    int err = task_prepare(&two, &o, &setup);
    if (!o.in[0].val) r->in.o.C.val = r->t.C.val = NULL; // freed after an error
    if (!err) {
        if (!two.order) err = chain_products(c, &r->t, &two, &r->in.p, result);
        task_teardown(&two);
    }
    o.in[0].val = NULL; // the first product owns it
    operands_free(&o);
    return err;
}

// Starts the run behind a kernel that makes its inputs late, see in_order.h.
static int chain_late(struct trap_case *c, struct ready *r, enum exact_result *result)
{
    struct check first;
    enum in_order order;
    int err = check_task(&r->t, &r->in.ref, CHECK_FULL, NULL, &first);
    // Digests of whole numbers are compared, so the tolerance does not matter.
    const bool right = first.ok || (first.blind && !check_overflows(&first));
    if (!err && !right) {
        snprintf(c->why, sizeof c->why, "%s", first.reason);
        *result = EXACT_WRONG;
    }
    if (err || *result != EXACT_RIGHT) return err;
    const struct verify verify = verify_start(&r->t, &r->in.ref, CHECK_FULL, &first, NULL);
    err = in_order_look(&verify, true, &order);
    if (err || order != ORDER_BROKEN) return err;
    snprintf(c->why, sizeof c->why,
             "not in order: the result differs if the kernel ahead in the stream ends late");
    *result = EXACT_LACKING;
    return OK;
}

static enum exact_result chain_run(struct trap_case *c)
{
    struct ready r;
    enum exact_result result = EXACT_RIGHT;
    int err = ready_inputs(c, &r, true);
    if (err) return trap_failed(c, err);
    err = ready_task(&r);
    if (!err) err = chain_late(c, &r, &result);
    if (!err && result == EXACT_RIGHT) err = chain_two(c, &r, &result);
    if (err) result = trap_failed(c, err);
    ready_free(&r);
    return result;
}

static bool graph_fits(const struct device *dev, const struct algo_entry *e)
{
    return dev->ops->graph_make && has_dense_result(e);
}

static int start_task(void *task) { return task_run(task); }

#define REPLAYS 3
// Replays the graph with other operands each time. The result is that of a run.
static int replay(struct trap_case *c, struct ready *r, void *graph, enum exact_result *result)
{
    struct output_bits want, now;
    struct change change = change_start(&r->t, &r->in.o);
    int err = OK;
    for (int x = 0; x < REPLAYS && !err && *result == EXACT_RIGHT; x++) {
        err = change_operands(&change, true);
        if (!err) err = run_once(&r->t);
        if (!err) err = output_digest(&r->t, &want);
        if (!err) err = output_poison(&r->t);
        if (!err) err = c->dev->ops->graph_launch(c->dev, graph);
        if (!err) err = output_digest(&r->t, &now);
        if (err || output_same(&want, &now)) continue;
        snprintf(c->why, sizeof c->why, "replay %d of the graph differs from a run", x + 1);
        *result = EXACT_WRONG;
    }
    int own = change_end(&change);
    return err ? err : own;
}

static enum exact_result graph_run(struct trap_case *c)
{
    struct ready r;
    void *graph = NULL;
    enum exact_result result = EXACT_RIGHT;
    int err = ready_inputs(c, &r, true);
    if (err) return trap_failed(c, err);
    err = ready_task(&r);
    if (!err) result = run_and_judge(c, &r);
    if (!err && result == EXACT_RIGHT) {
        err = c->dev->ops->graph_make(c->dev, start_task, &r.t, &graph);
        if (!err) err = replay(c, &r, graph, &result);
        c->dev->ops->graph_free(c->dev, graph);
        if (err == ERR_UNSUPPORTED) {
            snprintf(c->why, sizeof c->why, "%s", fail_text());
            result = EXACT_LACKING;
            err = OK;
        }
    }
    if (err) result = trap_failed(c, err);
    ready_free(&r);
    return result;
}

static bool few_without_7(int32_t i, int32_t j) { return j != 7 && scattered(i, j); }

#define TWO_SIZE 2048
// Two nonzeros in a row, so that the product of a product is exact in all types.
static int build_two(const struct trap *trap, int64_t offset, struct csr *A)
{
    struct coo T;
    (void)offset;
    int err = entries_alloc(&T, TWO_SIZE, TWO_SIZE, 2 * TWO_SIZE);
    if (err) return err;
    for (int32_t i = 0; i < TWO_SIZE; i++) {
        const int32_t j = (i + 1 + 7 * i % (TWO_SIZE - 1)) % TWO_SIZE; // another column than i
        add_entry(&T, i, i, value_at(i, i));
        add_entry(&T, i, j, value_at(i, j));
    }
    return entries_to_csr(&T, trap->matrix, A);
}

#define SKEW_SIZE 2000
#define SKEW_ROW  8
// Rows of 8 nonzeros, and two full rows: many threads add to one element.
static int build_skew(const struct trap *trap, int64_t offset, struct csr *A)
{
    struct coo T;
    (void)offset;
    int err = entries_alloc(&T, SKEW_SIZE, SKEW_SIZE, SKEW_SIZE * (SKEW_ROW + 2));
    if (err) return err;
    for (int32_t i = 0; i < SKEW_SIZE; i++) {
        const bool long_row = i == 3 || i == SKEW_SIZE - 2;
        for (int32_t e = 0; e < (long_row ? SKEW_SIZE : SKEW_ROW); e++) {
            const uint64_t place = (uint64_t)i * SKEW_ROW + (uint64_t)e;
            const int32_t step = SKEW_SIZE / SKEW_ROW;
            const int32_t j = long_row ? e : e * step + (int32_t)(random_at(1, place) % step);
            add_entry(&T, i, j, random_value(2, (uint64_t)i * SKEW_SIZE + (uint64_t)j));
        }
    }
    return entries_to_csr(&T, trap->matrix, A);
}

#define VECTOR_K 8 // kernels load vectors at this k
const struct trap traps[] = {
    {.name = "unaligned",
     .about = "dense operands at addresses that are multiples of an element only",
     .matrix = "few",
     .m = 40,
     .k = VECTOR_K,
     .rule = few_without_7,
     .fits = unaligned_fits,
     .run = unaligned_run},
    {.name = "long-ld",
     .about = "few lines, the last more than 2^31 elements behind the first",
     .matrix = "full",
     .m = LONG_LINES,
     .k = LONG_LINES,
     .widths = true, // offsets depend on the bytes of an element only
     .rule = full,
     .fits = wide_fits,
     .run = long_ld_run},
    {.name = "far",
     .about = "dense operands of more than 2^31 elements, few nonzeros",
     .matrix = "far",
     .k = 512,
     .widths = true, // offsets depend on the bytes of an element only
     .build = far_build,
     .fits = wide_fits,
     .run = far_run},
    {.name = "nonfinite",
     .about = "infinities and NaN reach the elements that depend on them, and no others",
     .matrix = "few",
     .m = 40,
     .k = VECTOR_K,
     .rule = few_without_7,
     .fits = nonfinite_fits,
     .run = nonfinite_run},
    {.name = "denormal",
     .about = "inputs or products of denormal size are exact",
     .lacking = "flushed",
     .matrix = "few",
     .m = 40,
     .k = VECTOR_K,
     .rule = few_without_7,
     .run = denormal_run},
    {.name = "repeat",
     .about = "20 runs with the same inputs have the same bits",
     .lacking = "varies",
     .matrix = "skew",
     .k = 16,
     .build = build_skew,
     .run = repeat_run},
    {.name = "chain",
     .about = "a run waits for the work ahead of it in the stream",
     .lacking = "no order",
     .promised = true,
     .matrix = "two",
     .k = 64,
     .build = build_two,
     .fits = dense_fits,
     .run = chain_run},
    {.name = "graph",
     .about = "a run is captured as a CUDA graph, and replayed with other inputs",
     .lacking = "no graph",
     .matrix = "two",
     .k = 32,
     .build = build_two,
     .fits = graph_fits,
     .run = graph_run},
};
const int trap_count = COUNT(traps);
_Static_assert(COUNT(traps) <= TRAPS_MAX, "users have room for TRAPS_MAX results");

// Goes on to the next combination of words of the axes, without optional axes. Returns false after
// the last.
static bool next_words(const struct op *op, int64_t *axis)
{
    for (int a = op_axis_count(op) - 1; a >= 0; a--) {
        if (!op->axes[a]->words || op->axes[a]->optional) continue;
        if (op->axes[a]->words[++axis[a]]) return true;
        axis[a] = 0;
    }
    return false;
}

static int run_case(struct device *dev, const struct trap *trap, const struct exact_rule *rule,
                    const struct exact_case *ec, struct csr *A)
{
    struct trap_case c = {.dev = dev,
                          .entry = ec->entry,
                          .A = A,
                          .prec = ec->prec,
                          .axis = ec->axis,
                          .offset = rule->offset};
    int err = rule->begin ? rule->begin(rule->arg, ec) : OK;
    if (err) return err;
    enum exact_result result = trap->run(&c);
    if (interrupted) return fail(ERR_INTERRUPTED, "interrupted");
    return rule->take(rule->arg, ec, result, c.why);
}

// Returns true if the type of the inputs is the first in the list with its number of bytes.
static bool is_first_of_width(enum prec prec)
{
    int type = 0;
    while (type_bytes((enum prec)type) != type_bytes(prec_in(prec))) type++;
    return type == (int)prec;
}

int trap_run(struct device *dev, const struct trap *trap, const struct algo_entry *entry,
             const struct exact_rule *rule)
{
    const struct op *op = entry->op;
    int err = OK;
    const struct shape shape = {
        .name = trap->matrix, .m = trap->m, .n = trap->m, .rule = trap->rule};
    if (trap->fits && !trap->fits(dev, entry)) return OK;
    for (int prec = 0; prec < PRECS && !err; prec++) {
        int64_t axis[AXES_MAX] = {0};
        if (!(entry->algo->precs & BIT(prec))) continue;
        if (rule->precs && !(rule->precs & BIT(prec))) continue;
        if (trap->widths && !is_first_of_width((enum prec)prec)) continue;
        for (int a = 0; op->axes[a]; a++)
            if (!op->axes[a]->words || op->axes[a]->optional)
                axis[a] = op->axes[a] != &axis_k ? op->axes[a]->standard
                          : entry->algo->columns ? 1
                                                 : trap->k;
        do {
            struct csr A; // of each case anew: a trap may change its values
            err = trap->rule ? shape_build(&shape, &A) : trap->build(trap, rule->offset, &A);
            if (err) break;
            const struct exact_case c = {entry, dev, trap->matrix, &A, (enum prec)prec, axis, ""};
            err = run_case(dev, trap, rule, &c, &A);
            csr_free(&A);
        } while (!err && next_words(op, axis));
    }
    return err;
}
