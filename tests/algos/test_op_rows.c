// The reference of every operation and variant, row by row, against the plainest way to compute the
// same: dense loops in long double. And its short cut of all rows against these rows.
#include "own.h"
#include "exact/shapes.h"
#include "test.h"

#include <float.h>

// Element (i, j) of the result as dense loops find it.
struct element {
    long double sum, size, squares; // of the products, of their absolute values, of their squares
    int64_t terms;                  // how many there are
};

// A as a dense matrix: values as the precision holds them, and where there is one.
static struct dense_A {
    int64_t m, n;
    double *val;
    bool *there;
} A_of;

static int dense_A_make(const struct csr *A, enum prec prec)
{
    A_of = (struct dense_A){.m = A->m, .n = A->n};
    A_of.val = mem_zero_alloc(A_of.m * A_of.n, sizeof *A_of.val);
    A_of.there = mem_zero_alloc(A_of.m * A_of.n, sizeof *A_of.there);
    if (!A_of.val || !A_of.there) return ERR_MEMORY;
    for (int64_t i = 0; i < A->m; i++)
        for (int64_t q = A->ptr[i]; q < A->ptr[i + 1]; q++) {
            A_of.val[i * A_of.n + A->idx[q]] = type_round(prec, A->val[q]);
            A_of.there[i * A_of.n + A->idx[q]] = true;
        }
    return OK;
}

static void dense_A_free(void)
{
    mem_free(A_of.val);
    mem_free(A_of.there);
}

static void add(struct element *c, double x, double y)
{
    c->sum += (long double)x * y;
    c->size += fabsl((long double)x * y);
    c->squares += (long double)x * y * x * y;
    c->terms++;
}

static double input_at(const struct problem *p, int which, int64_t i, int64_t j)
{
    return type_load(p->prec, p->in[which].val, i * p->in[which].cols + j);
}

static const char *word_of(const struct problem *p, int a)
{
    return p->op->axes[a]->words[p->axis[a]];
}

// C_ij = sum over l of A_il * B_lj
static void spmm_at(const struct problem *p, int variant, int64_t i, int64_t j, struct element *c)
{
    (void)variant;
    for (int64_t l = 0; l < A_of.n; l++)
        if (A_of.there[i * A_of.n + l]) add(c, A_of.val[i * A_of.n + l], input_at(p, 0, l, j));
}

// C_ij = A_ij * sum over l of X_il * Y_jl; the second variant is not scaled.
static void sddmm_at(const struct problem *p, int variant, int64_t i, int64_t j, struct element *c)
{
    double a = variant ? 1 : A_of.val[i * A_of.n + j];
    for (int64_t l = 0; l < p->axis[0]; l++) add(c, input_at(p, 0, i, l), input_at(p, 1, j, l));
    c->sum *= a;
    c->size *= fabs(a);
    c->squares *= (long double)a * a;
}

// C_ij = sum over l of A_il * A_lj, or of A_il * A_jl
static void spgemm_at(const struct problem *p, int variant, int64_t i, int64_t j, struct element *c)
{
    (void)variant;
    bool turned = !strcmp(word_of(p, 0), "aat");
    for (int64_t l = 0; l < A_of.n; l++) {
        int64_t left = i * A_of.n + l, right = turned ? j * A_of.n + l : l * A_of.n + j;
        if (A_of.there[left] && A_of.there[right]) add(c, A_of.val[left], A_of.val[right]);
    }
}

// C_ij = A_ij * sum over l of X_jl; the second variant is twice that.
static void own_at(const struct problem *p, int variant, int64_t i, int64_t j, struct element *c)
{
    double a = (variant ? 2 : 1) * A_of.val[i * A_of.n + j];
    for (int64_t l = 0; l < p->axis[OWN_WIDTH]; l++) add(c, a, input_at(p, 0, j, l));
}

static const struct plain {
    const char *op;
    int variants; // that it knows
    void (*at)(const struct problem *p, int variant, int64_t i, int64_t j, struct element *c);
} plain[] = {
    {"spmm", 1, spmm_at}, {"sddmm", 2, sddmm_at}, {"spgemm", 1, spgemm_at}, {"own", 2, own_at}};

static const struct plain *plain_of(const struct op *op)
{
    for (int i = 0; i < COUNT(plain); i++)
        if (!strcmp(plain[i].op, op->name)) return &plain[i];
    return NULL;
}

// Whether the result has an element (i, j).
static bool is_there(const struct problem *p, int64_t i, int64_t j, const struct element *c)
{
    switch (p->op->result) {
    case RESULT_DENSE: return true;
    case RESULT_PATTERN: return A_of.there[i * A_of.n + j];
    default: return c->terms > 0;
    }
}

// What a row's weighted elements sum up to.
struct of_row {
    double want, mag;      // themselves, the absolute values of their products
    double root, ref;      // roots of sums of squares: of these products, of the elements and
    double error;          // of the sizes of their rounding errors
    int64_t terms, length; // the most products of an element; nonzeros of this row of A
    int64_t count;
    uint64_t hash; // of the columns
};

