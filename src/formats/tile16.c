#include "formats/tile16.h"

#include <assert.h>

static int32_t tile_count(int32_t n) { return (int32_t)(((int64_t)n + TILE - 1) / TILE); }

// The 16 rows of a tile row, read side by side: each tile takes from all of them what is in its
// columns.
struct front {
    int rows;
    int64_t at[TILE], end[TILE];
};

static struct front front_start(const struct csr *A, int64_t i)
{
    struct front f = {.rows = (int)min64(TILE, A->m - i * TILE)};
    for (int r = 0; r < f.rows; r++) {
        f.at[r] = A->ptr[i * TILE + r];
        f.end[r] = A->ptr[i * TILE + r + 1];
    }
    return f;
}

// The tile column that comes next, -1 after the last one.
static int32_t front_next(const struct csr *A, const struct front *f)
{
    int32_t next = INT32_MAX;
    for (int r = 0; r < f->rows; r++)
        if (f->at[r] < f->end[r] && A->idx[f->at[r]] / TILE < next) next = A->idx[f->at[r]] / TILE;
    return next == INT32_MAX ? -1 : next;
}

// Moves row r past tile column `col`; returns the nonzeros it has there.
static int front_skip(const struct csr *A, struct front *f, int r, int32_t col)
{
    int64_t from = f->at[r];
    while (f->at[r] < f->end[r] && A->idx[f->at[r]] / TILE == col) f->at[r]++;
    return (int)(f->at[r] - from);
}

static int64_t count_tiles(const struct csr *A, int64_t i)
{
    struct front f = front_start(A, i);
    int64_t count = 0;
    for (int32_t col; (col = front_next(A, &f)) >= 0; count++)
        for (int r = 0; r < f.rows; r++) front_skip(A, &f, r, col);
    return count;
}

static void fill_tile_row(const struct csr *A, struct tile16 *T, int64_t i)
{
    struct front f = front_start(A, i);
    int64_t q = A->ptr[i * TILE]; // tile rows follow each other as rows do
    for (int64_t t = T->ptr[i]; t < T->ptr[i + 1]; t++) {
        int32_t col = front_next(A, &f);
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
                T->val[q++] = A->val[p++];
            }
            T->mask[t * TILE + r] = (uint16_t)mask;
        }
    }
}

int tile16_from_csr(const struct csr *A, struct tile16 *out)
{
    struct tile16 T = {.m = A->m, .n = A->n, .nnz = A->nnz};
    T.tile_m = tile_count(A->m);
    T.tile_n = tile_count(A->n);
    int err = ERR_MEMORY;
    T.ptr = mem_alloc((int64_t)T.tile_m + 1, sizeof *T.ptr);
    if (!T.ptr) goto done;
    T.ptr[0] = 0;
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = 0; i < T.tile_m; i++) T.ptr[i + 1] = count_tiles(A, i);
    for (int64_t i = 0; i < T.tile_m; i++) T.ptr[i + 1] += T.ptr[i];
    T.tiles = T.ptr[T.tile_m];

    T.col = mem_alloc(T.tiles, sizeof *T.col);
    T.start = mem_alloc(T.tiles + 1, sizeof *T.start);
    T.row_ptr = mem_alloc(T.tiles, TILE * sizeof *T.row_ptr);
    T.mask = mem_alloc(T.tiles, TILE * sizeof *T.mask);
    T.idx = mem_alloc(T.nnz, sizeof *T.idx);
    T.val = mem_alloc(T.nnz, sizeof *T.val);
    if (!T.col || !T.start || !T.row_ptr || !T.mask || !T.idx || !T.val) goto done;
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = 0; i < T.tile_m; i++) fill_tile_row(A, &T, i);
    T.start[T.tiles] = T.nnz;
    *out = T;
    T = (struct tile16){0};
    err = OK;
done:
    tile16_free(&T);
    return err;
}

// Nonzeros in row r of tile t.
static int row_length(const struct tile16 *A, int64_t t, int r)
{
    int64_t end = r + 1 < TILE ? A->row_ptr[t * TILE + r + 1] : A->start[t + 1] - A->start[t];
    return (int)(end - A->row_ptr[t * TILE + r]);
}

