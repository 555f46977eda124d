// narrow: SpMM, C = A * B, for k = 1 and, in f32, 2, by equal shares of nonzeros. Own
// work.
//
// Format: CSR, any mix of row lengths. k = 1 in both layouts, k = 2 in row-major order.
// Deterministic: every sum has one fixed order.
//
// A block computes a tile, which is a fixed number of neighbouring nonzeros. prepare() finds the row
// ends in each tile from the row starts. So run() starts with the nonzeros, and waits twice: for A,
// then for B. One launch writes each element of C once. The steps of a block:
//
// 1. Load the nonzeros, and those of the head (multiply.cuh: load_A()), then their rows of B.
// 2. Sum up in each lane to each row end, over the lanes of a warp, and over the warps (sums.cuh).
// 3. Store the rows of C that end in the tile. Blocks behind the last tile clear empty rows.
// 4. Add the sums of a long row, if the block is the last of its tiles to finish (sums.cuh:
//    arrive()). No block waits for another.
//
// head    nonzeros, before a tile, of the first row that ends in the tile. The tile computes a head
//         of up to (1 + EXTRA) * THREADS nonzeros again. A longer head makes the row long
//
// loads.cuh     loads under a condition
// tiles.cuh     tiles and their preparation
// sums.cuh      the shape of the kernel, sums
// multiply.cuh  the kernel
//
// Limits: more than INT32_MAX - 65536 nonzeros, or 4 GB from a row to the next, are refused.
#include "multiply.cuh"

// H200, f32 and f64, k = 1, 33 matrices: MANY takes up to 1.17 times the time of FEW below 2,560
// nonzeros per multiprocessor, FEW up to 1.19 times that of MANY above.
#define MANY_NONZEROS 2560
// A block of MANY reads a long row with half the tiles. H200, 11,000 nonzeros, one row of 1,300: FEW
// takes 1.5 times the time of MANY.
#define LONG_ROW 512

enum shape_kind { BY_SIZE, FEW, MANY };

// An instance of the kernel; see struct shape.
struct form {
    enum shape_kind kind;
    int columns, nonzeros; // of a lane
    int blocks; // on a multiprocessor
    void (*start)(const struct task *t);
};

struct narrow_plan {
    const struct form *form;
    uint32_t B_step, C_step;
    int32_t tiles, used, longest;
    int64_t grid;
    bool early;
    int32_t *counts; // rows with nonzeros of row blocks, their sum, the longest row
    int32_t *rows;
    uint16_t *words;
    struct share *shares;
    void *partial;
    int32_t *arrived;
};

template <typename S> static void start(const struct task *t)
{
    typedef typename S::T T;
    const struct narrow_plan *s = (const struct narrow_plan *)t->state;
    const struct csr_dev *A = csr_of(t->A[0]);
    const operands<T> a = {A->idx,
                           (const T *)A->val,
                           (const char *)t->in[0].val,
                           (char *)t->C.val,
                           s->words,
                           s->shares,
                           s->rows,
                           (T *)s->partial,
                           s->arrived,
                           (int32_t)A->nnz,
                           s->tiles,
                           s->used,
                           A->m,
                           s->B_step,
                           s->C_step,
                           s->early};
    auto kernel = multiply<S>;
    LAUNCH_EARLY_IF(s->early, kernel, (unsigned)s->grid, THREADS, 0, t->dev->stream, a);
}

template <typename T, int W, int U> static constexpr struct form form_of(enum shape_kind kind)
{
    typedef shape<T, W, U> S;
    return {kind, W, U, S::BLOCKS, start<S>};
}

struct forms {
    const struct form *list;
    int count;
};

// Rows of B have up to 8 bytes.
template <typename T> static struct forms forms_of()
{
    const int MOST = 8 / (int)sizeof(T);
    static const struct form list[] = {form_of<T, 1, 4>(FEW), form_of<T, 1, 8>(MANY),
                                       form_of<T, MOST, 4>(FEW), form_of<T, MOST, 8>(MANY)};
    return {list, MOST > 1 ? COUNT(list) : 2};
}

// Returns the form for k columns: of the wanted kind, or by the size. NULL: none.
static const struct form *choose_form(const struct task *t, int32_t longest)
{
    const struct forms forms = BY_PREC(t, forms_of);
    const int64_t many = (int64_t)MANY_NONZEROS * t->dev->units;
    const int by_size = t->A[0]->nnz >= many || longest >= LONG_ROW ? MANY : FEW;
    const int wanted = (int)task_option(t, "shape");
    for (const struct form *f = forms.list; f < forms.list + forms.count; f++)
        if (f->columns == t->C.cols && (int)f->kind == (wanted ? wanted : by_size)) return f;
    return NULL;
}

// Returns true if rows of B and C are whole packs of a lane. One column has any layout.
static bool has_packs(const struct task *t)
{
    return t->C.cols == 1 || (t->in[0].layout == LAYOUT_ROW && t->in[0].ld % t->C.cols == 0 &&
                              t->C.ld % t->C.cols == 0);
}

