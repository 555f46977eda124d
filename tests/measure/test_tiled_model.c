// tiled_counts.c and tiled_model.c: counts and equations by hand on a 4 x 4 and an 8 x 8 matrix, and on
// random ones against counts over a dense copy.
#include <math.h>
#include <stdlib.h>

#include "data/gen.h"
#include "measure/tiled_counts.h"
#include "measure/tiled_model.h"
#include "pictures.h"

static bool near(double x, double y) { return fabs(x - y) <= 1e-12 * (1 + fabs(y)); }

#define SAME(field, want) CHECK(a.field == (want), #field " is %lld", (long long)a.field)
#define NEAR(field, want) CHECK(near(x.field, want), #field " is %.17g", x.field)

static struct tiled_counts rows_of(const struct csr *A)
{
    struct source s;
    struct tiled_counts_cache of;
    struct tiled_counts a;
    source_init(&s, A);
    tiled_counts_init(&of, &s);
    CHECK(!tiled_counts_of_rows(&of, &a), "%s", fail_text());
    tiled_counts_free(&of);
    source_free(&s);
    return a;
}

static struct tiled_counts stages_of(const struct csr *A, int64_t rows, int64_t stage, int64_t longest)
{
    struct source s;
    struct tiled_counts_cache of;
    struct tiled_counts a;
    source_init(&s, A);
    tiled_counts_init(&of, &s);
    CHECK(!tiled_counts_of_stages(&of, rows, stage, longest, &a), "%s", fail_text());
    tiled_counts_free(&of);
    source_free(&s);
    return a;
}

static struct tiled_prediction predicted(const struct csr *A, enum prec prec, int64_t k,
                                         enum model_kind kind, struct cutting cut,
                                         const struct algo_stats *told)
{
    struct source s;
    struct tiled_counts_cache of;
    struct tiled_prediction x;
    source_init(&s, A);
    tiled_counts_init(&of, &s);
    CHECK(!tiled_model_predict(&of, prec, k, kind, &cut, told, &x), "%s", fail_text());
    tiled_counts_free(&of);
    source_free(&s);
    return x;
}

// 4 x 4, 7 nonzeros, column 1 is empty. A column of B is within one line, and a warp has all rows:
// their first nonzeros are in columns 0 0 2 3, the second ones in 2 3 3, so it touches 2 lines.
static void test_small_naive(void)
{
    struct csr A = from_picture("x.x.|x..x|..xx|...x");
    struct tiled_counts a = rows_of(&A);
    SAME(rows, 4);
    SAME(nnz, 7);
    SAME(columns, 3);
    SAME(loads, 7);
    SAME(lines[F32], 2);
    SAME(stored, 7);

    // (2) 2 * 1.75 / (1.75 * 8 + 1.75 * 4 * Gamma + 4 + 8), C = 2 * 64 / (7 * 4) = 32 / 7.
    struct tiled_prediction x = predicted(&A, F32, 5, MODEL_NAIVE, cutting_standard, NULL);
    CHECK(x.equation == 2 && isnan(x.mu_segment), "equation %d", x.equation);
    NEAR(mu, 1.75);
    NEAR(rho, 1);
    NEAR(Z, 1);
    NEAR(R, 1);
    NEAR(C, 32.0 / 7);
    NEAR(L, 7.0 / 3);
    NEAR(delta, 8);
    NEAR(intensity[PREDICTION_ALGORITHMIC], 3.5 / (14 + 7 + 12));
    NEAR(intensity[PREDICTION_ALL_MISS], 3.5 / (14 + 32 + 12));
    NEAR(intensity[PREDICTION_COLD_MISS], 3.5 / (14 + 32 * 3.0 / 7 + 12));
    csr_free(&A);
}

