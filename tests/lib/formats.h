// Readers of the formats for tests: format_to_csr() makes CSR of a matrix in host memory, and
// format_broken() names a broken invariant of its arrays. Both read the arrays as the header of the
// format describes them, and share no code with the makers.
#ifndef TEST_FORMATS_H
#define TEST_FORMATS_H

#include <string.h>

#include "exact/shapes.h"
#include "formats/aspt.h"
#include "formats/coo.h"
#include "formats/coocols.h"
#include "formats/csb.h"
#include "formats/csc.h"
#include "formats/csr.h"
#include "formats/dcsc.h"
#include "formats/sellp.h"
#include "formats/tile16.h"
#include "formats/tile8.h"
#include "formats/tiled.h"
#include "test.h"

// The entries of X as triplets. `wrong`: an entry was outside the matrix, or there were too many.
struct entries {
    const struct sparse *X;
    struct coo T;
    bool wrong;
};

// Adds the entry (i, j) with value q of `val` as triplet number `at`, which has row -1 before.
static void put_at(struct entries *e, int64_t at, int64_t i, int64_t j, const void *val, int64_t q)
{
    const struct sparse *X = e->X;
    if (i < 0 || i >= X->m || j < 0 || j >= X->n || at < 0 || at >= X->nnz || e->T.row[at] != -1) {
        e->wrong = true;
        return;
    }
    e->T.row[at] = (int32_t)i, e->T.col[at] = (int32_t)j;
    e->T.val[at] = type_load(X->type, val, q);
    e->T.nnz++;
}

static void put(struct entries *e, int64_t i, int64_t j, const void *val, int64_t q)
{
    put_at(e, e->T.nnz, i, j, val, q);
}

// Returns true if the starts ascend from 0 to `last`.
static bool ascend(const int64_t *start, int64_t count, int64_t last)
{
    if (start[0] != 0 || start[count] != last) return false;
    for (int64_t x = 0; x < count; x++)
        if (start[x] > start[x + 1] || start[x + 1] > last) return false;
    return true;
}

static void csr_entries(struct entries *e)
{
    const struct csr_dev *A = csr_of(e->X);
    for (int64_t i = 0; i < A->m; i++)
        for (int64_t p = csr_start(A, i); p < csr_start(A, i + 1); p++)
            put_at(e, p, i, A->idx[p], A->val, p);
}

static const char *starts_broken(const struct csr_dev *A, int64_t count)
{
    if (csr_start(A, 0) != 0 || csr_start(A, count) != A->nnz) return "ptr is not from 0 to nnz";
    for (int64_t i = 0; i < count; i++)
        if (csr_start(A, i) > csr_start(A, i + 1)) return "ptr descends";
    return NULL;
}

static const char *csr_broken(const struct sparse *X) { return starts_broken(csr_of(X), X->m); }

// csc has the fields of csr.
static void csc_entries(struct entries *e)
{
    const struct csr_dev *A = csr_of(e->X);
    for (int64_t j = 0; j < A->n; j++)
        for (int64_t p = csr_start(A, j); p < csr_start(A, j + 1); p++)
            put(e, A->idx[p], j, A->val, p);
}

static const char *csc_broken(const struct sparse *X)
{
    const struct csr_dev *A = csr_of(X);
    const char *broken = starts_broken(A, A->n);
    for (int64_t j = 0; j < A->n && !broken; j++)
        for (int64_t p = csr_start(A, j) + 1; p < csr_start(A, j + 1); p++)
            if (A->idx[p - 1] >= A->idx[p]) broken = "rows not ascending";
    return broken;
}

static void coo_entries(struct entries *e)
{
    const struct coo_dev *A = coo_of(e->X);
    for (int64_t p = 0; p < A->nnz; p++) put_at(e, p, A->row[p], A->col[p], A->val, p);
}

static void coocols_entries(struct entries *e)
{
    const struct coocols *A = coocols_of(e->X);
    for (int64_t p = 0; p < A->nnz; p++) put_at(e, A->place[p], A->row[p], A->col[p], A->val, p);
}

