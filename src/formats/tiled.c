#include "formats/tiled.h"

#include <assert.h>

#include "formats/tiled_plan.h"

static const struct param params[] = {
    [TILED_ROWS] = {"rows", 256, 32, 512, true,
                    "rows of a panel, threads of a block; rounded up to whole warps"},
    [TILED_STAGE] = {"stage", 512, 1, 65535, true, "most columns of B in shared memory at a time"},
    [TILED_BALANCE] = {"balance", -1, -1, 1, true,
                       "split long rows: -1 if row lengths require, 0 never, 1 always"},
    [TILED_REORDER] = {"reorder", -1, -1, 1, true,
                       "sort rows by their patterns: -1 if the cost is lower, 0 never, 1 always"},
    [TILED_PERMUTE] = {"permute", 0, 0, 1, true, "leave the rows of C in sorted order"},
    [TILED_SLABS] = {"slabs", 0, 0, TILED_SLABS_MOST, true,
                     "slabs of C assumed for the number of blocks; 0: by k"},
    {0},
};

static int arrays(const struct sparse *X, struct array list[ARRAYS_MAX])
{
    struct tiled *A = (struct tiled *)X;
    bool moved = A->cuts || A->reordered;
    list[0] = (struct array){(void **)&A->panel, (int64_t)A->panels + 1, sizeof *A->panel};
    list[1] = (struct array){(void **)&A->map_ptr, A->stages + 1, sizeof *A->map_ptr};
    list[2] = (struct array){(void **)&A->map, A->mapped, sizeof *A->map};
    list[3] = (struct array){(void **)&A->slice, tiled_slices(A) + 1, sizeof *A->slice};
    list[4] = (struct array){(void **)&A->idx, A->stored, sizeof *A->idx};
    list[5] = (struct array){&A->val, A->stored, type_bytes(A->type)};
    list[6] = (struct array){(void **)&A->to, moved ? A->segments : 0, sizeof *A->to};
    list[7] = (struct array){(void **)&A->cut_row, A->cuts, sizeof *A->cut_row};
    list[8] = (struct array){(void **)&A->cut_part, A->cuts ? (int64_t)A->cuts + 1 : 0,
                             sizeof *A->cut_part};
    list[9] = (struct array){(void **)&A->order, A->order ? A->m : 0, sizeof *A->order};
    return 10;
}

int64_t tiled_walk_next(struct tiled_walk *w)
{
    const struct tiled *A = w->A;
    while (w->q >= w->end || A->idx[w->q] >= A->stage) {
        if (++w->stage >= A->panel[w->x / A->rows + 1]) return -1;
        int64_t slice = w->stage * (A->rows / SLICE) + w->x % A->rows / SLICE;
        w->q = A->slice[slice] + w->x % SLICE;
        w->end = A->slice[slice + 1];
    }
    int64_t q = w->q;
    w->col = A->map[A->map_ptr[w->stage] + A->idx[q]];
    w->q += SLICE;
    return q;
}

struct tiled_walk tiled_walk_start(const struct tiled *A, int64_t x)
{
    return (struct tiled_walk){.A = A, .x = x, .stage = A->panel[x / A->rows] - 1};
}

static int64_t count_entries(const struct tiled *A, int64_t x)
{
    struct tiled_walk w = tiled_walk_start(A, x);
    int64_t count = 0;
    while (tiled_walk_next(&w) >= 0) count++;
    return count;
}

// Returns the row of the matrix that is row i of C.
static int32_t row_of(const struct tiled *A, int64_t i)
{
    return A->order ? A->order[i] : (int32_t)i;
}

// Copies the entries of segment x to C, from place p on. Returns the end.
static int64_t copy_entries(const struct tiled *A, int64_t x, struct csr *C, int64_t p)
{
    struct tiled_walk w = tiled_walk_start(A, x);
    for (int64_t q; (q = tiled_walk_next(&w)) >= 0; p++) {
        C->idx[p] = w.col;
        C->val[p] = type_load(A->type, A->val, q);
    }
    return p;
}

static void fill_csr(const struct tiled *A, const int64_t *segment_of, struct csr *C)
{
    for (int64_t i = 0; i <= C->m; i++) C->ptr[i] = 0;
    for (int64_t x = 0; x < A->segments; x++) {
        int64_t to = A->to ? A->to[x] : x;
        if (to >= 0) C->ptr[row_of(A, to) + 1] = count_entries(A, x);
    }
    for (int32_t c = 0; c < A->cuts; c++)
        for (int64_t q = A->cut_part[c]; q < A->cut_part[c + 1]; q++)
            C->ptr[row_of(A, A->cut_row[c]) + 1] += count_entries(A, segment_of[q]);
    for (int64_t i = 0; i < C->m; i++) C->ptr[i + 1] += C->ptr[i];
    assert(C->ptr[C->m] == C->nnz);
    for (int64_t x = 0; x < A->segments; x++) {
        int64_t to = A->to ? A->to[x] : x;
        if (to >= 0) copy_entries(A, x, C, C->ptr[row_of(A, to)]);
    }
    for (int32_t c = 0; c < A->cuts; c++) {
        int64_t p = C->ptr[row_of(A, A->cut_row[c])];
        for (int64_t q = A->cut_part[c]; q < A->cut_part[c + 1]; q++)
            p = copy_entries(A, segment_of[q], C, p);
    }
}

static int to_csr(const struct sparse *X, struct csr *out)
{
    const struct tiled *A = tiled_of(X);
    int64_t *segment_of = mem_alloc(A->parts, sizeof *segment_of); // segment of each part
    if (!segment_of) return ERR_MEMORY;
    for (int64_t x = 0; x < A->segments && A->to; x++)
        if (A->to[x] < 0) segment_of[-1 - A->to[x]] = x;
    int err = csr_alloc(out, A->m, A->n, A->nnz);
    if (!err) fill_csr(A, segment_of, out);
    mem_free(segment_of);
    return err;
}

static void describe(const struct sparse *X, struct figures *f)
{
    static const char *const cuts[] = {
        [TILED_WHOLE] = "none", [TILED_MU] = "mu", [TILED_U_MU] = "U mu"};
    const struct tiled *A = tiled_of(X);
    figures_number(f, "rho", A->mapped ? (double)A->nnz / (double)A->mapped : 1);
    figures_number(f, "Z", A->nnz ? (double)A->stored / (double)A->nnz : 1);
    figures_number(f, "mu", A->m ? (double)A->nnz / A->m : 0);
    figures_number(f, "U", A->utilisation);
    figures_number(f, "panels", A->panels);
    figures_number(f, "stages", (double)A->stages);
    figures_number(f, "segments", (double)A->segments);
    figures_text(f, "segment", cuts[A->cut]);
    figures_number(f, "reordered", A->reordered);
    if (A->order) figures_text(f, "rows", "permuted");
}

const struct format format_tiled = {
    .name = "tiled",
    .about = "panels of rows in stages of their columns, 16-bit places in sliced ELLPACK by warps",
    .size = sizeof(struct tiled),
    .params = params,
    .from = &format_csr,
    .arrays = arrays,
    .make = tiled_make,
    .check = tiled_check,
    .to_csr = to_csr,
    .describe = describe,
};
