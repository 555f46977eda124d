// check() of the format aspt. The parts of rows cover the nonzeros. Tiles have heavy columns in the
// slots of the modulo mapping. The place of every nonzero in CSR is right.
#include "formats/aspt.h"

static const char *check_shape(const struct aspt *A)
{
    if (A->m < 0 || A->n < 0 || A->nnz < 0 || A->tiles < 0) return "negative size";
    if (A->panel < 1 || A->width < 1 || A->threshold < 1) return "a parameter below 1";
    if (A->least < 1 || A->least > A->width) return "least is not from 1 to width";
    if (A->panels != ((int64_t)A->m + A->panel - 1) / A->panel) return "panels do not cover m";
    if (!A->panel_ptr || !A->tile_row_ptr || !A->map_list || !A->idx || !A->val || !A->place)
        return "missing array";
    if (A->panel_ptr[0] != 0) return "panel_ptr[0] is not 0";
    if (A->panel_ptr[A->panels] != A->tiles + A->panels)
        return "panel_ptr[panels] is not tiles + panels";
    for (int64_t b = 0; b < A->panels; b++) {
        if (A->panel_ptr[b] >= A->panel_ptr[b + 1]) return "a panel without a light part";
        if (A->panel_ptr[b + 1] > A->tiles + A->panels) return "panel_ptr descends";
    }
    return NULL;
}

static const char *check_starts(const struct aspt *A)
{
    int64_t last = (A->tiles + A->panels) * A->panel;
    if (A->tile_row_ptr[0] != 0) return "tile_row_ptr[0] is not 0";
    if (A->tile_row_ptr[last] != A->nnz) return "tile_row_ptr does not end with nnz";
    for (int64_t x = 0; x < last; x++)
        if (A->tile_row_ptr[x] > A->tile_row_ptr[x + 1] || A->tile_row_ptr[x + 1] > A->nnz)
            return "tile_row_ptr descends";
    return NULL;
}

// Returns the starts of the parts of row r of panel b, and sets *parts to their number.
static const int64_t *parts_of(const struct aspt *A, int64_t b, int64_t r, int64_t *parts)
{
    *parts = A->panel_ptr[b + 1] - A->panel_ptr[b];
    return A->tile_row_ptr + A->panel_ptr[b] * A->panel + r * *parts;
}

// Returns how many of the ascending columns idx[begin] to idx[end - 1] are below j.
static int64_t count_below(const int32_t *idx, int64_t begin, int64_t end, int64_t j)
{
    int64_t low = begin, high = end;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (idx[middle] < j) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low - begin;
}

// Returns how many columns of a row are below j.
static int64_t row_below(const struct aspt *A, const int64_t *at, int64_t parts, int64_t j)
{
    int64_t count = 0;
    for (int64_t t = 0; t < parts; t++) count += count_below(A->idx, at[t], at[t + 1], j);
    return count;
}

static const char *check_row(const struct aspt *A, int64_t b, int64_t r)
{
    int64_t parts, i = b * A->panel + r;
    const int64_t *at = parts_of(A, b, r, &parts);
    const int32_t *map = A->map_list + (A->panel_ptr[b] - b) * A->width;
    if (i >= A->m && at[0] != at[parts]) return "nonzeros below the last row";
    for (int64_t t = 0; t < parts; t++)
        for (int64_t q = at[t]; q < at[t + 1]; q++) {
            int32_t j = A->idx[q];
            if (j < 0 || j >= A->n) return "column outside the matrix";
            if (q > at[t] && A->idx[q - 1] >= j) return "columns of a part not ascending";
            if (t < parts - 1 && map[t * A->width + j % A->width] != j)
                return "a column in a tile is not on its list";
        }
    for (int64_t q = at[0]; q < at[parts]; q++) {
        int64_t before = row_below(A, at, parts, A->idx[q]);
        if (row_below(A, at, parts, (int64_t)A->idx[q] + 1) != before + 1)
            return "a column twice in a row";
        if (A->place[q] != before) return "a place is not that of its column in CSR";
    }
    return NULL;
}

// Checks tile t of panel b: enough columns, each with enough nonzeros and in its slot.
static const char *check_tile(const struct aspt *A, int64_t b, int64_t t)
{
    const int32_t *map = A->map_list + (A->panel_ptr[b] - b + t) * A->width;
    int32_t columns = 0;
    for (int32_t s = 0; s < A->width; s++) {
        int64_t nonzeros = 0, parts;
        int32_t j = map[s];
        if (j == -1) continue;
        if (j < 0 || j >= A->n) return "a tile's column outside the matrix";
        if (j % A->width != s) return "a column in the slot of another";
        for (int64_t r = 0; r < A->panel; r++) {
            const int64_t *at = parts_of(A, b, r, &parts) + t;
            nonzeros += count_below(A->idx, at[0], at[1], (int64_t)j + 1) -
                        count_below(A->idx, at[0], at[1], j);
        }
        if (nonzeros < A->threshold) return "a light column in a tile";
        columns++;
    }
    return columns < A->least ? "a tile with too few columns" : NULL;
}

static const char *check_sums(const struct aspt *A)
{
    int64_t tiled = 0, columns = 0;
    for (int64_t b = 0; b < A->panels; b++)
        for (int64_t r = 0; r < A->panel; r++) {
            int64_t parts;
            const int64_t *at = parts_of(A, b, r, &parts);
            tiled += at[parts - 1] - at[0];
        }
    for (int64_t s = 0; s < A->tiles * A->width; s++) columns += A->map_list[s] != -1;
    if (A->tiled != tiled) return "tiled is not the number of nonzeros in tiles";
    return A->tile_columns == columns ? NULL : "tile_columns is not the number of columns in tiles";
}

const char *aspt_check(const struct sparse *X)
{
    const struct aspt *A = aspt_of(X);
    const char *broken = check_shape(A);
    if (!broken) broken = check_starts(A);
    for (int64_t b = 0; b < A->panels && !broken; b++) {
        for (int64_t r = 0; r < A->panel && !broken; r++) broken = check_row(A, b, r);
        for (int64_t t = 0; t < A->panel_ptr[b + 1] - A->panel_ptr[b] - 1 && !broken; t++)
            broken = check_tile(A, b, t);
    }
    return broken ? broken : check_sums(A);
}
