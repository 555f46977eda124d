#include "data/gen_kinds.h"

#include <stdlib.h>
#include <string.h>

const char *gen_param_name(const struct gen_kind *kind, int j, int *length)
{
    const char *s = kind->form;
    for (int colons = 0; colons <= j; s++) colons += *s == ':';
    *length = (int)strcspn(s, ":");
    return s;
}

// Returns ERR_USAGE if parameter j is not in [low, high].
static int algo_option_check(const struct gen *g, int j, int64_t low, int64_t high)
{
    if (g->p[j] >= low && g->p[j] <= high) return OK;
    int length;
    const char *name = gen_param_name(g->kind, j, &length);
    return fail(
        ERR_USAGE, "gen:%.200s: %.*s is %lld, it must be from %lld to %lld; the form is gen:%s",
        g->spec, length, name, (long long)g->p[j], (long long)low, (long long)high, g->kind->form);
}

double gen_value(const struct gen *g, int64_t p)
{
    double x = random_value(g->value_seed, (uint64_t)p);
    return x != 0 ? x : 1;
}

// Returns the t-th number of a stream, uniform in [0, n): the high half of a 128-bit product. Each
// row has its own stream, so rows can be generated in any order.
static int64_t random_below(uint64_t seed, uint64_t t, int64_t n)
{
    return (int64_t)(((unsigned __int128)random_at(seed, t) * (uint64_t)n) >> 64);
}

static int by_number(const void *x, const void *y)
{
    int32_t a = *(const int32_t *)x, b = *(const int32_t *)y;
    return (a > b) - (a < b);
}

static void sort_columns(int32_t *idx, int64_t count)
{
    if (count > 64) {
        qsort(idx, (size_t)count, sizeof *idx, by_number);
        return;
    }
    for (int64_t p = 1; p < count; p++) {
        int32_t j = idx[p];
        int64_t q = p;
        for (; q > 0 && idx[q - 1] > j; q--) idx[q] = idx[q - 1];
        idx[q] = j;
    }
}

// Draws `count` distinct columns of n, in ascending order. Every set is equally likely.
static void draw_columns(uint64_t seed, int64_t n, int64_t count, int32_t *idx)
{
    if (count > n / 8) {
        // Dense: take each column with the probability (columns missing) / (columns left).
        int64_t have = 0;
        for (int64_t j = 0; have < count; j++)
            if (random_below(seed, (uint64_t)j, n - j) < count - have) idx[have++] = (int32_t)j;
        return;
    }
    // Sparse: draw, drop duplicates, draw again.
    uint64_t t = 0;
    for (int64_t have = 0; have < count;) {
        for (int64_t p = have; p < count; p++) idx[p] = (int32_t)random_below(seed, t++, n);
        sort_columns(idx, count);
        have = 1;
        for (int64_t p = 1; p < count; p++)
            if (idx[p] != idx[have - 1]) idx[have++] = idx[p];
    }
}

static void fill_random(const struct gen *g, int64_t i, int64_t length, int32_t *idx)
{
    draw_columns(random_at(g->seed, (uint64_t)i), g->n, length, idx);
}

// fem:N. Row 3 * node + u is unknown u of node (x, y, z), node = (z * N + y) * N + x. An unknown is
// coupled to the unknowns of all nodes that are at most one step away along each axis.
#define UNKNOWNS 3

static int fem_shape(struct gen *g)
{
    int64_t N = g->p[0];
    if (algo_option_check(g, 0, 1, 894)) return ERR_USAGE; // 3 * 894^3 < 2^31
    int64_t pairs = 3 * N - 2;                       // coupled nodes along one axis
    g->m = g->n = UNKNOWNS * N * N * N;
    g->nnz = UNKNOWNS * UNKNOWNS * pairs * pairs * pairs;
    return OK;
}

static int64_t axis_neighbours(int64_t x, int64_t N) { return 1 + (x > 0) + (x < N - 1); }

static int64_t fem_length(const struct gen *g, int64_t i)
{
    int64_t N = g->p[0], node = i / UNKNOWNS;
    return UNKNOWNS * axis_neighbours(node % N, N) * axis_neighbours(node / N % N, N) *
           axis_neighbours(node / N / N, N);
}

static void fem_fill(const struct gen *g, int64_t i, int64_t length, int32_t *idx)
{
    (void)length;
    int64_t N = g->p[0], node = i / UNKNOWNS, x = node % N, y = node / N % N, z = node / N / N;
    for (int64_t c = max64(z - 1, 0); c <= min64(z + 1, N - 1); c++)
        for (int64_t b = max64(y - 1, 0); b <= min64(y + 1, N - 1); b++)
            for (int64_t a = max64(x - 1, 0); a <= min64(x + 1, N - 1); a++)
                for (int64_t u = 0; u < UNKNOWNS; u++)
                    *idx++ = (int32_t)(((c * N + b) * N + a) * UNKNOWNS + u);
}

