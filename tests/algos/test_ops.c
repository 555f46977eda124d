// What every operation has to say of itself: its names, its axes, its sizes and bytes, what it
// refuses; and the facts of a matrix that operations share.
#include "names.h"
#include "own.h"
#include "test.h"

#include <float.h>
#include <stdlib.h>

// A matrix from rows of text, "." for no entry.
static struct csr matrix_of(int32_t m, int32_t n, const char *const *cells)
{
    struct csr A;
    int64_t nnz = 0;
    for (int32_t c = 0; c < m * n; c++) nnz += strcmp(cells[c], ".") != 0;
    if (csr_alloc(&A, m, n, nnz)) exit(1);
    nnz = A.ptr[0] = 0;
    for (int32_t i = 0; i < m; i++) {
        for (int32_t j = 0; j < n; j++) {
            const char *cell = cells[i * n + j];
            if (!strcmp(cell, ".")) continue;
            A.idx[nnz] = j;
            A.val[nnz++] = atof(cell);
        }
        A.ptr[i + 1] = nnz;
    }
    CHECK(!csr_check(&A), "%s", csr_check(&A));
    return A;
}

// Fields of every record. No axis and no stat may have such a name.
static bool is_taken(const char *name)
{
    static const char taken[] =
        " schema kind status reason case op alg device prec cache "
        "options library matrix check time_ms setup_ms formats phases_ms flops gflops "
        "bytes bound_ms cache_resident efficiency memory stats launch gather_ms gather_efficiency "
        "counters ";
    char word[64];
    snprintf(word, sizeof word, " %s ", name);
    return strstr(taken, word) != NULL;
}

static void test_axis(const struct op *op, const struct axis *axis)
{
    const char *name = axis->name;
    int64_t value, words = 0;
    CHECK(is_name(name) && !is_taken(name), "%s: axis %s", op->name, name);
    CHECK(axis->values && is_line(axis->about), "%s: axis %s: %s", op->name, name, axis->about);
    CHECK(axis_try(axis, 0, &value), "%s: nothing of %s is tried", op->name, name);
    while (axis->words && axis->words[words]) {
        CHECK(is_name(axis->words[words]), "%s: %s %s", op->name, name, axis->words[words]);
        CHECK(axis_word(axis, axis->words[words]) == words, "%s: %s is there twice", name,
              axis->words[words]);
        words++;
    }
    int64_t min = axis->words ? 0 : axis->min, max = axis->words ? words - 1 : axis->max;
    CHECK(min >= 0 && min < max, "%s: from %lld to %lld", name, (long long)min, (long long)max);
    CHECK(axis->standard >= min && axis->standard <= max, "%s: %lld is standard", name,
          (long long)axis->standard);
    for (int i = 0; axis_try(axis, i, &value); i++)
        CHECK(value >= min && value <= max, "%s: %lld is tried", name, (long long)value);
    // An option of the command line is of all operations that have it.
    for (int x = 0; x < op_count; x++)
        for (int a = 0; ops[x]->axes[a]; a++)
            CHECK(ops[x]->axes[a] == axis || strcmp(ops[x]->axes[a]->name, name),
                  "%s and %s have two axes of the name %s", op->name, ops[x]->name, name);
}

static void test_op(const struct op *op)
{
    int axes = 0, stats = 0, variants = 0;
    CHECK(is_name(op->name) && is_line(op->formula), "%s: %s", op->name, op->formula);
    CHECK(op_find(op->name) == op || op == &own_op, "%s cannot be found", op->name);
    while (op->axes[axes]) {
        test_axis(op, op->axes[axes]);
        for (int a = 0; a < axes; a++)
            CHECK(op->axes[a] != op->axes[axes], "%s: an axis twice", op->name);
        axes++;
    }
    CHECK(axes == op_axis_count(op) && axes <= AXES_MAX, "%s: %d axes", op->name, axes);
    while (op->numbers && op->numbers[stats].name) {
        const struct op_number *f = &op->numbers[stats++];
        CHECK(is_name(f->name) && !is_taken(f->name) && is_line(f->about), "%s: stat %s", op->name,
              f->name);
        for (int a = 0; a < axes; a++)
            CHECK(strcmp(op->axes[a]->name, f->name), "%s: %s is an axis", op->name, f->name);
        for (int g = 0; g < stats - 1; g++)
            CHECK(strcmp(op->numbers[g].name, f->name), "%s: %s twice", op->name, f->name);
    }
    CHECK(stats == op_number_count(op) && stats <= OP_NUMBERS_MAX, "%s: %d stats", op->name, stats);
    CHECK(!stats || op->tell, "%s sets no stats", op->name);
    while (op->variants[variants]) CHECK(is_line(op->variants[variants++]), "%s", op->name);
    CHECK(variants > 0 && variants <= VARIANTS_MAX, "%s: what does it compute?", op->name);
    CHECK(op->make && op->compulsory_bytes && op->row_work && op->row_room && op->row,
          "%s lacks a function", op->name);
}

