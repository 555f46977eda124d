// check() of the format tiled.
#include "formats/tiled_plan.h"

#include <string.h>

static const char *check_sizes(const struct tiled *A)
{
    if (A->m < 0 || A->n < 0 || A->nnz < 0 || A->segments < 0 || A->cuts < 0 || A->parts < 0 ||
        A->stages < 0 || A->mapped < 0 || A->stored < 0)
        return "negative size";
    if (A->rows < SLICE || A->rows % SLICE) return "a panel is not whole slices";
    if (A->stage < 1 || A->stage > UINT16_MAX) return "a stage has no 16-bit places";
    if (A->panels != (A->segments + A->rows - 1) / A->rows) return "panels do not cover segments";
    if (!A->panel || !A->map_ptr || !A->map || !A->slice || !A->idx || !A->val)
        return "missing array";
    if (!A->to != (!A->cuts && !A->reordered)) return "`to` is missing, or not needed";
    if (!A->to && (A->segments != A->m || A->order)) return "segments are not the rows";
    if (A->cuts && (!A->cut_row || !A->cut_part)) return "missing array";
    return NULL;
}

// Returns true if the starts ascend from 0 to `last`.
static bool ascend(const int64_t *start, int64_t count, int64_t last)
{
    if (start[0] != 0 || start[count] != last) return false;
    for (int64_t x = 0; x < count; x++)
        if (start[x] > start[x + 1] || start[x + 1] > last) return false;
    return true;
}

static const char *check_starts(const struct tiled *A)
{
    int64_t slices = tiled_slices(A);
    if (!ascend(A->panel, A->panels, A->stages)) return "stages do not ascend from panel to panel";
    if (!ascend(A->map_ptr, A->stages, A->mapped)) return "map_ptr does not ascend to mapped";
    if (!ascend(A->slice, slices, A->stored)) return "slices do not ascend to stored";
    for (int64_t x = 0; x < slices; x++)
        if (A->slice[x] % SLICE) return "a slice is not whole columns";
    return NULL;
}

static const char *check_map(const struct tiled *A)
{
    for (int64_t i = 0; i < A->panels; i++) {
        int32_t last = -1;
        for (int64_t s = A->panel[i]; s < A->panel[i + 1]; s++) {
            int64_t count = A->map_ptr[s + 1] - A->map_ptr[s];
            if (count < 1 || count > A->stage) return "a stage has no columns, or too many";
            if (count < A->stage && s + 1 < A->panel[i + 1])
                return "a stage before the last is not full";
            for (int64_t q = A->map_ptr[s]; q < A->map_ptr[s + 1]; q++) {
                if (A->map[q] < 0 || A->map[q] >= A->n) return "column outside the matrix";
                if (A->map[q] <= last) return "columns of a panel not ascending";
                last = A->map[q];
            }
        }
    }
    return NULL;
}

// Checks a lane of a slice in a stage of `count` columns. Marks the columns with entries in `used`,
// and sets *length to the number of entries.
static const char *check_lane(const struct tiled *A, int64_t slice, int64_t lane, int64_t count,
                              bool inside, uint8_t *used, int64_t *length)
{
    int32_t last = -1;
    *length = 0;
    for (int64_t q = A->slice[slice] + lane; q < A->slice[slice + 1]; q += SLICE) {
        int32_t place = A->idx[q];
        if (place == A->stage) {
            last = place;
            if (!(type_load(A->type, A->val, q) == 0)) return "padding value is not 0";
            continue;
        }
        if (last == A->stage) return "entry after padding";
        if (!inside) return "entries below the last segment";
        if (place >= count) return "place outside the stage";
        if (place <= last) return "places not ascending";
        last = place;
        used[place] = 1;
        ++*length;
    }
    return NULL;
}

static const char *check_stage(const struct tiled *A, int64_t panel, int64_t s, int64_t *entries)
{
    static _Thread_local uint8_t used[UINT16_MAX];
    int64_t warps = A->rows / SLICE, count = A->map_ptr[s + 1] - A->map_ptr[s];
    memset(used, 0, (size_t)count);
    for (int64_t w = 0; w < warps; w++) {
        int64_t slice = s * warps + w, longest = 0;
        for (int64_t lane = 0; lane < SLICE; lane++) {
            int64_t x = panel * A->rows + w * SLICE + lane, length;
            const char *broken = check_lane(A, slice, lane, count, x < A->segments, used, &length);
            if (broken) return broken;
            longest = max64(longest, length);
            *entries += length;
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
static const char *check_places(const struct tiled *A, uint8_t *marks)
{
    if (A->cuts && !ascend(A->cut_part, A->cuts, A->parts))
        return "cut_part does not ascend to parts";
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

const char *tiled_check(const struct sparse *X)
{
    const struct tiled *A = tiled_of(X);
    const char *broken = check_sizes(A);
    int64_t entries = 0;
    if (!broken) broken = check_starts(A);
    if (!broken) broken = check_map(A);
    for (int64_t i = 0; i < A->panels && !broken; i++)
        for (int64_t s = A->panel[i]; s < A->panel[i + 1] && !broken; s++)
            broken = check_stage(A, i, s, &entries);
    if (!broken && entries != A->nnz) broken = "nnz is not the number of entries";
    if (broken || !A->to) return broken;
    uint8_t *marks = mem_zero_alloc(A->m + A->parts, 1);
    broken = marks ? check_places(A, marks) : "no memory for the check";
    mem_free(marks);
    return broken;
}