// Panels of 2 rows: columns 0 2 3 and 2 3. Stages of 2 columns: (0 2) (3) and (2 3).
//   loads 5, rho = 7 / 5; a line for each stage, C = 3 * 64 / (5 * 4) = 9.6; L = 5 / 3.
//   slices: rows 2 and 1 long: 4; 0 and 1: 2; 2 and 1: 4. Z = 10 / 7.
static void test_small_tiled(void)
{
    struct csr A = from_picture("x.x.|x..x|..xx|...x");
    struct tiled_counts a = stages_of(&A, 2, 2, 0);
    SAME(columns, 3);
    SAME(loads, 5);
    SAME(lines[F32], 3);
    SAME(stored, 10);

    // k = 20 in passes of 16 takes two: R = 10.
    // (3) 2 / (6 * Z / 10 + 4 Gamma / 1.4 + 4 / (1.4 * 1.75) + 8 / (10 * 1.75))
    const struct cutting cut = {2, 2, 16};
    struct tiled_prediction x = predicted(&A, F32, 20, MODEL_TILED, cut, NULL);
    double rest = 0.6 * 10 / 7 + 4 / 2.45 + 8 / 17.5;
    CHECK(x.equation == 3 && isnan(x.mu_segment), "equation %d", x.equation);
    NEAR(mu, 1.75);
    NEAR(rho, 1.4);
    NEAR(Z, 10.0 / 7);
    NEAR(R, 10);
    NEAR(C, 9.6);
    NEAR(L, 5.0 / 3);
    NEAR(intensity[PREDICTION_ALGORITHMIC], 2 / (rest + 4 / 1.4));
    NEAR(intensity[PREDICTION_ALL_MISS], 2 / (rest + 4 * 9.6 / 1.4));
    NEAR(intensity[PREDICTION_COLD_MISS], 2 / (rest + 4 * 9.6 * 0.6 / 1.4));

    // f64: values of 8 bytes. C = 3 * 64 / (5 * 8).
    x = predicted(&A, F64, 32, MODEL_TILED, cut, NULL);
    NEAR(R, 16);
    NEAR(C, 4.8);
    NEAR(intensity[PREDICTION_ALL_MISS],
         2 / (10 * 10.0 / 7 / 16 + 8 * 4.8 / 1.4 + 4 / 2.45 + 8 / (16 * 1.75)));
    csr_free(&A);
}

// 8 x 8, 16 nonzeros, a long row. Panels of 4 rows, stages of 4 columns, f64: 8 values a line.
//   rows 0-3: columns 0 1 2 3 4 5 6 7, stages (0 1 2 3) (4 5 6 7). Lengths there 4 1 1 0 and 4 0
//   0 1. rows 4-7: columns 1 4 6 7, one stage. Lengths 1 1 2 1. loads 12, slices 4 * 4 + 4 * 4 + 2
//   * 4 = 40. A line for each stage.
static const char eight[] =
    "xxxxxxxx|..x.....|x.......|.....x..|.x......|......x.|....x..x|......x.";

static void test_eight(void)
{
    struct csr A = from_picture(eight);
    struct tiled_counts a = stages_of(&A, 4, 4, 0);
    SAME(rows, 8);
    SAME(nnz, 16);
    SAME(columns, 8);
    SAME(loads, 12);
    SAME(lines[F64], 3);
    SAME(stored, 40);
    a = stages_of(&A, 4, 3, 0); // (0 1 2) (3 4 5) (6 7); (1 4 6) (7)
    SAME(loads, 12);
    SAME(lines[F64], 5);
    SAME(stored, 4 * (3 + 3 + 2) + 4 * (1 + 1));
    SAME(segments, 8);
    a = rows_of(&A); // columns 0 2 0 5 1 6 4 6, then 1 7, then 2, 3, ... 7: a line each
    SAME(lines[F64], 8);

    struct tiled_prediction x = predicted(&A, F64, 8, MODEL_TILED, (struct cutting){4, 4, 4}, NULL);
    NEAR(mu, 2);
    NEAR(rho, 4.0 / 3);
    NEAR(Z, 2.5);
    NEAR(R, 4);
    NEAR(C, 2);
    NEAR(L, 1.5);
    double rest = 10 * 2.5 / 4 + 4 / (8.0 / 3) + 8 / 8.0;
    NEAR(intensity[PREDICTION_ALGORITHMIC], 2 / (rest + 6));
    NEAR(intensity[PREDICTION_ALL_MISS], 2 / (rest + 12));
    NEAR(intensity[PREDICTION_COLD_MISS], 2 / (rest + 8));
    csr_free(&A);
}