static void test_list(void)
{
    for (int x = 0; x < op_count; x++)
        for (int y = 0; y < x; y++)
            CHECK(strcmp(ops[x]->name, ops[y]->name), "%s twice", ops[x]->name);
    CHECK(!op_find("") && !op_find("own") && !op_find("SPMM"), "an operation that is none");
    CHECK_TEXT(result_name(RESULT_DENSE), "dense");
    CHECK_TEXT(result_name(RESULT_PATTERN), "pattern");
    CHECK_TEXT(result_name(RESULT_SPARSE), "sparse");
}

static int make(struct problem *p, const struct op *op, struct source *source, enum prec prec,
                const int64_t *axis)
{
    *p = (struct problem){.op = op, .source = source, .prec = prec, .seed = 3};
    memcpy(p->axis, axis, sizeof p->axis);
    return problem_make(p);
}

// A row for each nonzero, where there are such. `want`: bytes of a row and of the block by
// precision.
static void check_gather(const struct problem *p, const int64_t (*want)[2])
{
    struct op_gather g = {0};
    bool gathers = p->op->gather && p->op->gather(p, &g);
    const int64_t *bytes = want[p->prec == F64];
    CHECK(gathers == (bytes[0] > 0), "%s: a gather, or none", p->op->name);
    CHECK(!gathers || (g.rows == p->A->nnz && g.row_bytes == bytes[0] && g.block_bytes == bytes[1]),
          "%s: %lld rows of %lld bytes out of %lld", p->op->name, (long long)g.rows,
          (long long)g.row_bytes, (long long)g.block_bytes);
}

