#include "formats/tile8.h"

#include "formats/csr.h"

static int arrays(const struct sparse *X, struct array list[ARRAYS_MAX])
{
    struct tile8 *A = (struct tile8 *)X;
    list[0] = (struct array){(void **)&A->ptr, (int64_t)A->tile_m + 1, sizeof *A->ptr};
    list[1] = (struct array){(void **)&A->row, A->tiles, sizeof *A->row};
    list[2] = (struct array){(void **)&A->col, A->tiles, sizeof *A->col};
    list[3] = (struct array){(void **)&A->start, A->tiles + 1, sizeof *A->start};
    list[4] = (struct array){(void **)&A->mask, A->tiles, sizeof *A->mask};
    list[5] = (struct array){&A->val, A->nnz, type_bytes(A->type)};
    return 6;
}

// Returns the number of tiles of tile row i. `fill`: also writes the tiles to T, from T->ptr[i] on.
static int64_t walk_tile_row(const struct csr_dev *A, struct tile8 *T, int64_t i, bool fill)
{
    const int rows = (int)min64(TILE8, A->m - i * TILE8);
    int64_t at[TILE8]; // next nonzero of each row
    int64_t count = 0, q = csr_start(A, i * TILE8);
    for (int r = 0; r < rows; r++) at[r] = csr_start(A, i * TILE8 + r);
    for (;; count++) {
        int32_t col = INT32_MAX;
        for (int r = 0; r < rows; r++)
            if (at[r] < csr_start(A, i * TILE8 + r + 1) && A->idx[at[r]] / TILE8 < col)
                col = A->idx[at[r]] / TILE8;
        if (col == INT32_MAX) return count;
        const int64_t t = fill ? T->ptr[i] + count : 0;
        uint64_t mask = 0;
        if (fill) T->row[t] = (int32_t)i, T->col[t] = col, T->start[t] = q;
        for (int r = 0; r < rows; r++)
            for (; at[r] < csr_start(A, i * TILE8 + r + 1) && A->idx[at[r]] / TILE8 == col; at[r]++)
                if (fill) {
                    mask |= (uint64_t)1 << (TILE8 * r + A->idx[at[r]] % TILE8);
                    type_store(T->type, T->val, q++, type_load(A->type, A->val, at[r]));
                }
        if (fill) T->mask[t] = mask;
    }
}

static int make(struct device *d, const struct sparse *from, const double *opt, struct sparse *out)
{
    (void)opt;
    const struct csr_dev *A = csr_of(from);
    struct tile8 *T = (struct tile8 *)out;
    T->tile_m = tile8_count(A->m);
    T->tile_n = tile8_count(A->n);
    int err = device_alloc(d, (int64_t)T->tile_m + 1, sizeof *T->ptr, (void **)&T->ptr);
    if (err) return err;
    T->ptr[0] = 0;
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = 0; i < T->tile_m; i++) T->ptr[i + 1] = walk_tile_row(A, T, i, false);
    for (int64_t i = 0; i < T->tile_m; i++) T->ptr[i + 1] += T->ptr[i];
    T->tiles = T->ptr[T->tile_m];

    struct array list[ARRAYS_MAX];
    int count = arrays(out, list);
    for (int x = 1; x < count && !err; x++)
        err = device_alloc(d, list[x].count, list[x].size, list[x].data);
    if (err) return err;
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = 0; i < T->tile_m; i++) walk_tile_row(A, T, i, true);
    T->start[T->tiles] = T->nnz;
    return OK;
}

// Returns the columns of row r of tile t, as bits.
static unsigned row_bits(const struct tile8 *A, int64_t t, int64_t r)
{
    return (unsigned)(A->mask[t] >> (TILE8 * r) & 0xff);
}

static int to_csr(const struct sparse *X, struct csr *out)
{
    const struct tile8 *A = tile8_of(X);
    if (csr_alloc(out, A->m, A->n, A->nnz)) return ERR_MEMORY;
    int64_t p = 0;
    for (int64_t i = 0; i < A->m; i++) {
        const int64_t r = i % TILE8;
        out->ptr[i] = p;
        for (int64_t t = A->ptr[i / TILE8]; t < A->ptr[i / TILE8 + 1]; t++) {
            const uint64_t before = A->mask[t] & (((uint64_t)1 << (TILE8 * r)) - 1);
            int64_t q = A->start[t] + __builtin_popcountll(before);
            for (unsigned bits = row_bits(A, t, r); bits; bits &= bits - 1, p++) {
                out->idx[p] = A->col[t] * TILE8 + __builtin_ctz(bits);
                out->val[p] = type_load(A->type, A->val, q++);
            }
        }
    }
    out->ptr[A->m] = p;
    return OK;
}

static const char *check_structure(const struct tile8 *A)
{
    if (A->m < 0 || A->n < 0 || A->nnz < 0 || A->tiles < 0) return "negative size";
    if (A->tile_m != tile8_count(A->m)) return "tile rows do not cover m";
    if (A->tile_n != tile8_count(A->n)) return "tile columns do not cover n";
    if (!A->ptr || !A->row || !A->col || !A->start || !A->mask || !A->val) return "missing array";
    if (A->ptr[0] != 0) return "ptr[0] is not 0";
    if (A->ptr[A->tile_m] != A->tiles) return "ptr[tile_m] is not tiles";
    for (int64_t i = 0; i < A->tile_m; i++)
        if (A->ptr[i] > A->ptr[i + 1] || A->ptr[i + 1] > A->tiles) return "ptr descends";
    if (A->start[0] != 0) return "start[0] is not 0";
    if (A->start[A->tiles] != A->nnz) return "start[tiles] is not nnz";
    return NULL;
}

// Returns the fault of tile t, in tile row i. NULL: there is none.
static const char *check_tile(const struct tile8 *A, int64_t i, int64_t t)
{
    if (A->row[t] != i) return "row and ptr differ";
    if (A->col[t] < 0 || A->col[t] >= A->tile_n) return "tile column outside the matrix";
    if (t > A->ptr[i] && A->col[t - 1] >= A->col[t]) return "tile columns not ascending";
    if (A->start[t + 1] - A->start[t] != __builtin_popcountll(A->mask[t]))
        return "start and masks differ";
    for (int64_t r = 0; r < TILE8; r++) {
        const unsigned bits = row_bits(A, t, r);
        if (bits && i * TILE8 + r >= A->m) return "nonzeros below the last row";
        if (bits && (int64_t)A->col[t] * TILE8 + 31 - __builtin_clz(bits) >= A->n)
            return "column outside the matrix";
    }
    return NULL;
}

static const char *check(const struct sparse *X)
{
    const struct tile8 *A = tile8_of(X);
    const char *broken = check_structure(A);
    for (int64_t i = 0; i < A->tile_m && !broken; i++)
        for (int64_t t = A->ptr[i]; t < A->ptr[i + 1] && !broken; t++) broken = check_tile(A, i, t);
    return broken;
}

static void describe(const struct sparse *X, struct figures *f)
{
    const struct tile8 *A = tile8_of(X);
    figures_number(f, "tiles", (double)A->tiles);
    figures_number(f, "nnz_per_tile", A->tiles ? (double)A->nnz / (double)A->tiles : 0);
}

const struct format format_tile8 = {
    .name = "tile8",
    .about = "8 x 8 tiles by tile rows, a 64-bit mask each",
    .size = sizeof(struct tile8),
    .from = &format_csr,
    .arrays = arrays,
    .make = make,
    .check = check,
    .to_csr = to_csr,
    .describe = describe,
};