// Counts the rows with nonzeros, and finds the longest row.
static int plan_counts(struct task *t, struct narrow_plan *s)
{
    const struct csr_dev *A = csr_of(t->A[0]);
    const int32_t row_blocks = (int32_t)ceil_div(A->m, ROW_BLOCK);
    struct device *d = t->dev;
    int32_t found[2] = {0, 0};
    int err = device_alloc(d, row_blocks + 2, sizeof *s->counts, (void **)&s->counts);
    if (!err) err = device_fill(d, s->counts + row_blocks, 0, sizeof found);
    if (!err && A->m) {
        LAUNCH(count_rows, (unsigned)row_blocks, ROW_BLOCK, 0, d->stream, A->m,
               (const int32_t *)A->ptr, s->counts, s->counts + row_blocks + 1);
        LAUNCH(add_up, 1, ROW_BLOCK, 0, d->stream, s->counts, row_blocks);
        err = wait_for(d, t->entry->name, s->counts + row_blocks, found, sizeof found);
    }
    s->used = found[0];
    s->longest = found[1];
    return err;
}

// Sets the bytes between rows.
static int plan_steps(struct task *t, struct narrow_plan *s)
{
    s->B_step = s->C_step = (uint32_t)in_bytes(t);
    if (t->in[0].layout == LAYOUT_COL) return OK;
    int err = row_step(t, &t->in[0], &s->B_step);
    return err ? err : row_step(t, &t->C, &s->C_step);
}

// Allocates and makes the tiles.
static int plan_tiles(struct task *t, struct narrow_plan *s)
{
    const struct csr_dev *A = csr_of(t->A[0]);
    const struct form *f = s->form;
    const int32_t tile = THREADS * f->nonzeros;
    const int64_t tiles = ceil_div(A->nnz, tile), shares = tiles * WARPS, words = tiles * THREADS;
    struct device *d = t->dev;
    s->tiles = (int32_t)tiles;
    s->grid = s->tiles + ceil_div(A->m - s->used, THREADS * CLEAR_EACH);
    if (s->grid > INT32_MAX)
        return fail(ERR_UNSUPPORTED, "%s: more than %d blocks", t->entry->name, INT32_MAX);
    int err = device_alloc(d, words, sizeof *s->words, (void **)&s->words);
    if (!err) err = device_fill(d, s->words, 0, words * (int64_t)sizeof *s->words);
    if (!err) err = device_alloc(d, shares, sizeof *s->shares, (void **)&s->shares);
    if (!err) err = device_fill(d, s->shares, 0, shares * (int64_t)sizeof *s->shares);
    if (!err && s->used < A->m) err = device_alloc(d, A->m, sizeof *s->rows, (void **)&s->rows);
    const int32_t most = THREADS * (1 + EXTRA);
    if (!err && s->longest > most) {
        err = device_alloc(d, 2 * tiles * f->columns, (size_t)in_bytes(t), &s->partial);
        if (!err) err = device_alloc(d, s->tiles, sizeof *s->arrived, (void **)&s->arrived);
        if (!err)
            err = device_fill(d, s->arrived, 0, s->tiles * (int64_t)sizeof *s->arrived);
    }
    if (err || !A->m) return err;
    const struct structure x = {A->m, (const int32_t *)A->ptr, s->counts, tile, f->nonzeros, most,
                                s->rows, s->words, s->shares};
    LAUNCH(mark_ends, (unsigned)ceil_div(A->m, ROW_BLOCK), ROW_BLOCK, 0, d->stream, x, s->used);
    if (s->tiles) LAUNCH(describe, (unsigned)s->tiles, THREADS, 0, d->stream, x);
    return launch_check(t->entry->name);
}

extern "C" int spmm_narrow_cuda_prepare(struct task *t)
{
    struct narrow_plan *s = (struct narrow_plan *)mem_zero_alloc(1, sizeof *s);
    t->state = s;
    if (!s) return ERR_MEMORY;
    if (t->A[0]->nnz > INT32_MAX - 65536)
        return fail(ERR_UNSUPPORTED, "%s: too many nonzeros", t->entry->name);
    if (t->C.cols == 0) return OK;
    int err = plan_counts(t, s);
    if (err) return err;
    s->form = choose_form(t, s->longest);
    if (!s->form || !has_packs(t))
        return fail(ERR_UNSUPPORTED,
                    "%s: needs k = 1, or k = 2 in f32 with row-major B and C and an even ld",
                    t->entry->name);
    err = plan_steps(t, s);
    if (!err) err = plan_tiles(t, s);
    device_free(t->dev, s->counts);
    s->counts = NULL;
    // Early blocks pay if the device has room for them while the previous kernel ends.
    const double wanted = task_option(t, "early-start");
    s->early = wanted < 0 ? s->grid <= (int64_t)s->form->blocks * t->dev->units : wanted != 0;
    s->early = s->early && can_launch_early(count_rows);
    task_number(t, "tiles", s->tiles);
    task_number(t, "tile", THREADS * s->form->nonzeros);
    task_number(t, "shape", s->form->kind);
    task_number(t, "longest", s->longest);
    task_number(t, "empty_rows", (double)(t->C.rows - s->used));
    task_number(t, "early_start", s->early);
    return err;
}

extern "C" int spmm_narrow_cuda_run(struct task *t)
{
    const struct narrow_plan *s = (const struct narrow_plan *)t->state;
    if (!s->grid) return OK;
    s->form->start(t);
    return launch_check(t->entry->name);
}

extern "C" void spmm_narrow_cuda_teardown(struct task *t)
{
    struct narrow_plan *s = (struct narrow_plan *)t->state;
    if (!s) return;
    device_free(t->dev, s->counts);
    device_free(t->dev, s->rows);
    device_free(t->dev, s->words);
    device_free(t->dev, s->shares);
    device_free(t->dev, s->partial);
    device_free(t->dev, s->arrived);
    task_free_state(t);
}