// By hand, of [1 . 2; . . 3] and of [1 2; . 3].
static void test_sizes(void)
{
    static const char *const wide[] = {"1", ".", "2", ".", ".", "3"};
    static const char *const square[] = {"1", "2", ".", "3"};
    static const struct {
        const char *op;
        int variant;
        int64_t axis[AXES_MAX];
        bool square;
        int64_t result_nnz, flops, bytes[2];
        double numbers[OP_NUMBERS_MAX];
        int64_t gather[2][2]; // bytes of a row and of the block, f32, f64; 0: nothing is gathered
    } table[] = {
        // CSR of 36 or 48 bytes, 2 rows of B that are used and 2 of C.
        {"spmm", 0, {4, LAYOUT_ROW}, false, 0, 24, {36 + 64, 48 + 128}, {0}, {{16, 32}, {32, 64}}},
        {"spmm", 0, {1, LAYOUT_COL}, false, 0, 6, {36 + 16, 48 + 32}, {0}, {{0}}},
        // A^T: CSR of 40 or 52 bytes, 2 rows of B that are used and 3 of C.
        {"spmm",
         0,
         {4, LAYOUT_ROW, 1},
         false,
         0,
         24,
         {40 + 80, 52 + 160},
         {0},
         {{16, 32}, {32, 64}}},
        {"spmm",
         0,
         {4, LAYOUT_ROW, 2},
         false,
         0,
         24,
         {40 + 80, 52 + 160},
         {0},
         {{16, 32}, {32, 64}}},
        // 2 rows of X and 2 of Y that are used, and 3 values of C.
        {"sddmm", 0, {4}, false, 0, 24, {36 + 64 + 12, 48 + 128 + 24}, {0}, {{16, 32}, {32, 64}}},
        {"sddmm", 0, {1}, false, 0, 6, {36 + 16 + 12, 48 + 32 + 24}, {0}, {{4, 8}, {8, 16}}},
        // Not scaled: without the values of A.
        {"sddmm", 1, {4}, false, 0, 24, {36 + 64, 48 + 128}, {0}, {{16, 32}, {32, 64}}},
        // 4 products; A is read once: 36 and 36, or 48 and 48. 3 rows of S: 32 or 48 bytes in all.
        {"spgemm", 0, {0}, true, 3, 8, {72, 96}, {4, 3, 4.0 / 3}, {{10, 24}, {16, 36}}},
        // 5 products; A, its transposed one and C: 36 + 40 + 44, or 48 + 52 + 60.
        {"spgemm", 0, {1}, false, 4, 10, {120, 160}, {5, 4, 1.25}, {{13, 24}, {20, 36}}},
        // 3 x 2 elements of X and 3 of C.
        {"own", 0, {2, 0}, false, 0, 12, {36 + 36, 48 + 72}, {3, 0.5}, {{8, 24}, {16, 48}}},
        {"own", 0, {2, 1}, false, 0, 12, {36 + 36, 48 + 72}, {3, 0.5}, {{0}}},
    };
    struct csr W = matrix_of(2, 3, wide), S = matrix_of(2, 2, square);
    const struct op *op;
    for (int i = 0; (op = op_or_own(i)); i++) {
        int rows = 0;
        for (int x = 0; x < COUNT(table); x++) {
            if (strcmp(table[x].op, op->name)) continue;
            for (int prec = F32; prec <= F64; prec++) {
                struct source source;
                struct problem p;
                double told[OP_NUMBERS_MAX] = {0};
                source_init(&source, table[x].square ? &S : &W);
                int err = make(&p, op, &source, (enum prec)prec, table[x].axis);
                CHECK(!err, "%s", fail_text());
                int64_t bytes =
                    err ? -1 : op->compulsory_bytes(&p, table[x].variant, table[x].result_nnz);
                CHECK(bytes == table[x].bytes[prec], "%s, row %d: %lld bytes", op->name, x,
                      (long long)bytes);
                if (!err) check_gather(&p, table[x].gather);
                CHECK(err || problem_flops(&p) == table[x].flops, "%s, row %d: %lld flops",
                      op->name, x, (long long)problem_flops(&p));
                if (op->tell && !err) op->tell(&p, table[x].result_nnz, told);
                for (int f = 0; f < op_number_count(op); f++)
                    CHECK(told[f] == table[x].numbers[f], "%s: %s is %g", op->name,
                          op->numbers[f].name, told[f]);
                problem_free(&p);
                source_free(&source);
                rows++;
            }
        }
        CHECK(rows, "%s is not in the table of sizes", op->name);
    }
    csr_free(&W);
    csr_free(&S);
}

// All dense inputs as large as they can be.
static void fill_inputs(struct problem *p)
{
    for (int d = 0; d < DENSE_MAX && p->in[d].val; d++)
        for (int64_t x = 0; x < p->in[d].rows * p->in[d].cols; x++)
            type_store(p->prec, p->in[d].val, x, 1);
}

// No element of any variant is larger than `most`.
static void check_finite(const struct problem *p, double most, int exponent)
{
    struct row row;
    for (int v = 0; p->op->variants[v]; v++)
        for (int32_t i = 0; i < p->rows && !row_alloc(&row, p, p->op->row_room(p, i)); i++) {
            p->op->row(p, v, i, &row);
            for (int64_t x = 0; x < row.count; x++)
                CHECK(fabs(row.ref[x]) <= most, "%s, %s, 2^%d: %g", p->op->variants[v],
                      prec_name(p->prec), exponent, row.ref[x]);
            row_free(&row);
        }
}