int tile16_to_csr(const struct tile16 *A, struct csr *out)
{
    assert(!tile16_check(A));
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
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = 0; i < A->m; i++) {
        int64_t p = C.ptr[i];
        int r = (int)(i % TILE);
        for (int64_t t = A->ptr[i / TILE]; t < A->ptr[i / TILE + 1]; t++) {
            int64_t q = A->start[t] + A->row_ptr[t * TILE + r];
            for (int left = row_length(A, t, r); left > 0; left--, p++, q++) {
                C.idx[p] = A->col[t] * TILE + A->idx[q] % TILE;
                C.val[p] = A->val[q];
            }
        }
    }
    *out = C;
    return OK;
}

void tile16_free(struct tile16 *A)
{
    mem_free(A->ptr);
    mem_free(A->col);
    mem_free(A->start);
    mem_free(A->row_ptr);
    mem_free(A->mask);
    mem_free(A->idx);
    mem_free(A->val);
    *A = (struct tile16){0};
}

int64_t tile16_bytes(const struct tile16 *A, size_t value_bytes)
{
    return ((int64_t)A->tile_m + 1) * 8 + (A->tiles + 1) * 8 + A->tiles * (4 + TILE + 2 * TILE) +
           A->nnz * (1 + (int64_t)value_bytes);
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

// Tile t of tile row i: masks, row pointers and indices say the same.
static const char *check_tile(const struct tile16 *A, int64_t i, int64_t t)
{
    int64_t q = A->start[t];
    for (int r = 0; r < TILE; r++) {
        unsigned mask = A->mask[t * TILE + r];
        if (A->row_ptr[t * TILE + r] != q - A->start[t]) return "row_ptr is not what masks say";
        if (mask && i * TILE + r >= A->m) return "nonzeros below the last row";
        for (int j = 0; j < TILE; j++) {
            if (!(mask >> j & 1)) continue;
            if ((int64_t)A->col[t] * TILE + j >= A->n) return "column outside the matrix";
            if (q == A->start[t + 1]) return "masks have more bits than the tile nonzeros";
            if (A->idx[q++] != (r << 4 | j)) return "an index is not what the mask says";
        }
    }
    return q == A->start[t + 1] ? NULL : "masks have fewer bits than the tile nonzeros";
}

const char *tile16_check(const struct tile16 *A)
{
    const char *broken = check_structure(A);
    for (int64_t i = 0; i < A->tile_m && !broken; i++)
        for (int64_t t = A->ptr[i]; t < A->ptr[i + 1] && !broken; t++) broken = check_tile(A, i, t);
    return broken;
}

int tile16_columns_make(const struct tile16 *A, struct tile16_columns *out)
{
    struct tile16_columns C = {0};
    int64_t *next = mem_zero_alloc((int64_t)A->tile_n + 1, sizeof *next);
    int err = ERR_MEMORY;
    C.ptr = mem_alloc((int64_t)A->tile_n + 1, sizeof *C.ptr);
    C.row = mem_alloc(A->tiles, sizeof *C.row);
    C.tile = mem_alloc(A->tiles, sizeof *C.tile);
    if (!next || !C.ptr || !C.row || !C.tile) goto done;
    for (int64_t t = 0; t < A->tiles; t++) next[A->col[t]]++;
    C.ptr[0] = 0;
    for (int64_t j = 0; j < A->tile_n; j++) {
        C.ptr[j + 1] = C.ptr[j] + next[j];
        next[j] = C.ptr[j];
    }
    for (int32_t i = 0; i < A->tile_m; i++)
        for (int64_t t = A->ptr[i]; t < A->ptr[i + 1]; t++) {
            int64_t q = next[A->col[t]]++;
            C.row[q] = i;
            C.tile[q] = t;
        }
    *out = C;
    C = (struct tile16_columns){0};
    err = OK;
done:
    mem_free(next);
    tile16_columns_free(&C);
    return err;
}

void tile16_columns_free(struct tile16_columns *C)
{
    mem_free(C->ptr);
    mem_free(C->row);
    mem_free(C->tile);
    *C = (struct tile16_columns){0};
}
