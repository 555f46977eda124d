// SpMM whose B is what the SpMM before wrote, and whose C is what that one read, of every algorithm
// on a device of every kind: one after another in the stream, then as one graph. Some kernels begin
// before the one ahead has ended, and none of them may show it.
#include "cases.h"
#include "data/load.h"

#define PRODUCTS 4 // an even number: the last one writes B
#define COLUMNS  32

// Two tasks on the same two dense matrices: what one reads the other writes.
struct pair {
    struct task t[2];
    bool ready[2];
};

static int run_products(void *arg)
{
    struct pair *pair = arg;
    int err = OK;
    for (int r = 0; r < PRODUCTS && !err; r++) err = task_run(&pair->t[r % 2]);
    return err;
}

static int run_graph(struct device *dev, struct pair *pair)
{
    void *graph = NULL;
    int err = dev->ops->graph_make(dev, run_products, pair, &graph);
    if (err) return err;
    err = dev->ops->graph_launch(dev, graph);
    const int ended = device_sync(dev);
    dev->ops->graph_free(dev, graph);
    return err ? err : ended;
}

static int64_t place_of(const struct dense_dev *D, int64_t i, int64_t j)
{
    return D->layout == LAYOUT_ROW ? i * D->ld + j : j * D->ld + i;
}

// to = A * from, as arrays of A's rows times COLUMNS; row i is that of A's row order[i].
static void multiply(const struct csr *A, enum prec prec, const int32_t *order, const double *from,
                     double *to)
{
    memset(to, 0, (size_t)A->m * COLUMNS * sizeof *to);
    for (int32_t i = 0; i < A->m; i++) {
        const int32_t row = order ? order[i] : i;
        for (int64_t p = A->ptr[row]; p < A->ptr[row + 1]; p++) {
            const double a = prec == F32 ? (float)A->val[p] : A->val[p];
            for (int c = 0; c < COLUMNS; c++)
                to[(int64_t)i * COLUMNS + c] += a * from[(int64_t)A->idx[p] * COLUMNS + c];
        }
    }
}

// What B is in the end, row by row, and how large its largest element.
static double expect(const struct inputs *in, const int32_t *order, double *x, double *spare)
{
    const struct csr *A = in->p.A;
    const int64_t count = (int64_t)A->m * COLUMNS;
    double most = 0;
    for (int64_t i = 0; i < count; i++) x[i] = type_load(in->p.prec, in->p.in[0].val, i);
    for (int r = 0; r < PRODUCTS; r += 2) {
        multiply(A, in->p.prec, order, x, spare);
        multiply(A, in->p.prec, order, spare, x);
    }
    for (int64_t i = 0; i < count; i++) most = fmax(most, fabs(x[i]));
    return most;
}

// How far the elements of B, as the device has them, are from x, at most.
static double distance(const struct dense_dev *B, enum prec prec, const void *got, const double *x)
{
    double most = 0;
    for (int64_t i = 0; i < B->rows; i++)
        for (int64_t j = 0; j < COLUMNS; j++) {
            const double off = fabs(type_load(prec, got, place_of(B, i, j)) - x[i * COLUMNS + j]);
            if (isnan(off)) return INFINITY;
            most = fmax(most, off);
        }
    return most;
}

// The host's side of a pair.
struct memory {
    void *first, *last; // B on the device before the products, and after them
    double *want, *spare;
    int32_t *order;
};

static bool memory_make(struct memory *m, int64_t rows)
{
    const int64_t count = rows * COLUMNS;
    *m = (struct memory){mem_alloc(count, 8), mem_alloc(count, 8), mem_alloc(count, 8),
                         mem_alloc(count, 8), mem_alloc(rows, sizeof *m->order)};
    const bool all = m->first && m->last && m->want && m->spare && m->order;
    CHECK(all, "no memory");
    return all;
}

static void memory_free(struct memory *m)
{
    mem_free(m->first);
    mem_free(m->last);
    mem_free(m->want);
    mem_free(m->spare);
    mem_free(m->order);
}

// The operands change places between the two tasks, and are back in theirs at the end. `first` is
// there before the second task is prepared: preparing may run it, which writes B.
static int prepare(struct pair *pair, struct inputs *in, const struct algo_entry *e,
                   const struct memory *m, int64_t bytes)
{
    int err = OK;
    *pair = (struct pair){0};
    for (int i = 0; i < 2; i++) {
        struct setup setup;
        struct task *t = &pair->t[i];
        t->entry = e;
        t->algo = e->algo;
        algo_defaults(t->algo, t->opt);
        if (!err) err = task_prepare(t, &in->o, &setup);
        if (!err) pair->ready[i] = true;
        if (!err && i == 0) err = device_download(in->o.dev, m->first, t->in[0].val, bytes);
        const struct dense_dev B = in->o.in[0];
        in->o.in[0] = in->o.C;
        in->o.C = B;
    }
    return err;
}