static const char *coocols_broken(const struct sparse *X)
{
    const struct coocols *A = coocols_of(X);
    for (int64_t p = 1; p < A->nnz; p++)
        if (A->col[p - 1] > A->col[p] || (A->col[p - 1] == A->col[p] && A->row[p - 1] >= A->row[p]))
            return "not sorted by columns, then rows";
    return NULL;
}

static void sellp_entries(struct entries *e)
{
    const struct sellp *A = sellp_of(e->X);
    for (int64_t s = 0; s < A->slices; s++)
        for (int64_t q = A->ptr[s]; q < A->ptr[s + 1]; q++)
            if (A->idx[q] != -1)
                put(e, s * A->slice + (q - A->ptr[s]) % A->slice, A->idx[q], A->val, q);
}

// Checks a row, whose entries are `slice` places apart from q on. Sets *length to their number.
static const char *sellp_row_broken(const struct sellp *A, int64_t q, int64_t width,
                                    int64_t *length)
{
    for (int64_t j = *length = 0; j < width; j++, q += A->slice) {
        if (A->idx[q] == -1) {
            if (!(type_load(A->type, A->val, q) == 0)) return "padding value is not 0";
        } else if (j > *length) {
            return "entry after padding";
        } else if (j && A->idx[q - A->slice] >= A->idx[q]) {
            return "columns not ascending";
        } else {
            ++*length;
        }
    }
    return NULL;
}

static const char *sellp_broken(const struct sparse *X)
{
    const struct sellp *A = sellp_of(X);
    if (A->slices != ((int64_t)A->m + A->slice - 1) / A->slice) return "slices do not cover m";
    if (!ascend(A->ptr, A->slices, A->stored)) return "ptr does not ascend to stored";
    for (int64_t s = 0; s < A->slices; s++) {
        int64_t entries = A->ptr[s + 1] - A->ptr[s], width = entries / A->slice, longest = 0;
        if (entries % A->slice) return "a slice is not whole columns";
        for (int64_t r = 0; r < A->slice; r++) {
            int64_t length;
            const char *broken = sellp_row_broken(A, A->ptr[s] + r, width, &length);
            if (broken) return broken;
            longest = max64(longest, length);
        }
        if (width != (longest + A->pad - 1) / A->pad * A->pad) return "another width than needed";
    }
    return NULL;
}

static void csb_entries(struct entries *e)
{
    const struct csb *A = csb_of(e->X);
    for (int64_t b = 0; b < (int64_t)A->block_rows * A->block_cols; b++)
        for (int64_t p = A->ptr[b]; p < A->ptr[b + 1]; p++)
            put(e, b / A->block_cols * A->beta + csb_row(A->place[p]),
                b % A->block_cols * A->beta + csb_col(A->place[p]), A->val, p);
}

// Returns true if place a is before b in Morton order: the highest bit that differs decides.
static bool morton_before(uint32_t a, uint32_t b)
{
    uint32_t rows = (a ^ b) >> 16, cols = (a ^ b) & 0xffff;
    bool by_cols = rows < cols && rows < (rows ^ cols);
    return by_cols ? csb_col(a) < csb_col(b) : csb_row(a) < csb_row(b);
}

static const char *csb_broken(const struct sparse *X)
{
    const struct csb *A = csb_of(X);
    const int64_t blocks = (int64_t)A->block_rows * A->block_cols;
    if (A->beta & (A->beta - 1)) return "beta is not a power of two";
    if (A->block_rows != ((int64_t)A->m + A->beta - 1) / A->beta) return "blocks do not cover m";
    if (A->block_cols != ((int64_t)A->n + A->beta - 1) / A->beta) return "blocks do not cover n";
    if (!ascend(A->ptr, blocks, A->nnz)) return "ptr does not ascend to nnz";
    for (int64_t b = 0; b < blocks; b++)
        for (int64_t p = A->ptr[b]; p < A->ptr[b + 1]; p++) {
            if (csb_row(A->place[p]) >= A->beta || csb_col(A->place[p]) >= A->beta)
                return "entry outside the block";
            if (p > A->ptr[b] && !morton_before(A->place[p - 1], A->place[p]))
                return "not in Morton order";
        }
    return NULL;
}