// Powers of two up to the largest that a precision holds: what is not refused has finite rows,
// whatever the dense inputs are.
static void test_overflow(const struct op *op, enum prec prec, int which)
{
    static const char *const cells[] = {"1", "-1", "1", "1"};
    int last = prec == F32 ? FLT_MAX_EXP - 1 : DBL_MAX_EXP - 1, made = 0, refused = 0;
    double most = prec == F32 ? FLT_MAX : DBL_MAX;
    struct csr A = matrix_of(2, 2, cells);
    int64_t axis[AXES_MAX];
    axes_start(op, which, axis);
    for (int e = 0; e <= last; e++) {
        struct source source;
        struct problem p;
        for (int q = 0; q < 4; q++) A.val[q] = ldexp(A.val[q] < 0 ? -1 : 1, e);
        source_init(&source, &A);
        int err = make(&p, op, &source, prec, axis);
        CHECK(!err || err == ERR_UNSUPPORTED, "%s", fail_text());
        CHECK(!err || strstr(fail_text(), "overflow"), "%s, 2^%d: %s", op->name, e, fail_text());
        CHECK(!refused || err, "%s, %s: 2^%d is not refused, and less was", op->name,
              prec_name(prec), e);
        refused += err != OK;
        made += err == OK;
        if (!err) fill_inputs(&p);
        if (!err) check_finite(&p, most, e);
        problem_free(&p);
        source_free(&source);
    }
    CHECK(made > last / 3 && refused, "%s, %s: %d made, %d refused", op->name, prec_name(prec),
          made, refused);
    csr_free(&A);
}

static void test_overflow_text(const struct op *op)
{
    static const struct {
        const char *value;
        bool f64; // has room for it
    } table[] = {{"2e38", true}, {"1e60", true}, {"1.5e308", false}, {"inf", false}};
    int64_t axis[AXES_MAX];
    axes_start(op, 0, axis);
    for (int x = 0; x < COUNT(table); x++) {
        struct source source;
        struct problem p;
        const char *const cells[] = {table[x].value, table[x].value, ".", "."};
        struct csr A = matrix_of(2, 2, cells);
        source_init(&source, &A);
        for (int prec = F32; prec <= F64; prec++) {
            int err = make(&p, op, &source, (enum prec)prec, axis);
            bool room = prec == F64 && table[x].f64;
            CHECK(room ? !err : err == ERR_UNSUPPORTED, "%s, %s, %s: error %d", op->name,
                  table[x].value, prec_name((enum prec)prec), err);
            CHECK(room || (strstr(fail_text(), "-prec f64") != NULL) == table[x].f64, "%s",
                  fail_text());
            CHECK(room || !strstr(fail_text(), "inf"), "%s", fail_text());
            problem_free(&p);
        }
        source_free(&source);
        csr_free(&A);
    }
}

// So many elements of D, at most, are what `of` has `ahead` places further on.
static int64_t count_same(const struct problem *p, const struct dense *D, const struct dense *of,
                          int64_t ahead)
{
    int64_t same = 0, count = min64(D->rows * D->cols, of->rows * of->cols - ahead);
    for (int64_t x = 0; x < count; x++)
        same += type_load(p->prec, D->val, x) == type_load(p->prec, of->val, x + ahead);
    return same;
}

// Random everywhere: in each stretch of a thousand elements their mean is near `mean`, and they go
// from near `least` to near `most`.
static void check_spread(const struct problem *p, const struct dense *D, double least, double most,
                         double mean)
{
    enum { STRETCH = 1000 };
    for (int64_t first = 0; first + STRETCH <= D->rows * D->cols; first += STRETCH) {
        double min = INFINITY, max = -INFINITY, sum = 0;
        for (int64_t x = first; x < first + STRETCH; x++) {
            double value = type_load(p->prec, D->val, x);
            min = fmin(min, value), max = fmax(max, value);
            sum += value;
        }
        CHECK(min >= least && min <= least * 0.95 && max <= most && max >= most * 0.95,
              "%s: elements from %lld on are in %g .. %g", p->op->name, (long long)first, min, max);
        CHECK(fabs(sum / STRETCH - mean) < (most - least) / 10, "%s: their mean is %g", p->op->name,
              sum / STRETCH);
    }
}

