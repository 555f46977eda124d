#include "formats/tiled.h"

#include "formats/tiled_plan.h"

static const struct algo_option options[] = {
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

static void describe(const struct sparse *X, struct algo_stats *f)
{
    static const char *const cuts[] = {
        [TILED_WHOLE] = "none", [TILED_MU] = "mu", [TILED_U_MU] = "U mu"};
    const struct tiled *A = tiled_of(X);
    algo_stats_number(f, "rho", A->mapped ? (double)A->nnz / (double)A->mapped : 1);
    algo_stats_number(f, "Z", A->nnz ? (double)A->stored / (double)A->nnz : 1);
    algo_stats_number(f, "mu", A->m ? (double)A->nnz / A->m : 0);
    algo_stats_number(f, "U", A->utilisation);
    algo_stats_number(f, "panels", A->panels);
    algo_stats_number(f, "stages", (double)A->stages);
    algo_stats_number(f, "segments", (double)A->segments);
    algo_stats_text(f, "segment", cuts[A->cut]);
    algo_stats_number(f, "reordered", A->reordered);
    if (A->order) algo_stats_text(f, "rows", "permuted");
}

const struct format format_tiled = {
    .name = "tiled",
    .about = "panels of rows in stages of their columns, 16-bit places in sliced ELLPACK by warps",
    .size = sizeof(struct tiled),
    .options = options,
    .from = &format_csr,
    .arrays = arrays,
    .make = tiled_make,
    .describe = describe,
};