// The same with its long row cut into segments of mu = 2 nonzeros, as the algorithm tells:
//   (0 1) (2 3) (4 5) (6 7) | (2) (0) (5) (1) | (6) (4 7) (6): 11 segments, mu* = 16 / 11.
//   columns 0 to 7 in two stages, 0 1 2 5, and 4 6 7. Loads 15, slices 8 + 8 + 4 + 8 = 28.
//   (6) 2 / (10 Z / 4 + 8 Gamma / rho + 4 / (rho mu*) + (4 + 8) / (4 mu*) + 8 / 2)
static void test_balanced(void)
{
    struct csr A = from_picture(eight);
    const struct cutting cut = {4, 4, 4};
    struct algo_stats told = {0};
    struct tiled_counts a = stages_of(&A, 4, 4, 2);
    SAME(rows, 8);
    SAME(segments, 11);
    SAME(loads, 15);
    SAME(lines[F64], 4);
    SAME(stored, 28);
    algo_stats_text(&told, "segment", "mu");
    struct tiled_prediction x = predicted(&A, F64, 8, MODEL_TILED, cut, &told);
    double rho = 16.0 / 15, part = 16.0 / 11;
    double rest = 2.5 * 28 / 16 + 4 / (rho * part) + 12 / (4 * part) + 4;
    CHECK(x.equation == 6, "equation %d", x.equation);
    NEAR(mu, 2);
    NEAR(mu_segment, part);
    NEAR(rho, rho);
    NEAR(Z, 28.0 / 16);
    NEAR(C, 4 * 64 / (15.0 * 8));
    NEAR(L, 15.0 / 8);
    NEAR(intensity[PREDICTION_ALGORITHMIC], 2 / (rest + 8 / rho));
    NEAR(intensity[PREDICTION_ALL_MISS], 2 / (rest + 8 * x.C / rho));
    NEAR(intensity[PREDICTION_COLD_MISS], 2 / (rest + 8 * x.C / x.L / rho));

    // Sorted rows have another rho and Z, of which the algorithm tells.
    algo_stats_number(&told, "rho", 1.6);
    algo_stats_number(&told, "Z", 1.25);
    x = predicted(&A, F64, 8, MODEL_TILED, cut, &told);
    NEAR(rho, 1.6);
    NEAR(Z, 1.25);
    NEAR(L, 10.0 / 8);
    x = predicted(&A, F64, 8, MODEL_NAIVE, cut, &told); // which does none of it
    CHECK(x.equation == 2 && isnan(x.mu_segment), "equation %d", x.equation);
    NEAR(rho, 1);
    NEAR(Z, 1);

    algo_stats_text(&told, "segment", "U mu"); // of 2 U nonzeros
    algo_stats_number(&told, "U", 0.5);
    x = predicted(&A, F64, 8, MODEL_TILED, cut, &told);
    NEAR(mu_segment, 1);
    algo_stats_text(&told, "segment", "none");
    x = predicted(&A, F64, 8, MODEL_TILED, cut, &told);
    CHECK(x.equation == 3 && isnan(x.mu_segment), "equation %d", x.equation);
    csr_free(&A);
}