// No two dense inputs are alike, nor with another seed, and none repeats itself.
static void check_drawn(const struct problem *p, const struct problem *other)
{
    for (int d = 0; d < DENSE_MAX && p->in[d].val; d++) {
        const struct dense *D = &p->in[d];
        check_spread(p, D, -1, 1, 0);
        CHECK(D->rows * D->cols > 4000, "%s: few elements", p->op->name);
        for (int64_t ahead = 1; ahead <= 4 * D->cols; ahead++)
            CHECK(count_same(p, D, D, ahead) < 4, "%s: it repeats itself", p->op->name);
        for (int of = 0; of < DENSE_MAX && other->in[of].val; of++) {
            CHECK(count_same(p, D, &other->in[of], 0) < 4, "%s: the seed is ignored", p->op->name);
            CHECK(of == d || count_same(p, D, &p->in[of], 0) < 4, "%s: two inputs are alike",
                  p->op->name);
        }
    }
}

static void test_inputs(const struct op *op)
{
    const int32_t m = 1500;
    struct csr A;
    struct source source;
    int64_t axis[AXES_MAX];
    int err = csr_alloc(&A, m, m, m);
    for (int32_t i = 0; i <= m && !err; i++) A.ptr[i] = i;
    for (int32_t i = 0; i < m && !err; i++) A.idx[i] = i, A.val[i] = 1;
    CHECK(!err, "%s", fail_text());
    if (err) return;
    source_init(&source, &A);
    axes_start(op, 3, axis);
    for (int prec = F32; prec <= F64; prec++) {
        struct problem p, other, whole;
        other = whole = (struct problem){
            .op = op, .source = &source, .prec = (enum prec)prec, .seed = 4, .integers = false};
        memcpy(other.axis, axis, sizeof axis);
        memcpy(whole.axis, axis, sizeof axis);
        whole.integers = true;
        err = make(&p, op, &source, (enum prec)prec, axis) || problem_make(&other) ||
              problem_make(&whole);
        CHECK(!err, "%s", fail_text());
        if (!err) check_drawn(&p, &other);
        for (int d = 0; d < DENSE_MAX && !err && whole.in[d].val; d++)
            check_spread(&whole, &whole.in[d], -4, 3, -0.5);
        problem_free(&p);
        problem_free(&other);
        problem_free(&whole);
    }
    source_free(&source);
    csr_free(&A);
}

// Each fact is counted once: it stays when the matrix under it changes.
static void test_source(void)
{
    static const char *const cells[] = {"1", ".", "-2", ".", ".", ".", ".", ".", "2.5"};
    struct csr A = matrix_of(3, 3, cells);
    struct source s;
    int64_t columns = 0;
    source_init(&s, &A);
    for (int time = 0; time < 2; time++) {
        CHECK(source_row_sum(&s) == 3 && source_value(&s) == 2.5, "%g, %g", source_row_sum(&s),
              source_value(&s));
        CHECK(source_used_rows(&s) == 2, "%lld rows", (long long)source_used_rows(&s));
        CHECK(!source_used_columns(&s, &columns) && columns == 2, "%lld columns",
              (long long)columns);
        CHECK(!source_transpose(&s) && s.transposed.nnz == 3 && s.transposed.idx[2] == 2, "%s",
              fail_text());
        const double *val = s.transposed.val;
        CHECK(!source_transpose(&s) && s.transposed.val == val, "it was transposed again");
        for (int q = 0; q < 3; q++) A.val[q] = 7, A.idx[q] = 1;
        A.ptr[1] = A.ptr[2] = 1;
    }
    source_free(&s);
    CHECK(source_row_sum(&s) == 14 && source_value(&s) == 7 && source_used_rows(&s) == 2 &&
              !source_used_columns(&s, &columns) && columns == 1,
          "what was freed is still there: %g", source_row_sum(&s));
    source_free(&s);
    mem_fail_at(1);
    CHECK(source_used_columns(&s, &columns) == ERR_MEMORY, "no memory was needed");
    CHECK(!source_used_columns(&s, &columns) && columns == 1, "%lld columns", (long long)columns);
    A.nnz = A.ptr[1] = A.ptr[2] = A.ptr[3] = 0;
    source_free(&s);
    CHECK(source_row_sum(&s) == 0 && source_value(&s) == 0 && source_used_rows(&s) == 0 &&
              !source_used_columns(&s, &columns) && columns == 0,
          "facts of nothing");
    source_free(&s);
    csr_free(&A);
}

