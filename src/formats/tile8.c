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
    err = sparse_alloc(d, out);
    if (err) return err;
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = 0; i < T->tile_m; i++) walk_tile_row(A, T, i, true);
    T->start[T->tiles] = T->nnz;
    return OK;
}

static void describe(const struct sparse *X, struct algo_stats *f)
{
    const struct tile8 *A = tile8_of(X);
    algo_stats_number(f, "tiles", (double)A->tiles);
    algo_stats_number(f, "nnz_per_tile", A->tiles ? (double)A->nnz / (double)A->tiles : 0);
}

const struct format format_tile8 = {
    .name = "tile8",
    .about = "8 x 8 tiles by tile rows, a 64-bit mask each",
    .size = sizeof(struct tile8),
    .from = &format_csr,
    .arrays = arrays,
    .make = make,
    .describe = describe,
};
