#include "formats/tile16.h"

#include <assert.h>

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

    struct array list[ARRAYS_MAX];
    int count = arrays(out, list);
    for (int x = 1; x < count && !err; x++)
        err = device_alloc(d, list[x].count, list[x].size, list[x].data);
    if (err) return err;
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = 0; i < T->tile_m; i++) fill_tile_row(A, T, i);
    T->start[T->tiles] = T->nnz;
    return OK;
}

// Returns the nonzeros of row r of tile t.
static int row_length(const struct tile16 *A, int64_t t, int r)
{
    int64_t end = r + 1 < TILE ? A->row_ptr[t * TILE + r + 1] : A->start[t + 1] - A->start[t];
    return (int)(end - A->row_ptr[t * TILE + r]);
}

static int to_csr(const struct sparse *X, struct csr *out)
{
    const struct tile16 *A = tile16_of(X);
    struct csr C;
    if (csr_alloc(&C, A->m, A->n, A->nnz)) return ERR_MEMORY;
    C.ptr[0] = 0;
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = 0; i < A->m; i++) {
        int64_t length = 0;
        for (int64_t t = A->ptr[i / TILE]; t < A->ptr[i / TILE + 1]; t++)
            length += row_length(A, t, (int)(i % TILE));
        C.ptr[i + 1] = length;
    }
    for (int64_t i = 0; i < A->m; i++) C.ptr[i + 1] += C.ptr[i];
    assert(C.ptr[C.m] == C.nnz);
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = 0; i < A->m; i++) {
        int64_t p = C.ptr[i];
        int r = (int)(i % TILE);
        for (int64_t t = A->ptr[i / TILE]; t < A->ptr[i / TILE + 1]; t++) {
            int64_t q = A->start[t] + A->row_ptr[t * TILE + r];
            for (int left = row_length(A, t, r); left > 0; left--, p++, q++) {
                C.idx[p] = A->col[t] * TILE + A->idx[q] % TILE;
                C.val[p] = type_load(A->type, A->val, q);
            }
        }
    }
    *out = C;
    return OK;
}

static const char *check_structure(const struct tile16 *A)
{
    if (A->m < 0 || A->n < 0 || A->nnz < 0 || A->tiles < 0) return "negative size";
    if (A->tile_m != tile_count(A->m)) return "tile rows do not cover m";
    if (A->tile_n != tile_count(A->n)) return "tile columns do not cover n";
    if (!A->ptr || !A->col || !A->start || !A->row_ptr || !A->mask || !A->idx || !A->val)
        return "missing array";
    if (A->ptr[0] != 0) return "ptr[0] is not 0";
    if (A->ptr[A->tile_m] != A->tiles) return "ptr[tile_m] is not tiles";
    for (int64_t i = 0; i < A->tile_m; i++)
        if (A->ptr[i] > A->ptr[i + 1] || A->ptr[i + 1] > A->tiles) return "ptr descends";
    if (A->start[0] != 0) return "start[0] is not 0";
    if (A->start[A->tiles] != A->nnz) return "start[tiles] is not nnz";
    for (int64_t t = 0; t < A->tiles; t++) {
        int64_t length = A->start[t + 1] - A->start[t];
        if (length < 0 || A->start[t + 1] > A->nnz) return "start descends";
        if (length > TILE * TILE) return "a tile has more than 256 nonzeros";
        if (A->col[t] < 0 || A->col[t] >= A->tile_n) return "tile column outside the matrix";
    }
    for (int64_t i = 0; i < A->tile_m; i++)
        for (int64_t t = A->ptr[i] + 1; t < A->ptr[i + 1]; t++)
            if (A->col[t - 1] >= A->col[t]) return "tile columns not ascending";
    return NULL;
}

// Checks that masks, row pointers and indices of tile t, in tile row i, agree.
static const char *check_tile(const struct tile16 *A, int64_t i, int64_t t)
{
    int64_t q = A->start[t];
    uint32_t used = 0;
    for (int r = 0; r < TILE; r++) {
        unsigned mask = A->mask[t * TILE + r];
        if (mask) used |= mask | 1u << (TILE + r);
        if (A->row_ptr[t * TILE + r] != q - A->start[t]) return "row_ptr and masks differ";
        if (mask && i * TILE + r >= A->m) return "nonzeros below the last row";
        for (int j = 0; j < TILE; j++) {
            if (!(mask >> j & 1)) continue;
            if ((int64_t)A->col[t] * TILE + j >= A->n) return "column outside the matrix";
            if (q == A->start[t + 1]) return "masks have more bits than the tile nonzeros";
            if (A->idx[q++] != (r << 4 | j)) return "an index and a mask differ";
        }
    }
    if (A->used && A->used[t] != used) return "used and masks differ";
    return q == A->start[t + 1] ? NULL : "masks have fewer bits than the tile nonzeros";
}

static const char *check(const struct sparse *X)
{
    const struct tile16 *A = tile16_of(X);
    const char *broken = check_structure(A);
    for (int64_t i = 0; i < A->tile_m && !broken; i++)
        for (int64_t t = A->ptr[i]; t < A->ptr[i + 1] && !broken; t++) broken = check_tile(A, i, t);
    return broken;
}

static void describe(const struct sparse *X, struct figures *f)
{
    const struct tile16 *A = tile16_of(X);
    figures_number(f, "tiles", (double)A->tiles);
    figures_number(f, "nnz_per_tile", A->tiles ? (double)A->nnz / (double)A->tiles : 0);
}

const struct format format_tile16 = {
    .name = "tile16",
    .about = "sparse 16 x 16 tiles by tile rows, each a small CSR with 8-bit indices and masks",
    .size = sizeof(struct tile16),
    .from = &format_csr,
    .arrays = arrays,
    .make = make,
    .check = check,
    .to_csr = to_csr,
    .describe = describe,
};