// -trans: the factor is A^T with facts of its own. Algorithms get A (flag) or A^T (copy).
static void test_trans(void)
{
    static const char *const cells[] = {"1", ".", "-2", "4", ".", "."};
    static const struct algo plain = {.layouts = BOTH_LAYOUTS};
    static const struct algo turning = {.layouts = BOTH_LAYOUTS, .transposes = true};
    struct csr A = matrix_of(2, 3, cells);
    const struct op *op = op_find("spmm");
    struct source source;
    source_init(&source, &A);
    for (int64_t trans = 0; trans < 3; trans++) {
        struct problem p;
        const int64_t axis[AXES_MAX] = {2, LAYOUT_ROW, trans};
        CHECK(!make(&p, op, &source, F64, axis), "%s", fail_text());
        const bool turned = trans > 0;
        CHECK(p.A->m == (turned ? 3 : 2) && p.rows == p.A->m && p.in[0].rows == p.A->n,
              "trans %d: %lld x %lld of C", (int)trans, (long long)p.rows, (long long)p.cols);
        CHECK(p.bound == (turned ? 5 : 4) && p.factor->used_columns == 2, "trans %d: bound %g",
              (int)trans, p.bound);
        CHECK((p.A == &A) == !turned && (p.stored == &A) == (trans < 2), "trans %d: what it gets",
              (int)trans);
        const int refused = op->refuse(&p, &plain);
        CHECK(refused == (trans == 1 ? ERR_UNSUPPORTED : OK), "trans %d: %d", (int)trans, refused);
        if (refused)
            CHECK_TEXT(fail_text(), "the algorithm has no transposed mode; use -trans copy");
        CHECK(!op->refuse(&p, &turning), "%s", fail_text());
        problem_free(&p);
    }
    source_free(&source);
    csr_free(&A);
}

// The n-th allocation fails, for every n: nothing is left to free, and the next try is as the
// first.
static void test_no_memory(const struct op *op)
{
    static const char *const cells[] = {"1", "2", ".", "3"};
    struct csr A = matrix_of(2, 2, cells);
    int64_t axis[AXES_MAX];
    axes_start(op, 1, axis);
    do {
        int n = 0, err;
        struct problem p;
        do {
            struct source source;
            source_init(&source, &A);
            mem_fail_at(++n);
            err = make(&p, op, &source, F32, axis);
            mem_fail_at(0);
            CHECK(!err || (err == ERR_MEMORY && !p.in[0].val && !p.in[1].val),
                  "%s, allocation %d: error %d", op->name, n, err);
            // With what the first try has left of the source.
            if (err) err = make(&p, op, &source, F32, axis) ? -1 : ERR_MEMORY;
            CHECK(err >= 0, "%s, after allocation %d failed: %s", op->name, n, fail_text());
            CHECK(err < 0 || p.work > 0, "%s: no work", op->name);
            problem_free(&p);
            source_free(&source);
        } while (err && n < 100);
        CHECK(!err, "%s: it does not end", op->name);
    } while (axes_next_words(op, axis));
    csr_free(&A);
}

// Products that do not fit in 63 bits are no product.
static void test_too_large(void)
{
    static const char *const cells[] = {"1", "1", "1", "1"};
    struct csr A = matrix_of(2, 2, cells);
    for (int x = 0; x < op_count; x++)
        for (int a = 0; ops[x]->axes[a]; a++) {
            struct source source;
            struct problem p;
            int64_t axis[AXES_MAX];
            axes_start(ops[x], 0, axis);
            if (ops[x]->axes[a]->words) continue;
            axis[a] = INT64_MAX / 3;
            source_init(&source, &A);
            int err = make(&p, ops[x], &source, F32, axis);
            CHECK(err == ERR_MEMORY && strstr(fail_text(), "out of range"), "%s: error %d, %s",
                  ops[x]->name, err, fail_text());
            problem_free(&p);
            source_free(&source);
        }
    csr_free(&A);
}

int main(void)
{
    const struct op *op;
    RUN_ALL(test_list, test_sizes, test_source, test_trans, test_too_large);
    for (int x = 0; (op = op_or_own(x)); x++) {
        test_op(op);
        for (int which = 0; which < 4; which += 3) {
            test_overflow(op, F32, which);
            test_overflow(op, F64, which);
        }
        test_inputs(op);
        test_overflow_text(op);
        test_no_memory(op);
    }
    return TEST_END();
}
