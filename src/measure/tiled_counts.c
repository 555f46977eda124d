#include "measure/tiled_counts.h"

#include <omp.h>
#include <string.h>

#include "base/sort.h"

#define ROOM_MOST ((int64_t)1 << 30) // bytes of all threads together, if one can do with it

static int64_t ceil_of(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Returns the lines that a warp touches that loads these elements; a line has `per_line` elements.
static int64_t warp_lines(const int32_t *col, int count, int per_line)
{
    int32_t line[TILED_WARP];
    int lines = 0;
    bool neighbours = true;
    for (int i = 1; i < count; i++) neighbours &= col[i] == col[i - 1] + 1;
    if (neighbours) return ceil_of(count, per_line);
    for (int i = 0; i < count; i++) {
        int at = lines - 1;
        while (at >= 0 && line[at] != col[i] / per_line) at--;
        if (at < 0) line[lines++] = col[i] / per_line;
    }
    return lines;
}

// Adds the lines for every type. Neighbours in the list of types often have the same size.
static void add_lines(const int32_t *col, int count, int64_t lines[TYPES])
{
    int64_t found = 0;
    size_t bytes = 0;
    for (int type = 0; type < TYPES; type++) {
        if (type_bytes((enum prec)type) != bytes) {
            bytes = type_bytes((enum prec)type);
            found = warp_lines(col, count, TILED_LINE / (int)bytes);
        }
        lines[type] += found;
    }
}

static int64_t row_length(const struct csr *A, int64_t i) { return A->ptr[i + 1] - A->ptr[i]; }

// Adds the lines of the warp whose rows are first ... end - 1, over all its steps.
static void row_lines(const struct csr *A, int64_t first, int64_t end, int64_t lines[TYPES])
{
    int64_t longest = 0;
    for (int64_t i = first; i < end; i++) longest = max64(longest, row_length(A, i));
    for (int64_t p = 0; p < longest && !interrupted; p++) {
        int32_t col[TILED_WARP];
        int count = 0;
        for (int64_t i = first; i < end; i++)
            if (p < row_length(A, i)) col[count++] = A->idx[A->ptr[i] + p];
        add_lines(col, count, lines);
    }
}

static int count_rows(const struct csr *A, struct tiled_counts *out)
{
    int64_t lines[TYPES] = {0}, warps = ceil_of(A->m, TILED_WARP);
#pragma omp parallel for schedule(dynamic, 64) reduction(+ : lines)
    for (int64_t w = 0; w < warps; w++)
        row_lines(A, w * TILED_WARP, min64((w + 1) * TILED_WARP, A->m), lines);
    out->segments = A->m;
    out->loads = out->stored = A->nnz;
    memcpy(out->lines, lines, sizeof lines);
    return interrupted ? fail(ERR_INTERRUPTED, "interrupted") : OK;
}

// Memory that a thread needs to count a panel.
struct scratch {
    uint64_t *key, *spare; // column << 32 | segment within the panel, size: nonzeros of a panel
    int64_t *length;       // nonzeros of each segment in a stage, size: segments of a panel
};

struct stages {
    const int32_t *idx;
    const int64_t *ptr;    // starts of the segments, size segments + 1
    int64_t segments;      // in all
    int64_t height, stage; // segments of a panel, distinct columns of a stage
    int lanes;             // segments of a slice
};

// Returns the entries of the slices of a stage, with padding.
static int64_t slices(const struct stages *x, const int64_t *length, int64_t count)
{
    int64_t stored = 0;
    for (int64_t first = 0; first < count; first += x->lanes) {
        int64_t end = min64(first + x->lanes, count), longest = 0;
        for (int64_t i = first; i < end; i++) longest = max64(longest, length[i]);
        stored += longest * x->lanes;
    }
    return stored;
}

// Adds the counts of the stage whose first nonzero is `key`. Returns how many of the `count`
// nonzeros the stage has.
static int64_t count_stage(const struct stages *x, const uint64_t *key, int64_t count, int64_t rows,
                           int64_t *length, struct tiled_counts *sum)
{
    int32_t warp[TILED_WARP];
    int waiting = 0;
    int64_t distinct = 0, p = 0;
    memset(length, 0, (size_t)rows * sizeof *length);
    for (; p < count; p++) {
        int32_t col = (int32_t)(key[p] >> 32);
        bool other = !p || col != (int32_t)(key[p - 1] >> 32);
        if (other && distinct == x->stage) break;
        length[key[p] & UINT32_MAX]++;
        if (!other) continue;
        distinct++;
        warp[waiting++] = col;
        if (waiting < TILED_WARP) continue;
        add_lines(warp, waiting, sum->lines);
        waiting = 0;
    }
    add_lines(warp, waiting, sum->lines);
    sum->loads += distinct;
    sum->stored += slices(x, length, rows);
    return p;
}

static void count_panel(const struct stages *x, int64_t panel, const struct scratch *room,
                        struct tiled_counts *sum)
{
    int64_t first = panel * x->height, end = min64(first + x->height, x->segments), count = 0;
    for (int64_t i = first; i < end; i++)
        for (int64_t p = x->ptr[i]; p < x->ptr[i + 1]; p++)
            room->key[count++] = (uint64_t)x->idx[p] << 32 | (uint64_t)(i - first);
    sort_keys(room->key, room->spare, count, 32);
    for (int64_t p = 0; p < count && !interrupted;)
        p += count_stage(x, room->key + p, count - p, end - first, room->length, sum);
}

static void scratch_free(struct scratch *room, int threads)
{
    for (int t = 0; room && t < threads; t++) {
        mem_free(room[t].key);
        mem_free(room[t].spare);
        mem_free(room[t].length);
    }
    mem_free(room);
}

// Allocates memory for as many threads as possible, at least one.
static struct scratch *scratch_alloc(const struct stages *x, int64_t panels, int *threads)
{
    int64_t most = 0, bytes;
    for (int64_t i = 0; i < x->segments; i += x->height)
        most = max64(most, x->ptr[min64(i + x->height, x->segments)] - x->ptr[i]);
    bytes = (2 * most + x->height) * 8 + 1;
    *threads = (int)max64(1, min64(min64(omp_get_max_threads(), panels), ROOM_MOST / bytes));
    struct scratch *room = mem_zero_alloc(*threads, sizeof *room);
    bool all = room != NULL;
    for (int t = 0; t < *threads && all; t++) {
        room[t].key = mem_alloc(most, sizeof *room[t].key);
        room[t].spare = room[t].key ? mem_alloc(most, sizeof *room[t].spare) : NULL;
        room[t].length = room[t].spare ? mem_alloc(x->height, sizeof *room[t].length) : NULL;
        all = room[t].length;
    }
    if (all) return room;
    scratch_free(room, *threads);
    return NULL;
}

// Returns the starts of the segments, size *count + 1.
static int64_t *cut(const struct csr *A, int64_t longest, int64_t *count)
{
    *count = 0;
    for (int64_t i = 0; i < A->m; i++) *count += max64(1, ceil_of(row_length(A, i), longest));
    int64_t *ptr = mem_alloc(*count + 1, sizeof *ptr), x = 0;
    if (!ptr) return NULL;
    for (int64_t i = 0; i < A->m; i++) {
        ptr[x++] = A->ptr[i];
        for (int64_t p = A->ptr[i] + longest; p < A->ptr[i + 1]; p += longest) ptr[x++] = p;
    }
    ptr[x] = A->nnz;
    return ptr;
}

static int count_panels(const struct stages *x, struct tiled_counts *out)
{
    int64_t loads = 0, lines[TYPES] = {0}, stored = 0, panels = ceil_of(x->segments, x->height);
    int threads;
    struct scratch *room = scratch_alloc(x, panels, &threads);
    if (!room) return ERR_MEMORY;
#pragma omp parallel for num_threads(threads) schedule(dynamic) reduction(+ : loads, lines, stored)
    for (int64_t panel = 0; panel < panels; panel++) {
        struct tiled_counts sum = {0};
        count_panel(x, panel, &room[omp_get_thread_num()], &sum);
        loads += sum.loads, stored += sum.stored;
        for (int type = 0; type < TYPES; type++) lines[type] += sum.lines[type];
    }
    scratch_free(room, threads);
    out->segments = x->segments;
    out->loads = loads, out->stored = stored;
    memcpy(out->lines, lines, sizeof lines);
    return interrupted ? fail(ERR_INTERRUPTED, "interrupted") : OK;
}

static int count_stages(const struct csr *A, int64_t rows, int64_t stage, int64_t longest,
                        struct tiled_counts *out)
{
    struct stages x = {.idx = A->idx, .ptr = A->ptr, .segments = A->m, .stage = stage};
    int64_t *pieces = NULL;
    if (longest) {
        pieces = cut(A, longest, &x.segments);
        if (!pieces) return ERR_MEMORY;
        x.ptr = pieces;
    }
    x.height = max64(1, min64(rows, x.segments));
    x.lanes = (int)min64(rows, TILED_WARP);
    int err = count_panels(&x, out);
    mem_free(pieces);
    return err;
}

struct tiled_counts_kept {
    int64_t rows, stage, longest; // as they were asked for; all 0: a thread for each row
    struct tiled_counts counts;
};

void tiled_counts_init(struct tiled_counts_cache *of, struct source *s)
{
    *of = (struct tiled_counts_cache){.source = s};
}

void tiled_counts_free(struct tiled_counts_cache *of)
{
    mem_free(of->list);
    tiled_counts_init(of, of->source);
}

static const struct tiled_counts_kept *find(const struct tiled_counts_cache *of,
                                            const struct tiled_counts_kept *wanted)
{
    for (int i = 0; i < of->count; i++) {
        const struct tiled_counts_kept *x = &of->list[i];
        if (x->rows == wanted->rows && x->stage == wanted->stage && x->longest == wanted->longest)
            return x;
    }
    return NULL;
}

static int keep(struct tiled_counts_cache *of, const struct tiled_counts_kept *x)
{
    struct tiled_counts_kept *list = mem_resize(of->list, of->count, of->count + 1, sizeof *list);
    if (!list) return ERR_MEMORY;
    of->list = list;
    of->list[of->count++] = *x;
    return OK;
}

static int count(struct tiled_counts_cache *of, struct tiled_counts_kept x,
                 struct tiled_counts *out)
{
    const struct csr *A = of->source->A;
    const struct tiled_counts_kept *kept = find(of, &x);
    if (kept) {
        *out = kept->counts;
        return OK;
    }
    *out = (struct tiled_counts){.rows = A->m, .nnz = A->nnz};
    int err = source_used_columns(of->source, &out->columns);
    if (!err) err = x.rows ? count_stages(A, x.rows, x.stage, x.longest, out) : count_rows(A, out);
    x.counts = *out;
    return err ? err : keep(of, &x);
}

int tiled_counts_of_rows(struct tiled_counts_cache *of, struct tiled_counts *out)
{
    return count(of, (struct tiled_counts_kept){0}, out);
}

int tiled_counts_of_stages(struct tiled_counts_cache *of, int64_t rows, int64_t stage,
                           int64_t longest, struct tiled_counts *out)
{
    return count(of, (struct tiled_counts_kept){rows, stage, longest, {0}}, out);
}
