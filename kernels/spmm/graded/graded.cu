// graded: SpMM, C = A * B, with rows graded by their length. Own work.
//
// Format: CSR. Any k, both layouts, any mix of row lengths. Deterministic: every sum has one fixed
// order.
//
// prepare() assigns every row to threads. A few lanes compute a short row, or two tiny rows in
// turn. A warp computes a medium row. Blocks compute the segments of a long row. So a product needs
// no search, and only segments share a row. Neighbouring rows with mostly the same columns, such as
// the unknowns of a mesh node, form a bundle: a row of B is loaded once for all of them. A launch
// computes all pieces of up to 65,535 slabs. The kernel is a template with two ways to load A:
//
//     narrow B   slabs of up to 64 bytes. Each lane loads a quad of nonzeros: 16 bytes of
//                columns, and 8 to 32 of values. Short rows are not listed if a group has under 4
//                lanes
//     wide B     the lanes of a group load a round together, one nonzero per lane, and exchange
//                them by shuffles, or through shared memory (bundles, 16 lanes and more)
//
// Column-major B and C are used in place, as if each column were narrow. Alternatively, each run
// copies B to row-major order, computes a row-major product, and copies it to C. The copies pay if
// A uses few elements of each sector of a column of B.
//
// piece    a tiny, short or medium row, a bundle, or a segment of a long row
// team     lanes that compute a piece together
// group    lanes of a team that load a row of B, or one slab of the row, together
// pack     neighbouring columns that a lane loads at once
// slab     neighbouring columns of B and C, one or more packs per lane
// round    nonzeros that a group loads at once, one per lane
// quad  four neighbouring nonzeros that a lane loads at once
// batch    nonzeros whose rows of B are loaded before the first of them is used
//
// pieces.cuh    the kinds of pieces, and the operands of the kernel
// gather.cuh    the work of a lane: nonzeros, rows of B, sums over groups, rows of C
// multiply.cuh  the kernel: from a piece to its rows of C
// turn.cuh      the copies of column-major B and C
// facts.cuh     row lengths and scatter of the columns of A, counted on the device
// choose.cuh    the shape of the kernel for a case
// alike.cuh     bundles: their rows, columns and values
// lists.cuh     the lists of pieces, made on the device
// plan.h        the decisions and allocations
// plan.cuh      the decisions on lengths, lists and sizes
// forms.cuh     instances of the kernel, compiled in a file for each type of values
// graded.cu     the algorithm, options
//
// Limits, H200: loads of a B in memory fill 81 to 97 % of the link between the halves of the L2.
// Did not pay on an H100, time over the time of this code (geometric mean; worst case):
//
//     quads for wide B too, without shuffles            1.06 to 1.15; 1.43 (f32, k = 32, 128)
//     wide B without the two tiny rows of a group          1.09; 1.33 (k = 32)
//     16 bytes per lane by two packs for k = 8, 16         1.1 to 1.25; 1.7 (scattered columns)
//     bundles of wide B by quads                        1.2 to 2.3 (meshes, k = 32 to 128)
//     votes for quads without missing nonzeros          1.1; 1.5 (k = 16)
#include "plan.cuh"
#include "turn.cuh"

static void describe(struct task *t, const struct graded_plan *s)
{
    const struct lists *l = &s->lists;
    task_number(t, "short", l->count[SHORT] + l->count[SHORT_BUNDLE]);
    task_number(t, "tiny", l->count[TINY]);
    task_number(t, "early_start", l->early);
    task_number(t, "medium", l->count[MEDIUM] + l->count[MEDIUM_BUNDLE]);
    task_number(t, "segments", l->count[SEGMENT]);
    task_number(t, "bundles", l->count[SHORT_BUNDLE] + l->count[MEDIUM_BUNDLE]);
    task_number(t, "columns", (double)slab_of(&s->choice));
    task_number(t, "lanes", s->choice.lanes);
    task_number(t, "team", 1 << l->log_team);
    task_number(t, "turned", s->B != NULL);
    task_number(t, "pack", s->choice.form->vec * (double)in_bytes(t));
}

extern "C" int spmm_graded_cuda_prepare(struct task *t)
{
    struct graded_plan *s = (struct graded_plan *)mem_zero_alloc(1, sizeof *s);
    const struct forms forms = BY_TYPE(t, forms_of);
    t->state = s;
    if (!s) return ERR_MEMORY;
    const int err = plan_pieces(t, s, &forms);
    if (!err) describe(t, s);
    return err;
}

// Copies column-major B, of values of type W, to rows.
template <typename W> static void start_to_rows(struct task *t, const struct graded_plan *s)
{
    const auto B = orders_of<W>(&t->in[0], s->B, s->view.k);
    auto kernel = to_rows<W>;
    if (B.m) LAUNCH(kernel, tiles_of(B), TURN_THREADS, 0, t->dev->stream, B);
}

// Copies the rows of C to column-major C.
template <typename W> static void start_to_columns(struct task *t, const struct graded_plan *s)
{
    const auto C = orders_of<W>(&t->C, s->C, s->view.k);
    auto kernel = to_columns<W>;
    LAUNCH_EARLY_IF(s->lists.early, kernel, tiles_of(C), TURN_THREADS, 0, t->dev->stream, C);
}

extern "C" int spmm_graded_cuda_run(struct task *t)
{
    const struct graded_plan *s = (const struct graded_plan *)t->state;
    if (t->C.rows == 0 || t->C.cols == 0) return OK;
    if (s->B) BY_BYTES(in_bytes(t), start_to_rows, t, s);
    s->choice.form->start(t);
    if (s->C) BY_BYTES(out_bytes(t), start_to_columns, t, s);
    return launch_check(t->entry->name);
}

extern "C" void spmm_graded_cuda_teardown(struct task *t)
{
    struct graded_plan *s = (struct graded_plan *)t->state;
    if (!s) return;
    pieces_free(t->dev, s);
    task_free_state(t);
}