// What the rows of one problem sum up to, for what is told of all of them.
struct totals {
    int64_t work, wrong;
    struct of_row *rows;
};

// What a sum of these products may be rounded to: where an input is drawn by the root of their
// squares, else by the largest sum of those of one sign.
static double error_size(const struct problem *p, const struct element *c)
{
    double sum = (double)fabsl(c->sum), signs = (double)(c->size + fabsl(c->sum)) / 2;
    double partial = p->in[0].val ? sqrt((double)c->squares) : signs;
    return sqrt((double)c->terms + 1) * sqrt(partial * partial + sum * sum);
}

// Element e of the row, which is (i, j), with `c` as it should be. Of a matrix' own values
// roundings may have one direction, and then the error is larger.
static bool element_right(const struct problem *p, const struct row *row, int64_t e, int64_t j,
                          const struct element *c)
{
    double u = type_list[F64].unit, size = (double)c->size;
    double least = error_size(p, c), most = least;
    if (!p->integers && !p->in[0].val) most = fmax(most, 4 * (double)(c->terms + 1) * size);
    bool column = p->op->result != RESULT_SPARSE || row->col[e] == j;
    bool close = fabsl(row->ref[e] - c->sum) <= (p->integers ? 0 : u * (c->terms + 2) * size);
    return column && close && row->error[e] >= least * (1 - 1e-12) &&
           row->error[e] <= most * (1 + 1e-12);
}

static void check_row(const struct problem *p, int variant, int32_t i, struct row *row,
                      struct totals *t)
{
    const struct plain *by = plain_of(p->op);
    int64_t count = 0, terms = 0, work = 0;
    struct of_row sums = {0};
    p->op->row(p, variant, i, row);
    for (int64_t j = 0; j < p->cols; j++) {
        struct element c = {0};
        by->at(p, variant, i, j, &c);
        if (!is_there(p, i, j, &c)) continue;
        terms = max64(terms, c.terms);
        work += c.terms;
        if (count >= row->count || !element_right(p, row, count, j, &c)) {
            t->wrong++;
            break;
        }
        double weight = op_weight(p, j), own = fabs(weight);
        t->wrong += !(own >= 0.5 && own < 1);
        double error = row->error[count] * own;
        sums.want += row->ref[count] * weight;
        sums.mag += (double)c.size * own;
        sums.root += (double)c.squares * own * own;
        sums.ref += row->ref[count] * row->ref[count] * own * own;
        sums.error += error * error;
        sums.hash += op_column_hash(j);
        count++;
    }
    int64_t room = p->op->row_room(p, i);
    t->wrong += count != row->count || terms != row->terms || work != p->op->row_work(p, i) ||
                room < count || (p->op->result != RESULT_SPARSE && room != count);
    t->work += work;
    sums.root = sqrt(sums.root);
    sums.ref = sqrt(sums.ref);
    sums.error = sqrt(sums.error);
    sums.count = count;
    sums.terms = terms;
    sums.length = p->A->ptr[i + 1] - p->A->ptr[i];
    t->rows[i] = sums;
}

static bool is_between(double x, double least, double most)
{
    return x >= least * (1 - 1e-12) && x <= most * (1 + 1e-12);
}

// Of drawn inputs the sizes are those of a row's products on average, else those of its elements.
static bool sizes_right(const struct problem *p, const struct projection *x, int32_t i,
                        const struct of_row *row)
{
    double terms = (double)row->terms, own_terms = terms + (double)(row->length + 2 * p->cols);
    bool own = is_between(x->own[i], x->size[i], sqrt(2 * (own_terms + 1)) * row->mag);
    double size = p->in[0].val ? hypot(row->root, row->want) : row->ref;
    double error = p->in[0].val ? sqrt(terms + 1) * size : row->error;
    return own && is_between(x->size[i], size, size) && is_between(x->error[i], error, error);
}

// The projection says what the rows say, within its own bound; it may be as far off as they, and
// not much farther.
static int64_t wrong_projections(const struct problem *p, int variant, const struct totals *t)
{
    int64_t wrong = 0;
    struct row_pattern *pattern = mem_alloc(p->rows, sizeof *pattern);
    struct projection x = {pattern, mem_alloc(p->rows, 8), mem_alloc(p->rows, 8),
                           mem_alloc(p->rows, 8), mem_alloc(p->rows, 8)};
    int err = p->op->project ? p->op->project(p, variant, &x) : OK;
    CHECK(!err, "%s", fail_text());
    for (int32_t i = 0; i < p->rows && p->op->project && !err; i++)
        wrong += !(fabs(x.want[i] - t->rows[i].want) <= 4 * type_list[F64].unit * x.own[i]) ||
                 !sizes_right(p, &x, i, &t->rows[i]) ||
                 (p->op->result == RESULT_SPARSE &&
                  (pattern[i].count != t->rows[i].count || pattern[i].hash != t->rows[i].hash));
    mem_free(pattern);
    mem_free(x.want);
    mem_free(x.size);
    mem_free(x.error);
    mem_free(x.own);
    return wrong;
}