static void dcsc_entries(struct entries *e)
{
    const struct dcsc *D = dcsc_of(e->X);
    for (int64_t x = 0; x < D->segments; x++)
        for (int64_t q = D->start[x]; q < D->start[x + 1]; q++)
            put(e, D->row[q], D->col[x], D->val, q);
}

static const char *dcsc_broken(const struct sparse *X)
{
    const struct dcsc *D = dcsc_of(X);
    if (D->panels != ((int64_t)D->m + D->panel - 1) / D->panel) return "panels do not cover m";
    if (!ascend(D->ptr, D->panels, D->segments)) return "ptr does not ascend to segments";
    if (!ascend(D->start, D->segments, D->nnz)) return "start does not ascend to nnz";
    for (int64_t s = 0; s < D->panels; s++)
        for (int64_t x = D->ptr[s]; x < D->ptr[s + 1]; x++) {
            if (D->start[x] == D->start[x + 1]) return "an empty segment";
            if (x > D->ptr[s] && D->col[x - 1] >= D->col[x]) return "columns not ascending";
            for (int64_t q = D->start[x]; q < D->start[x + 1]; q++) {
                if (D->row[q] / D->panel != s) return "row outside the panel";
                if (q > D->start[x] && D->row[q - 1] >= D->row[q]) return "rows not ascending";
            }
        }
    return NULL;
}

static void tile8_entries(struct entries *e)
{
    const struct tile8 *A = tile8_of(e->X);
    for (int64_t t = 0; t < A->tiles; t++)
        for (int64_t bit = 0, q = A->start[t]; bit < TILE8 * TILE8; bit++)
            if (A->mask[t] >> bit & 1)
                put(e, (int64_t)A->row[t] * TILE8 + bit / TILE8,
                    (int64_t)A->col[t] * TILE8 + bit % TILE8, A->val, q++);
}

static const char *tile8_broken(const struct sparse *X)
{
    const struct tile8 *A = tile8_of(X);
    if (A->tile_m != tile8_count(A->m)) return "tile rows do not cover m";
    if (A->tile_n != tile8_count(A->n)) return "tile columns do not cover n";
    if (!ascend(A->ptr, A->tile_m, A->tiles)) return "ptr does not ascend to tiles";
    if (!ascend(A->start, A->tiles, A->nnz)) return "start does not ascend to nnz";
    for (int64_t i = 0; i < A->tile_m; i++)
        for (int64_t t = A->ptr[i]; t < A->ptr[i + 1]; t++) {
            if (A->row[t] != i) return "row and ptr differ";
            if (t > A->ptr[i] && A->col[t - 1] >= A->col[t]) return "tile columns not ascending";
            if (A->start[t + 1] - A->start[t] != __builtin_popcountll(A->mask[t]))
                return "start and masks differ";
        }
    return NULL;
}

static void tile16_entries(struct entries *e)
{
    const struct tile16 *A = tile16_of(e->X);
    for (int64_t i = 0; i < A->tile_m; i++)
        for (int64_t t = A->ptr[i]; t < A->ptr[i + 1]; t++)
            for (int64_t q = A->start[t]; q < A->start[t + 1]; q++)
                put(e, i * TILE + A->idx[q] / TILE, (int64_t)A->col[t] * TILE + A->idx[q] % TILE,
                    A->val, q);
}

// Checks that masks, row pointers and indices of tile t agree.
static const char *tile16_tile_broken(const struct tile16 *A, int64_t t)
{
    int64_t q = A->start[t];
    uint32_t used = 0;
    for (int r = 0; r < TILE; r++) {
        unsigned mask = A->mask[t * TILE + r];
        if (mask) used |= mask | 1u << (TILE + r);
        if (A->row_ptr[t * TILE + r] != q - A->start[t]) return "row_ptr and masks differ";
        for (int j = 0; j < TILE; j++)
            if (mask >> j & 1 && (q == A->start[t + 1] || A->idx[q++] != (r << 4 | j)))
                return "an index and a mask differ";
    }
    if (A->used && A->used[t] != used) return "used and masks differ";
    return q == A->start[t + 1] ? NULL : "masks have fewer bits than the tile nonzeros";
}