// The paper's section 2.3: in f32 from 0.08 to 0.17 FLOPs a byte; and figure 3's beta = 1555 GB/s.
static void test_paper(void)
{
    struct roof roof = {.memory_gb_s = 1555, .fma_gflops = {19500, 9750}};
    struct tiled_prediction x = {.equation = 2, .mu = 1, .rho = 1, .Z = 1, .R = 1, .C = 1, .L = 1};
    x.delta = 8;
    tiled_model_intensity(&x, F32);
    tiled_model_gflops(&x, F32, &roof);
    NEAR(intensity[PREDICTION_ALGORITHMIC], 1.0 / 12);
    NEAR(gflops[PREDICTION_ALGORITHMIC], 1555.0 / 12);
    x.mu = 1e15;
    tiled_model_intensity(&x, F32);
    tiled_model_gflops(&x, F32, &roof);
    CHECK(fabs(x.intensity[0] - 1.0 / 6) < 1e-9, "%g", x.intensity[0]);
    CHECK(fabs(x.gflops[0] - 260) < 1, "%g GFLOPS", x.gflops[0]);
    roof.fma_gflops[F32] = 100; // the arithmetic is slower
    tiled_model_gflops(&x, F32, &roof);
    NEAR(gflops[PREDICTION_ALGORITHMIC], 100);
    tiled_model_gflops(&x, F32, &(struct roof){.fma_gflops = {100, 100}});
    CHECK(isnan(x.gflops[0]), "%g GFLOPS of no bandwidth", x.gflops[0]);
}

// The 4 x 4 matrix of test_small_tiled(): rho 1.4, Z 10 / 7, C 9.6, k = 20 in two passes.
static void test_whole(void)
{
    struct csr A = from_picture("x.x.|x..x|..xx|...x");
    const struct cutting cut = {2, 2, 16};
    struct algo_stats told = {0};
    struct roof roof = {.memory_gb_s = 1000, .cache_gb_s = 4000, .fma_gflops = {1e9, 1e9}};
    roof.cache_seen_bytes = 300;
    roof.gather_count = 1;
    roof.gathers[0].bytes = 1 << 20;
    for (int w = 0; w < ROOF_ROWS; w++) roof.gathers[0].gb_s[w] = 500;
    struct tiled_prediction x = predicted(&A, F32, 20, MODEL_TILED, cut, NULL);
    // 3 lines of 64 bytes in each column; A: 10 entries of 6, 5 columns, 4 threads; C: 4 x 20.
    const double gathered = 3 * 64 * 20, stored = 10 * 6 + 5 * 4 + 4 * 8, written = 4 * 20 * 4;
    tiled_model_gflops(&x, F32, &roof); // A and 4 x 10 elements of B are 272 bytes
    NEAR(whole_gflops,
         280 / (gathered / 500 + stored / 1000 + stored / 4000 + written / 1000 + 3000));
    roof.cache_seen_bytes = 200;
    tiled_model_gflops(&x, F32, &roof);
    NEAR(whole_gflops, 280 / (gathered / 500 + 2 * stored / 1000 + written / 1000 + 3000));
    // Rows of 2 nonzeros are cut to segments of 1: 7 of them, so 3 more sums, written and read.
    algo_stats_text(&told, "segment", "U mu");
    algo_stats_number(&told, "U", 0.5);
    algo_stats_number(&told, "reordered", 1);
    x = predicted(&A, F32, 16, MODEL_TILED, cut, &told);
    tiled_model_gflops(&x, F32, &roof);
    const double entries = x.Z * 7 * 6 + 7 / x.rho * 4 + 7 * 8;
    NEAR(mu_segment, 1);
    NEAR(whole_gflops, 2 * 7 * 16 /
                           (x.C * 4 * 7 / x.rho * 16 / 500 + entries / 1000 +
                            (4 + 2 * 3) * 16 * 4 / 1000.0 + 7 * 16 * 32 / 4000.0 + 6000));
    roof.fma_gflops[F32] = 1e-3;
    tiled_model_gflops(&x, F32, &roof);
    NEAR(whole_gflops, 1e-3);
    roof.gather_count = 0;
    tiled_model_gflops(&x, F32, &roof);
    CHECK(isnan(x.whole_gflops), "%g GFLOPS of no gathering", x.whole_gflops);
    // naive reads A once for each column: 8 bytes an entry and 8 a row.
    roof.gather_count = 1;
    roof.fma_gflops[F32] = 1e9;
    x = predicted(&A, F32, 5, MODEL_NAIVE, cut, &told);
    tiled_model_gflops(&x, F32, &roof);
    NEAR(whole_gflops, 70 / (2 * 64 * 5 / 500.0 + (7 * 8 + 4 * 8) * (1 / 1000.0 + 4 / 4000.0) +
                             4 * 5 * 4 / 1000.0 + 3000));
    csr_free(&A);
}