// stencil:N. Point y * N + x is coupled to itself and to its four neighbours.
static int stencil_shape(struct gen *g)
{
    int64_t N = g->p[0];
    if (algo_option_check(g, 0, 1, 46340)) return ERR_USAGE; // 46340^2 < 2^31
    g->m = g->n = N * N;
    g->nnz = 5 * N * N - 4 * N;
    return OK;
}

static int64_t stencil_length(const struct gen *g, int64_t i)
{
    int64_t N = g->p[0];
    return axis_neighbours(i % N, N) + axis_neighbours(i / N, N) - 1;
}

static void stencil_fill(const struct gen *g, int64_t i, int64_t length, int32_t *idx)
{
    (void)length;
    int64_t N = g->p[0], x = i % N, y = i / N;
    if (y > 0) *idx++ = (int32_t)(i - N);
    if (x > 0) *idx++ = (int32_t)(i - 1);
    *idx++ = (int32_t)i;
    if (x < N - 1) *idx++ = (int32_t)(i + 1);
    if (y < N - 1) *idx++ = (int32_t)(i + N);
}

// uniform:M:D has D nonzeros in each row. skew:M:D:L has L nonzeros in rows 0, 5000, 10000, ...
#define SKEW_STEP 5000

static int uniform_shape(struct gen *g)
{
    int64_t M = g->p[0];
    if (algo_option_check(g, 0, 1, INT32_MAX) || algo_option_check(g, 1, 1, M)) return ERR_USAGE;
    g->m = g->n = M;
    g->nnz = M * g->p[1];
    return OK;
}

static int skew_shape(struct gen *g)
{
    int64_t M = g->p[0], D = g->p[1], L = g->p[2], long_rows = (M - 1) / SKEW_STEP + 1;
    if (uniform_shape(g) || algo_option_check(g, 2, 1, M)) return ERR_USAGE;
    g->nnz = long_rows * L + (M - long_rows) * D;
    return OK;
}

static int64_t skew_length(const struct gen *g, int64_t i)
{
    return i % SKEW_STEP ? g->p[1] : g->p[2];
}

// band:M:B. Row i has columns i - (B - 1) / 2 to i + B / 2, as far as they are in the matrix.
static int band_shape(struct gen *g)
{
    int64_t M = g->p[0], B = g->p[1], left = (B - 1) / 2, right = B / 2;
    if (uniform_shape(g)) return ERR_USAGE;
    g->nnz = M * B - left * (left + 1) / 2 - right * (right + 1) / 2;
    return OK;
}

static int64_t band_first(const struct gen *g, int64_t i)
{
    return max64(i - (g->p[1] - 1) / 2, 0);
}

static int64_t band_length(const struct gen *g, int64_t i)
{
    return min64(i + g->p[1] / 2, g->m - 1) - band_first(g, i) + 1;
}

static void band_fill(const struct gen *g, int64_t i, int64_t length, int32_t *idx)
{
    int64_t first = band_first(g, i);
    for (int64_t p = 0; p < length; p++) idx[p] = (int32_t)(first + p);
}

// aspect:M:NNZ. A dense matrix. Figure 1 of Yang et al. 2018 has M = 2 to 8388608 and
// NNZ = 16777216.
static int aspect_shape(struct gen *g)
{
    int64_t M = g->p[0], NNZ = g->p[1];
    if (algo_option_check(g, 0, 1, INT32_MAX) || algo_option_check(g, 1, M, M * INT32_MAX))
        return ERR_USAGE;
    g->m = M;
    g->n = NNZ / M;
    g->nnz = g->m * g->n;
    return OK;
}

static void aspect_fill(const struct gen *g, int64_t i, int64_t length, int32_t *idx)
{
    (void)g, (void)i;
    for (int64_t j = 0; j < length; j++) idx[j] = (int32_t)j;
}

// sparse2d:M:N:NNZ. Nonzeros at random places. In figure 5 of Hong et al. 2019 M = 131072 and
// N = 4096. The mean length of a column segment of T_M = 512 rows is T_M * NNZ / (M * N).
static int sparse2d_shape(struct gen *g)
{
    int64_t M = g->p[0], N = g->p[1];
    if (algo_option_check(g, 0, 1, INT32_MAX) || algo_option_check(g, 1, 1, INT32_MAX) ||
        algo_option_check(g, 2, 1, M * N))
        return ERR_USAGE;
    g->m = M;
    g->n = N;
    g->nnz = g->p[2];
    return OK;
}