static const char *tile16_broken(const struct sparse *X)
{
    const struct tile16 *A = tile16_of(X);
    if (A->tile_m != tile_count(A->m)) return "tile rows do not cover m";
    if (A->tile_n != tile_count(A->n)) return "tile columns do not cover n";
    if (!ascend(A->ptr, A->tile_m, A->tiles)) return "ptr does not ascend to tiles";
    if (!ascend(A->start, A->tiles, A->nnz)) return "start does not ascend to nnz";
    for (int64_t i = 0; i < A->tile_m; i++)
        for (int64_t t = A->ptr[i]; t < A->ptr[i + 1]; t++) {
            if (t > A->ptr[i] && A->col[t - 1] >= A->col[t]) return "tile columns not ascending";
            const char *broken = tile16_tile_broken(A, t);
            if (broken) return broken;
        }
    return NULL;
}

static const char *tilecols_broken(const struct sparse *X)
{
    const struct tilecols *C = tilecols_of(X);
    if (C->tile_n != tile_count(C->n)) return "tile columns do not cover n";
    if (C->ptr[0] != 0 || C->ptr[C->tile_n] != C->tiles) return "ptr is not from 0 to tiles";
    for (int32_t j = 0; j < C->tile_n; j++) {
        if (C->ptr[j] > C->ptr[j + 1]) return "ptr descends";
        for (int32_t q = C->ptr[j]; q < C->ptr[j + 1]; q++) {
            if (C->row[q] < 0 || C->row[q] >= tile_count(C->m)) return "row outside the matrix";
            if (C->tile[q] < 0 || C->tile[q] >= C->tiles) return "tile outside the matrix";
            if (!C->used[q]) return "an empty tile";
            if (q > C->ptr[j] && C->row[q - 1] >= C->row[q]) return "tile rows not ascending";
            if (q > C->ptr[j] && C->tile[q - 1] >= C->tile[q]) return "tiles not ascending";
        }
    }
    return NULL;
}

// Returns the row of the matrix that the entries of segment x belong to.
static int64_t tiled_row(const struct tiled *A, int64_t x)
{
    int64_t to = A->to ? A->to[x] : x;
    int32_t cut = 0;
    while (to < 0 && cut < A->cuts && A->cut_part[cut + 1] <= -1 - to) cut++;
    if (to < 0) to = cut < A->cuts ? A->cut_row[cut] : -1;
    return to >= 0 && A->order ? A->order[to] : to;
}

static void tiled_entries(struct entries *e)
{
    const struct tiled *A = tiled_of(e->X);
    for (int64_t x = 0; x < A->segments; x++) {
        const int64_t panel = x / A->rows, warp = x % A->rows / SLICE, row = tiled_row(A, x);
        for (int64_t s = A->panel[panel]; s < A->panel[panel + 1]; s++) {
            const int64_t *slice = A->slice + s * (A->rows / SLICE) + warp;
            for (int64_t q = slice[0] + x % SLICE; q < slice[1]; q += SLICE)
                if (A->idx[q] != A->stage)
                    put(e, row, A->map[A->map_ptr[s] + A->idx[q]], A->val, q);
        }
    }
}

// Checks that the columns of a panel ascend, and that only its last stage may be short.
static const char *tiled_panel_broken(const struct tiled *A, int64_t i)
{
    int32_t last = -1;
    for (int64_t s = A->panel[i]; s < A->panel[i + 1]; s++) {
        int64_t count = A->map_ptr[s + 1] - A->map_ptr[s];
        if (count < 1 || count > A->stage) return "a stage has no columns, or too many";
        if (count < A->stage && s + 1 < A->panel[i + 1]) return "a short stage before the last";
        for (int64_t q = A->map_ptr[s]; q < A->map_ptr[s + 1]; last = A->map[q++])
            if (A->map[q] <= last) return "columns of a panel not ascending";
    }
    return NULL;
}