// As a graph, or one by one.
static int run_pair(struct device *dev, struct pair *pair, const struct dense_dev *B, int64_t bytes,
                    struct memory *m, bool graph)
{
    int err = device_upload(dev, B->val, m->first, bytes);
    if (!err) err = graph ? run_graph(dev, pair) : run_products(pair);
    if (!err) err = device_download(dev, m->last, B->val, bytes);
    return err;
}

static void test_pair(struct device *dev, struct inputs *in, const struct algo_entry *e,
                      const char *matrix)
{
    const enum prec prec = in->p.prec;
    const struct dense_dev *B = &in->o.in[0];
    struct pair pair;
    struct memory m;
    if (!memory_make(&m, in->p.rows)) return;
    const int64_t bytes = in->p.rows * COLUMNS * (int64_t)type_bytes(prec);
    int err = prepare(&pair, in, e, &m, bytes);
    const int32_t *order = !err && pair.t[0].order ? m.order : NULL;
    if (order)
        err = device_download(dev, m.order, pair.t[0].order, in->p.rows * (int64_t)sizeof *order);
    CHECK(!err, "%s on %s: %s", e->name, dev->id, fail_text());
    const double largest = err ? 0 : expect(in, order, m.want, m.spare);
    for (int graph = 0; graph < (dev->ops->graph_make ? 2 : 1) && !err; graph++) {
        err = run_pair(dev, &pair, B, bytes, &m, graph);
        if (graph && err == ERR_UNSUPPORTED) {
            SKIP("%s on %s, %s: %s", e->name, dev->id, matrix, fail_text());
            err = OK;
            break;
        }
        const double off = err ? 0 : distance(B, prec, m.last, m.want) / largest;
        CHECK(!err && off <= (prec == F32 ? 1e-4 : 1e-12),
              "%s on %s, %s, %s, layout %d, %s: %s, %g off", e->name, dev->id, matrix,
              prec_name(prec), (int)B->layout, graph ? "a graph" : "one by one",
              err ? fail_text() : "wrong", off);
    }
    if (!err) err = device_upload(dev, B->val, m.first, bytes); // the next pair's
    CHECK(!err, "%s", fail_text());
    for (int i = 0; i < 2; i++)
        if (pair.ready[i]) task_teardown(&pair.t[i]);
    memory_free(&m);
}

// Divides A by the largest sum of absolute values of a row, so that no product of products is
// larger than what it is of.
static void scale(struct csr *A)
{
    double most = 0;
    for (int32_t i = 0; i < A->m; i++) {
        double sum = 0;
        for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++) sum += fabs(A->val[p]);
        most = fmax(most, sum);
    }
    for (int64_t p = 0; p < A->ptr[A->m] && most > 0; p++) A->val[p] /= most;
}

static void test_matrix(struct device *dev, const char *spec)
{
    const struct op *spmm = op_find("spmm");
    struct matrix M;
    int err = matrix_load(spec, 1, &M);
    CHECK(!err, "%s: %s", spec, fail_text());
    if (err) return;
    scale(&M.A);
    for (int place = 0; place < 4; place++) {
        const enum prec prec = place % 2 ? F64 : F32;
        const int64_t axis[AXES_MAX] = {COLUMNS, place / 2 ? LAYOUT_COL : LAYOUT_ROW};
        struct inputs in;
        err = inputs_make(&in, dev, spmm, &M.A, prec, axis, false, 0);
        CHECK(!err, "%s: %s", spec, fail_text());
        for (const struct algo_entry *e = algos; e < algos + algo_count && !err; e++)
            if (!algo_missing(e) && e->op == spmm && e->device == dev->kind &&
                (e->algo->precs & BIT(prec)) && !(spmm->refuse && spmm->refuse(&in.p, e->algo)))
                test_pair(dev, &in, e, spec);
        if (!err) inputs_free(&in);
    }
    matrix_free(&M);
}

static void test_device(enum device_kind kind, char **matrices)
{
    struct device dev;
    if (!open_kind(kind, &dev)) return;
    for (; *matrices; matrices++) test_matrix(&dev, *matrices);
    CHECK(dev.used_bytes == 0, "%lld bytes left on %s", (long long)dev.used_bytes, dev.id);
    device_close(&dev);
}

int main(int argc, char **argv)
{
    static char *usual[] = {"gen:fem:4", "gen:skew:1000:8:700", NULL}; // rows alike; one is cut
    char **matrices = argc > 1 ? argv + 1 : usual;
    for (int kind = 0; kind < DEVICE_KINDS; kind++) test_device((enum device_kind)kind, matrices);
    return TEST_END();
}