// Neighbours cost what they would aligned; any others the lines that they are in.
static void test_lines(void)
{
    struct csr A = from_picture(
        "..............xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.................................");
    struct tiled_counts a = stages_of(&A, 1, 64, 0); // columns 14 to 45 are in 3 lines
    SAME(loads, 32);
    SAME(lines[F32], 2);
    a = stages_of(&A, 1, 64, 0); // in 5
    SAME(lines[F64], 4);
    a = stages_of(&A, 1, 20, 0); // 20 columns, then 12
    SAME(lines[F32], 3);
    csr_free(&A);
    A = from_picture(
        "..............xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.x.................................");
    a = stages_of(&A, 1, 64, 0);
    SAME(lines[F32], 3);
    csr_free(&A);
    A = from_picture(".x..............|.x..............|................|x...............");
    a = rows_of(&A); // 1 1 0 are no neighbours
    SAME(lines[F32], 1);
    csr_free(&A);
}

static void test_empty(void)
{
    static const char *const pictures[] = {"", "...|...", "|||"};
    for (int i = 0; i < COUNT(pictures); i++) {
        struct csr A = from_picture(pictures[i]);
        struct tiled_counts a = stages_of(&A, 256, 512, i);
        CHECK(!a.loads && !a.lines[F32] && !a.stored && !a.columns, "%lld", (long long)a.loads);
        a = rows_of(&A);
        CHECK(!a.loads && !a.lines[F32], "%lld", (long long)a.loads);
        struct tiled_prediction x = predicted(&A, F32, 4, MODEL_TILED, cutting_standard, NULL);
        CHECK(x.equation == 0, "a prediction of nothing");
        csr_free(&A);
    }
    struct csr A = from_picture("x");
    struct tiled_prediction x = predicted(&A, F32, 4, MODEL_NONE, cutting_standard, NULL);
    CHECK(x.equation == 0, "a prediction without a model");
    csr_free(&A);
}

// The lines of so many columns, by marking all lines of the matrix.
static int64_t lines_by_marks(const int32_t *col, int64_t count, int32_t n, int per_line)
{
    char *touched = calloc((size_t)n + 1, 1);
    int64_t lines = 0;
    bool run = true;
    for (int64_t i = 0; i < count; i++) {
        lines += !touched[col[i] / per_line];
        touched[col[i] / per_line] = 1;
        run = run && col[i] - i == col[0];
    }
    free(touched);
    return run ? (count + per_line - 1) / per_line : lines;
}

// One panel over a dense copy of it.
static void add_panel(const char *full, int32_t n, int64_t rows, int64_t lanes, int64_t stage,
                      struct tiled_counts *sum)
{
    int32_t *columns = malloc(((size_t)n + 1) * sizeof *columns);
    int64_t distinct = 0;
    for (int32_t j = 0; j < n; j++) {
        bool any = false;
        for (int64_t i = 0; i < rows; i++) any |= full[i * n + j] != 0;
        if (any) columns[distinct++] = j;
    }
    for (int64_t s = 0; s < distinct; s += stage) {
        int64_t end = min64(s + stage, distinct);
        for (int64_t w = s; w < end; w += 32) {
            sum->lines[F32] += lines_by_marks(columns + w, min64(32, end - w), n, 16);
            sum->lines[F64] += lines_by_marks(columns + w, min64(32, end - w), n, 8);
        }
        for (int64_t w = 0; w < rows; w += lanes) {
            int64_t most = 0, last = min64(w + lanes, rows);
            for (int64_t i = w; i < last; i++) {
                int64_t length = 0;
                for (int64_t c = s; c < end; c++) length += full[i * n + columns[c]];
                most = max64(most, length);
            }
            sum->stored += most * lanes;
        }
    }
    sum->loads += distinct;
    free(columns);
}