// Checks a lane of a slice in a stage of `count` columns. Marks the columns with entries in `used`,
// and sets *length to the number of entries.
static const char *tiled_lane_broken(const struct tiled *A, int64_t slice, int64_t lane,
                                     int64_t count, uint8_t *used, int64_t *length)
{
    int32_t last = -1;
    *length = 0;
    for (int64_t q = A->slice[slice] + lane; q < A->slice[slice + 1]; q += SLICE) {
        int32_t place = A->idx[q];
        if (place == A->stage) {
            if (!(type_load(A->type, A->val, q) == 0)) return "padding value is not 0";
        } else {
            if (place >= count) return "place outside the stage";
            if (place <= last) return "places not ascending, or an entry after padding";
            used[place] = 1;
            ++*length;
        }
        last = place;
    }
    return NULL;
}

static const char *tiled_stage_broken(const struct tiled *A, int64_t s)
{
    static uint8_t used[UINT16_MAX];
    int64_t warps = A->rows / SLICE, count = A->map_ptr[s + 1] - A->map_ptr[s];
    memset(used, 0, (size_t)count);
    for (int64_t slice = s * warps; slice < (s + 1) * warps; slice++) {
        int64_t longest = 0, length;
        for (int64_t lane = 0; lane < SLICE; lane++) {
            const char *broken = tiled_lane_broken(A, slice, lane, count, used, &length);
            if (broken) return broken;
            longest = max64(longest, length);
        }
        if (A->slice[slice + 1] - A->slice[slice] != longest * SLICE)
            return "a slice is wider than its longest segment";
    }
    return memchr(used, 0, (size_t)count) ? "a column of a stage has no entries" : NULL;
}

// Sets mark i. Returns false if i is out of range or the mark was set before.
static bool mark(uint8_t *marks, int64_t count, int64_t i)
{
    if (i < 0 || i >= count || marks[i]) return false;
    marks[i] = 1;
    return true;
}

// Checks that each row of C and each part is the target of exactly one segment. `marks`: m + parts
// zeros.
static const char *tiled_places_broken(const struct tiled *A, uint8_t *marks)
{
    if (A->cuts && !ascend(A->cut_part, A->cuts, A->parts)) return "cut_part is not 0 to parts";
    for (int32_t c = 0; c < A->cuts; c++) {
        if (A->cut_part[c + 1] - A->cut_part[c] < 2) return "a cut row is one part";
        if (!mark(marks, A->m, A->cut_row[c])) return "a cut row is outside, or comes twice";
    }
    for (int64_t x = 0; x < A->segments; x++) {
        int64_t to = A->to[x];
        if (!(to >= 0 ? mark(marks, A->m, to) : mark(marks + A->m, A->parts, -1 - to)))
            return "a row or a part is outside, or comes twice";
    }
    if (memchr(marks, 0, (size_t)(A->m + A->parts))) return "a row or a part does not come";
    memset(marks, 0, (size_t)A->m);
    for (int64_t i = 0; i < A->m && A->order; i++)
        if (!mark(marks, A->m, A->order[i])) return "order is no permutation";
    return NULL;
}

static const char *tiled_broken(const struct sparse *X)
{
    const struct tiled *A = tiled_of(X);
    const char *broken = NULL;
    if (A->rows % SLICE) return "a panel is not whole slices";
    if (A->panels != (A->segments + A->rows - 1) / A->rows) return "panels do not cover segments";
    if (!A->to != (!A->cuts && !A->reordered)) return "`to` is missing, or not needed";
    if (!A->to && (A->segments != A->m || A->order)) return "segments are not the rows";
    if (!ascend(A->panel, A->panels, A->stages)) return "panel does not ascend to stages";
    if (!ascend(A->map_ptr, A->stages, A->mapped)) return "map_ptr does not ascend to mapped";
    if (!ascend(A->slice, tiled_slices(A), A->stored)) return "slice does not ascend to stored";
    for (int64_t i = 0; i < A->panels && !broken; i++) broken = tiled_panel_broken(A, i);
    for (int64_t s = 0; s < A->stages && !broken; s++) broken = tiled_stage_broken(A, s);
    if (broken || !A->to) return broken;
    uint8_t *marks = (uint8_t *)mem_zero_alloc(A->m + A->parts, 1);
    broken = marks ? tiled_places_broken(A, marks) : "no memory for the check";
    mem_free(marks);
    return broken;
}