static void check_variant(const struct problem *p, int variant, const char *shape)
{
    struct row row;
    struct totals t = {0};
    const char *name = p->op->variants[variant], *prec = prec_name(p->prec);
    int64_t room = 0;
    for (int32_t i = 0; i < p->rows; i++) room = max64(room, p->op->row_room(p, i));
    int err = row_alloc(&row, p, room);
    if (!err && !(t.rows = mem_alloc(p->rows, sizeof *t.rows))) err = ERR_MEMORY;
    CHECK(!err, "%s", fail_text());
    if (err) return;
    for (int32_t i = 0; i < p->rows; i++) check_row(p, variant, i, &row, &t);
    CHECK(!t.wrong, "%s, %s, \"%s\": %lld wrong rows", name, prec, shape, (long long)t.wrong);
    CHECK(t.work == p->work && problem_flops(p) == 2 * t.work, "%s, \"%s\": work %lld, not %lld",
          name, shape, (long long)p->work, (long long)t.work);
    int64_t wrong = wrong_projections(p, variant, &t);
    CHECK(!wrong, "%s, %s, \"%s\": %lld wrong projections", name, prec, shape, (long long)wrong);
    row_free(&row);
    mem_free(t.rows);
}

static void check_problem(const struct problem *p, const char *shape)
{
    int err = dense_A_make(p->A, p->prec);
    CHECK(!err, "%s", fail_text());
    for (int v = 0; p->op->variants[v] && !err; v++) check_variant(p, v, shape);
    dense_A_free();
}

// Every combination of words, and two values of each axis of numbers.
static int check_axes(const struct op *op, const struct csr *A, bool integers, const char *shape)
{
    int made = 0;
    int64_t axis[AXES_MAX];
    for (int which = 0; which < 4; which += 3) {
        axes_start(op, which, axis);
        do
            for (int prec = F32; prec <= F64; prec++) {
                struct source source;
                source_init(&source, A);
                struct problem p = {.op = op,
                                    .source = &source,
                                    .prec = (enum prec)prec,
                                    .seed = 11,
                                    .integers = integers};
                memcpy(p.axis, axis, sizeof axis);
                int err = problem_make(&p);
                CHECK(!err || err == ERR_UNSUPPORTED, "%s", fail_text());
                if (!err) check_problem(&p, shape);
                made += !err;
                problem_free(&p);
                source_free(&source);
            }
        while (axes_next_words(op, axis));
    }
    return made;
}

// Rows of the same columns, and of others, are told apart.
static void test_hash(void)
{
    uint64_t seen[1000];
    int same = 0;
    for (int64_t j = 0; j < COUNT(seen); j++) {
        seen[j] = op_column_hash(j);
        for (int64_t i = 0; i < j; i++) same += seen[i] == seen[j];
    }
    CHECK(!same, "%d pairs of columns have one hash", same);
    CHECK(seen[1] + seen[2] != seen[0] + seen[3], "pairs of one sum are taken for each other");
}

// Weights of one sign would let two faults of a row make up for each other.
static void test_weights(void)
{
    const struct problem p = {.seed = 11};
    int negative = 0;
    for (int64_t j = 0; j < 1000; j++) negative += op_weight(&p, j) < 0;
    CHECK(negative > 400 && negative < 600, "%d of 1000 weights are negative", negative);
}

#define CELLS_MAX 12000 // of A, which takes cubes of loops

static void test_shapes(const struct op *op, const struct shape *list, int count)
{
    int made = 0;
    for (int s = 0; s < count; s++) {
        struct csr A;
        if ((int64_t)list[s].m * list[s].n > CELLS_MAX || shape_build(&list[s], &A)) continue;
        made += check_axes(op, &A, true, list[s].name);
        // Values that no precision holds exactly.
        for (int64_t q = 0; q < A.nnz; q++) A.val[q] = (A.val[q] + 0.25) / 3;
        made += check_axes(op, &A, false, list[s].name);
        csr_free(&A);
    }
    CHECK(made > count, "%s: only %d problems", op->name, made);
}

int main(void)
{
    const struct op *op;
    RUN_ALL(test_weights, test_hash);
    for (int x = 0; (op = op_or_own(x)); x++) {
        int variants = 0;
        while (op->variants[variants]) variants++;
        bool known = plain_of(op) && plain_of(op)->variants == variants;
        CHECK(known, "%s: there is no plain way to compute all its variants here", op->name);
        if (!known) continue;
        if (op->result == RESULT_SPARSE)
            test_shapes(op, product_shapes, product_shape_count);
        else
            test_shapes(op, shapes, shape_count);
    }
    return TEST_END();
}
