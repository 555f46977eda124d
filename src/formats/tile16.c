#include "formats/tile16.h"

#include "formats/csr.h"

static int arrays(const struct sparse *X, struct array list[ARRAYS_MAX])
{
    struct tile16 *A = (struct tile16 *)X;
    list[0] = (struct array){(void **)&A->ptr, (int64_t)A->tile_m + 1, sizeof *A->ptr};
    list[1] = (struct array){(void **)&A->col, A->tiles, sizeof *A->col};
    list[2] = (struct array){(void **)&A->start, A->tiles + 1, sizeof *A->start};
    list[3] = (struct array){(void **)&A->row_ptr, A->tiles * TILE, sizeof *A->row_ptr};
    list[4] = (struct array){(void **)&A->mask, A->tiles * TILE, sizeof *A->mask};
    list[5] = (struct array){(void **)&A->idx, A->nnz, sizeof *A->idx};
    list[6] = (struct array){&A->val, A->nnz, type_bytes(A->type)};
    list[7] = (struct array){(void **)&A->used, A->tiles, sizeof *A->used};
    return 8;
}

// The unread nonzeros of the 16 rows of a tile row. Tiles are read from left to right.
struct front {
    int rows;
    int64_t at[TILE], end[TILE]; // next nonzero of each row, and the end of the row
};

static struct front front_start(const struct csr_dev *A, int64_t i)
{
    struct front f = {.rows = (int)min64(TILE, A->m - i * TILE)};
    for (int r = 0; r < f.rows; r++) {
        f.at[r] = csr_start(A, i * TILE + r);
        f.end[r] = csr_start(A, i * TILE + r + 1);
    }
    return f;
}

// Returns the tile column of the next tile; -1 after the last.
static int32_t front_next(const struct csr_dev *A, const struct front *f)
{
    int32_t next = INT32_MAX;
    for (int r = 0; r < f->rows; r++)
        if (f->at[r] < f->end[r] && A->idx[f->at[r]] / TILE < next) next = A->idx[f->at[r]] / TILE;
    return next == INT32_MAX ? -1 : next;
}

// Moves row r behind tile column `col`. Returns the nonzeros of the row in the tile.
static int front_skip(const struct csr_dev *A, struct front *f, int r, int32_t col)
{
    int64_t from = f->at[r];
    while (f->at[r] < f->end[r] && A->idx[f->at[r]] / TILE == col) f->at[r]++;
    return (int)(f->at[r] - from);
}

static int64_t count_tiles(const struct csr_dev *A, int64_t i)
{
    struct front f = front_start(A, i);
    int64_t count = 0;
    for (int32_t col; (col = front_next(A, &f)) >= 0; count++)
        for (int r = 0; r < f.rows; r++) front_skip(A, &f, r, col);
    return count;
}

static void fill_tile_row(const struct csr_dev *A, struct tile16 *T, int64_t i)
{
    struct front f = front_start(A, i);
    int64_t q = csr_start(A, i * TILE); // tile rows are stored in the order of rows
    for (int64_t t = T->ptr[i]; t < T->ptr[i + 1]; t++) {
        int32_t col = front_next(A, &f);
        uint32_t used = 0;
        T->col[t] = col;
        T->start[t] = q;
        for (int r = 0; r < TILE; r++) {
            unsigned mask = 0;
            int64_t p = f.at[r];
            T->row_ptr[t * TILE + r] = (uint8_t)(q - T->start[t]);
            for (int left = r < f.rows ? front_skip(A, &f, r, col) : 0; left > 0; left--) {
                unsigned j = (unsigned)(A->idx[p] % TILE);
                mask |= 1u << j;
                T->idx[q] = (uint8_t)((unsigned)r << 4 | j);
                type_store(T->type, T->val, q++, type_load(A->type, A->val, p++));
            }
            T->mask[t * TILE + r] = (uint16_t)mask;
            if (mask) used |= mask | 1u << (TILE + r);
        }
        T->used[t] = used;
    }
}

static int make(struct device *d, const struct sparse *from, const double *opt, struct sparse *out)
{
    (void)opt;
    const struct csr_dev *A = csr_of(from);
    struct tile16 *T = (struct tile16 *)out;
    T->tile_m = tile_count(A->m);
    T->tile_n = tile_count(A->n);
    int err = device_alloc(d, (int64_t)T->tile_m + 1, sizeof *T->ptr, (void **)&T->ptr);
    if (err) return err;
    T->ptr[0] = 0;
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = 0; i < T->tile_m; i++) T->ptr[i + 1] = count_tiles(A, i);
    for (int64_t i = 0; i < T->tile_m; i++) T->ptr[i + 1] += T->ptr[i];
    T->tiles = T->ptr[T->tile_m];
    err = sparse_alloc(d, out);
    if (err) return err;
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = 0; i < T->tile_m; i++) fill_tile_row(A, T, i);
    T->start[T->tiles] = T->nnz;
    return OK;
}

static void describe(const struct sparse *X, struct algo_stats *f)
{
    const struct tile16 *A = tile16_of(X);
    algo_stats_number(f, "tiles", (double)A->tiles);
    algo_stats_number(f, "nnz_per_tile", A->tiles ? (double)A->nnz / (double)A->tiles : 0);
}

const struct format format_tile16 = {
    .name = "tile16",
    .about = "sparse 16 x 16 tiles by tile rows, each a small CSR with 8-bit indices and masks",
    .size = sizeof(struct tile16),
    .from = &format_csr,
    .arrays = arrays,
    .make = make,
    .describe = describe,
};