// Returns the starts of the parts of row r of panel b, and sets *parts to their number.
static const int64_t *aspt_parts_of(const struct aspt *A, int64_t b, int64_t r, int64_t *parts)
{
    *parts = A->panel_ptr[b + 1] - A->panel_ptr[b];
    return A->tile_row_ptr + A->panel_ptr[b] * A->panel + r * *parts;
}

static void aspt_entries(struct entries *e)
{
    const struct aspt *A = aspt_of(e->X);
    for (int64_t i = 0, parts; i < (int64_t)A->panels * A->panel; i++) {
        const int64_t *at = aspt_parts_of(A, i / A->panel, i % A->panel, &parts);
        for (int64_t q = at[0]; q < at[parts]; q++)
            put_at(e, at[0] + A->place[q], i, A->idx[q], A->val, q);
    }
}

// Checks that the columns of each part of row r ascend, and those in tiles are in the slots.
static const char *aspt_row_broken(const struct aspt *A, int64_t b, int64_t r)
{
    int64_t parts;
    const int64_t *at = aspt_parts_of(A, b, r, &parts);
    const int32_t *map = A->map_list + (A->panel_ptr[b] - b) * A->width;
    for (int64_t t = 0; t < parts; t++)
        for (int64_t q = at[t]; q < at[t + 1]; q++) {
            int32_t j = A->idx[q];
            if (q > at[t] && A->idx[q - 1] >= j) return "columns of a part not ascending";
            if (t < parts - 1 && (j < 0 || map[t * A->width + j % A->width] != j))
                return "a column in a tile is not on its list";
        }
    return NULL;
}

// Checks tile t of panel b: enough columns, each with enough nonzeros and in its slot. Adds its
// columns and nonzeros to *columns and *tiled.
static const char *aspt_tile_broken(const struct aspt *A, int64_t b, int64_t t, int64_t *columns,
                                    int64_t *tiled)
{
    static int32_t nonzeros[4096]; // of each slot
    const int32_t *map = A->map_list + (A->panel_ptr[b] - b + t) * A->width;
    int32_t count = 0;
    memset(nonzeros, 0, sizeof nonzeros);
    for (int64_t r = 0, parts; r < A->panel; r++) {
        const int64_t *at = aspt_parts_of(A, b, r, &parts) + t;
        for (int64_t q = at[0]; q < at[1]; q++) nonzeros[A->idx[q] % A->width]++;
        *tiled += at[1] - at[0];
    }
    for (int32_t s = 0; s < A->width; s++) {
        if (map[s] == -1) continue;
        if (map[s] < 0 || map[s] % A->width != s) return "a column in the slot of another";
        if (nonzeros[s] < A->threshold) return "a light column in a tile";
        count++;
    }
    *columns += count;
    return count < A->least ? "a tile with too few columns" : NULL;
}

static const char *aspt_broken(const struct sparse *X)
{
    const struct aspt *A = aspt_of(X);
    const char *broken = NULL;
    int64_t tiled = 0, columns = 0;
    if (A->panels != ((int64_t)A->m + A->panel - 1) / A->panel) return "panels do not cover m";
    if (!ascend(A->panel_ptr, A->panels, A->tiles + A->panels))
        return "panel_ptr does not ascend to tiles + panels";
    if (!ascend(A->tile_row_ptr, (A->tiles + A->panels) * A->panel, A->nnz))
        return "tile_row_ptr does not ascend to nnz";
    for (int64_t b = 0; b < A->panels && !broken; b++) {
        int64_t tiles = A->panel_ptr[b + 1] - A->panel_ptr[b] - 1;
        if (tiles < 0) return "a panel without a light part";
        for (int64_t r = 0; r < A->panel && !broken; r++) broken = aspt_row_broken(A, b, r);
        for (int64_t t = 0; t < tiles && !broken; t++)
            broken = aspt_tile_broken(A, b, t, &columns, &tiled);
    }
    if (!broken && A->tiled != tiled) broken = "tiled is not the number of nonzeros in tiles";
    if (!broken && A->tile_columns != columns) broken = "tile_columns is not their number";
    return broken;
}