// A as a dense matrix, with rows cut into segments of up to `longest` nonzeros, 0: whole.
static char *dense_copy(const struct csr *A, int64_t longest, int64_t *segments)
{
    char *full = calloc((size_t)(A->m + A->nnz) * (size_t)A->n + 1, 1);
    *segments = 0;
    for (int64_t i = 0; i < A->m; i++) {
        int64_t here = 0;
        for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++) {
            if (longest && here == longest) here = 0, ++*segments;
            full[*segments * A->n + A->idx[p]] = 1;
            here++;
        }
        ++*segments;
    }
    return full;
}

static void check_stages(const struct csr *A, int64_t longest, int64_t rows, int64_t stage)
{
    int64_t segments;
    char *full = dense_copy(A, longest, &segments);
    struct tiled_counts want = {0}, a = stages_of(A, rows, stage, longest);
    for (int64_t i = 0; i < segments; i += rows)
        add_panel(full + i * A->n, A->n, min64(rows, segments - i), min64(rows, 32), stage, &want);
    CHECK(a.loads == want.loads && a.stored == want.stored && a.segments == segments,
          "%lld rows, %lld columns, cut to %lld: %lld %lld %lld, not %lld %lld %lld",
          (long long)rows, (long long)stage, (long long)longest, (long long)a.loads,
          (long long)a.stored, (long long)a.segments, (long long)want.loads, (long long)want.stored,
          (long long)segments);
    for (int prec = F32; prec <= F64; prec++)
        CHECK(a.lines[prec] == want.lines[prec], "%lld lines, not %lld", (long long)a.lines[prec],
              (long long)want.lines[prec]);
    free(full);
}

static void check_rows(const struct csr *A, const char *full)
{
    struct tiled_counts a = rows_of(A);
    int64_t lines = 0;
    for (int64_t w = 0; w < A->m; w += 32)
        for (int64_t step = 0; step < A->n; step++) {
            int32_t col[32];
            int count = 0;
            for (int64_t i = w; i < min64(w + 32, A->m); i++) {
                int64_t seen = 0;
                for (int32_t j = 0; j < A->n; j++)
                    if (full[i * A->n + j] && seen++ == step) col[count++] = j;
            }
            if (count) lines += lines_by_marks(col, count, A->n, 16);
        }
    CHECK(a.lines[F32] == lines && a.loads == A->nnz, "%lld lines, not %lld",
          (long long)a.lines[F32], (long long)lines);
}

static void test_random(void)
{
    static const char *const specs[] = {"uniform:150:9", "rmat:7:6", "band:130:5", "aspect:40:2000",
                                        "fem:3"};
    static const int64_t rows[] = {1, 7, 32, 64, 1000}, stages[] = {1, 5, 32, 50, 100000},
                         cuts[] = {0, 1, 4, 9};
    for (int s = 0; s < COUNT(specs); s++) {
        struct csr A;
        int64_t segments;
        CHECK(!gen_matrix(specs[s], 5, &A), "%s", fail_text());
        for (int r = 0; r < COUNT(rows); r++)
            for (int c = 0; c < COUNT(stages); c++)
                check_stages(&A, cuts[(r + c) % COUNT(cuts)], rows[r], stages[c]);
        char *full = dense_copy(&A, 0, &segments);
        check_rows(&A, full);
        free(full);
        csr_free(&A);
    }
}