// Draws a row for every nonzero. The excess of a full row goes to the next rows.
static void sparse2d_count(const struct gen *g, int64_t *count)
{
    uint64_t seed = random_at(g->seed, UINT64_MAX); // differs from the streams of rows
    memset(count, 0, (size_t)g->m * sizeof *count);
#pragma omp parallel for schedule(static)
    for (int64_t p = 0; p < g->nnz; p++) {
        int64_t i = random_below(seed, (uint64_t)p, g->m);
#pragma omp atomic
        count[i]++;
    }
    int64_t excess = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < g->m; i++) {
            int64_t all = count[i] + excess;
            count[i] = min64(all, g->n);
            excess = all - count[i];
        }
}

// rmat:L:E. Each of 2^L * E entries chooses one of four quadrants at each of L levels.
static int rmat_shape(struct gen *g)
{
    if (algo_option_check(g, 0, 0, 30) || algo_option_check(g, 1, 1, INT32_MAX)) return ERR_USAGE;
    g->m = g->n = (int64_t)1 << g->p[0];
    g->nnz = g->m * g->p[1];
    return OK;
}

// Cumulative probabilities of the quadrants (0.57, 0.19, 0.19, 0.05), times 2^32.
#define RMAT_A   2448131359u
#define RMAT_AB  3264175145u
#define RMAT_ABC 4080218931u

static void rmat_entry(const struct gen *g, int64_t p, int32_t *row, int32_t *col)
{
    int levels = (int)g->p[0];
    uint64_t seed = random_at(g->seed, (uint64_t)p), bits = 0;
    int32_t i = 0, j = 0;
    for (int level = 0; level < levels; level++) {
        bits = level % 2 ? bits >> 32 : random_at(seed, (uint64_t)level / 2);
        uint32_t r = (uint32_t)bits;
        i = i * 2 + (r >= RMAT_AB);
        j = j * 2 + ((r >= RMAT_A && r < RMAT_AB) || r >= RMAT_ABC);
    }
    *row = i;
    *col = j;
}

static int rmat_build(const struct gen *g, struct csr *A)
{
    struct coo T = {.m = (int32_t)g->m, .n = (int32_t)g->n, .nnz = g->nnz};
    int err = ERR_MEMORY;
    if (!(T.row = mem_alloc(T.nnz, sizeof *T.row)) || !(T.col = mem_alloc(T.nnz, sizeof *T.col)) ||
        !(T.val = mem_alloc(T.nnz, sizeof *T.val)))
        goto done;
#pragma omp parallel for schedule(static)
    for (int64_t p = 0; p < T.nnz; p++) {
        if (interrupted) continue;
        rmat_entry(g, p, &T.row[p], &T.col[p]);
        T.val[p] = gen_value(g, p);
    }
    err = interrupted ? fail(ERR_INTERRUPTED, "gen:%.200s: interrupted", g->spec)
                      : csr_from_coo(&T, A, NULL);
    if (err) goto done;
    // Values are multiples of 2^-23, so the sum of duplicates can be exactly 0.
    for (int64_t p = 0; p < A->nnz; p++)
        if (A->val[p] == 0) A->val[p] = 1;
done:
    coo_free(&T);
    return err;
}

// To add a kind: an entry here, and the functions of the entry.
const struct gen_kind gen_help[] = {
    {.name = "fem",
     .form = "fem:N",
     .about = "27-point hexahedral mesh of N^3 nodes, 3 unknowns each",
     .shape = fem_shape,
     .length = fem_length,
     .fill = fem_fill},
    {.name = "stencil",
     .form = "stencil:N",
     .about = "5-point stencil on a grid of N^2 points",
     .shape = stencil_shape,
     .length = stencil_length,
     .fill = stencil_fill},
    {.name = "rmat",
     .form = "rmat:L:E",
     .about = "R-MAT graph (0.57, 0.19, 0.19, 0.05) of 2^L rows, E edges a row, duplicates summed",
     .shape = rmat_shape,
     .build = rmat_build},
    {.name = "uniform",
     .form = "uniform:M:D",
     .about = "M rows of D random columns",
     .shape = uniform_shape,
     .fill = fill_random},
    {.name = "skew",
     .form = "skew:M:D:L",
     .about = "M rows of D random columns, every 5,000th row L long",
     .shape = skew_shape,
     .length = skew_length,
     .fill = fill_random},
    {.name = "band",
     .form = "band:M:B",
     .about = "M rows of B nonzeros around the diagonal",
     .shape = band_shape,
     .length = band_length,
     .fill = band_fill},
    {.name = "aspect",
     .form = "aspect:M:NNZ",
     .about = "dense M x NNZ/M, stored as sparse",
     .shape = aspect_shape,
     .fill = aspect_fill},
    {.name = "sparse2d",
     .form = "sparse2d:M:N:NNZ",
     .about = "M x N with NNZ nonzeros anywhere",
     .shape = sparse2d_shape,
     .count = sparse2d_count,
     .fill = fill_random},
    {.name = NULL},
};