// `ordered`: the format stores the place of each entry in CSR, so triplets are in that order.
static const struct reader {
    const struct format *format;
    void (*entries)(struct entries *e); // NULL: a part of the matrix
    const char *(*broken)(const struct sparse *X);
    bool ordered;
} readers[] = {
    {&format_csr, csr_entries, csr_broken, true},
    {&format_coo, coo_entries, NULL, true},
    {&format_csc, csc_entries, csc_broken, false},
    {&format_coocols, coocols_entries, coocols_broken, true},
    {&format_sellp, sellp_entries, sellp_broken, false},
    {&format_csb, csb_entries, csb_broken, false},
    {&format_dcsc, dcsc_entries, dcsc_broken, false},
    {&format_tile8, tile8_entries, tile8_broken, false},
    {&format_tile16, tile16_entries, tile16_broken, false},
    {&format_tilecols, NULL, tilecols_broken, false},
    {&format_tiled, tiled_entries, tiled_broken, false},
    {&format_aspt, aspt_entries, aspt_broken, true},
};

// Returns the reader of a format; NULL for a format without an entry.
static const struct reader *reader_of(const struct format *format)
{
    for (int i = 0; i < (int)COUNT(readers); i++)
        if (readers[i].format == format) return &readers[i];
    return NULL;
}

static bool is_ordered(const struct coo *T)
{
    for (int64_t p = 1; p < T->nnz; p++)
        if (T->row[p - 1] > T->row[p] || (T->row[p - 1] == T->row[p] && T->col[p - 1] >= T->col[p]))
            return false;
    return true;
}

// Makes CSR of X. Returns what is wrong, or NULL.
static inline const char *format_to_csr(const struct sparse *X, struct csr *out)
{
    const struct reader *r = reader_of(X->format);
    struct entries e = {.X = X};
    const char *broken = NULL;
    if (entries_alloc(&e.T, X->m, X->n, X->nnz)) return "no memory";
    for (int64_t p = 0; p < X->nnz; p++) e.T.row[p] = -1;
    r->entries(&e);
    if (e.wrong || e.T.nnz != X->nnz)
        broken = "entries outside the matrix, too many or too few";
    else if (r->ordered && !is_ordered(&e.T))
        broken = "entries in another order than in CSR";
    else if (csr_from_coo(&e.T, out, NULL))
        broken = fail_text();
    coo_free(&e.T);
    return broken;
}

// Returns a broken invariant of X, or NULL.
static inline const char *format_broken(const struct sparse *X)
{
    const struct reader *r = reader_of(X->format);
    if (!r) return "no reader in tests/lib/formats.h";
    const char *broken = r->broken ? r->broken(X) : NULL;
    struct csr back = {0};
    if (broken || !r->entries) return broken;
    broken = format_to_csr(X, &back);
    csr_free(&back);
    return broken;
}

// Makes A in a format, on the device.
static inline struct sparse *sparse_of(struct device *d, const struct format *format,
                                       const struct csr *A, enum prec prec, const double *opt)
{
    struct sparse *csr = NULL, *X = NULL;
    int err = csr_place(d, A, prec, &csr);
    if (!err) err = sparse_make(d, format, csr, opt, &X);
    CHECK(!err, "%s", fail_text());
    sparse_free(d, csr);
    return X;
}

// Checks one of the `count` stats of X.
static inline void check_figure(const struct sparse *X, const char *name, double want, int count)
{
    struct algo_stats f = {0};
    X->format->describe(X, &f);
    const struct algo_stat *x = algo_stats_find(&f, name);
    CHECK(x && x->number == want, "%s is %g, not %g", name, x ? x->number : -1, want);
    CHECK(f.count == count, "%d stats", f.count);
}

#endif