// Memory that runs out is told, and nothing of it is left.
static void test_no_memory(void)
{
    struct csr A = from_picture(eight);
    int fails = 0, err = OK;
    for (int64_t n = 1; n < 100; n++) {
        struct source s;
        struct tiled_counts_cache of;
        struct tiled_counts a;
        source_init(&s, &A);
        tiled_counts_init(&of, &s);
        mem_fail_at(n);
        err = tiled_counts_of_stages(&of, 4, 4, 2, &a);
        mem_fail_at(0);
        tiled_counts_free(&of);
        source_free(&s);
        if (!err) break;
        CHECK(err == ERR_MEMORY, "error %d", err);
        fails++;
    }
    CHECK(!err && fails >= 7, "%d allocations", fails);
    csr_free(&A);
}

// Who asks again, for another k or another precision, gets what was counted: nothing is allocated.
// What differs in the pattern's cutting is counted by itself.
static void test_kept(void)
{
    struct csr A = from_picture(eight);
    struct source s;
    struct tiled_counts_cache of;
    struct tiled_prediction x;
    struct algo_stats cut_rows = {0};
    const struct cutting cuts[] = {{4, 4, 4}, {4, 3, 4}, {2, 4, 4}};
    source_init(&s, &A);
    tiled_counts_init(&of, &s);
    algo_stats_text(&cut_rows, "segment", "mu");
    CHECK(!tiled_model_predict(&of, F32, 8, MODEL_NAIVE, cuts, NULL, &x), "%s", fail_text());
    CHECK(!tiled_model_predict(&of, F32, 8, MODEL_TILED, cuts, &cut_rows, &x), "%s", fail_text());
    for (int c = 0; c < COUNT(cuts); c++)
        CHECK(!tiled_model_predict(&of, F32, 8, MODEL_TILED, &cuts[c], NULL, &x), "%s", fail_text());
    CHECK(of.count == 5, "%d were counted", of.count);
    for (int kind = MODEL_NAIVE; kind <= MODEL_TILED; kind++)
        for (int c = 0; c < COUNT(cuts); c++)
            for (int prec = F32; prec <= F64; prec++)
                for (int64_t k = 8; k < 40; k += 13) {
                    struct tiled_prediction want =
                        predicted(&A, (enum prec)prec, k, (enum model_kind)kind, cuts[c], NULL);
                    mem_fail_at(1);
                    int err =
                        tiled_model_predict(&of, (enum prec)prec, k, (enum model_kind)kind, &cuts[c], NULL, &x);
                    mem_fail_at(0);
                    CHECK(!err, "%s", fail_text());
                    CHECK(x.rho == want.rho && x.Z == want.Z && x.R == want.R && x.C == want.C &&
                              x.L == want.L && x.equation == want.equation &&
                              x.intensity[PREDICTION_ALL_MISS] == want.intensity[PREDICTION_ALL_MISS],
                          "model %d, %s, k %lld: another prediction", kind,
                          prec_name((enum prec)prec), (long long)k);
                }
    CHECK(of.count == 5, "%d were counted", of.count);
    tiled_counts_free(&of);
    source_free(&s);
    csr_free(&A);
}

static void test_interrupted(void)
{
    struct csr A = from_picture(eight);
    struct source s;
    struct tiled_counts_cache of;
    struct tiled_counts a;
    source_init(&s, &A);
    tiled_counts_init(&of, &s);
    interrupted = 1;
    CHECK(tiled_counts_of_stages(&of, 4, 4, 2, &a) == ERR_INTERRUPTED, "it went on");
    CHECK(tiled_counts_of_rows(&of, &a) == ERR_INTERRUPTED, "it went on");
    interrupted = 0;
    tiled_counts_free(&of);
    source_free(&s);
    csr_free(&A);
}

TESTS(test_small_naive, test_small_tiled, test_eight, test_balanced, test_paper, test_whole,
      test_lines, test_empty, test_random, test_no_memory, test_kept, test_interrupted)
