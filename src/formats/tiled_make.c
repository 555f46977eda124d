// The format tiled on the host: from segments to panels, stages and slices.
#include "base/sort.h"
#include "formats/tiled_plan.h"

// The distinct columns of each panel.
struct columns {
    int64_t total;   // columns of all panels
    int64_t *first;  // first column of each panel in `list`, size panels + 1
    int64_t *count;  // columns of each panel, size panels
    uint64_t *list;  // columns, ascending in a panel, size nnz
    uint64_t *spare; // scratch memory, size nnz
};

static void columns_free(struct columns *c)
{
    mem_free(c->first);
    mem_free(c->count);
    mem_free(c->list);
    mem_free(c->spare);
    *c = (struct columns){0};
}

static int columns_alloc(const struct tiled *T, struct columns *c)
{
    c->first = mem_alloc((int64_t)T->panels + 1, sizeof *c->first);
    c->count = mem_alloc(T->panels, sizeof *c->count);
    c->list = mem_alloc(T->nnz, sizeof *c->list);
    c->spare = mem_alloc(T->nnz, sizeof *c->spare);
    return c->first && c->count && c->list && c->spare ? OK : ERR_MEMORY;
}

static int64_t panel_end(const struct tiled *T, int64_t i)
{
    return min64((i + 1) * T->rows, T->segments);
}

// Writes the distinct columns of segments begin to end - 1 to `list`. Returns their number. `list`
// and `spare`: memory for all entries of the panel.
static int64_t find_columns(const struct csr_dev *A, const struct segments *s, int64_t begin,
                            int64_t end, uint64_t *list, uint64_t *spare)
{
    int64_t entries = 0, count = 0;
    for (int64_t x = begin; x < end; x++)
        for (int64_t p = s->first[x]; p < s->end[x]; p++) list[entries++] = (uint64_t)A->idx[p];
    sort_keys(list, spare, entries, 0);
    for (int64_t e = 0; e < entries; e++)
        if (!count || list[count - 1] != list[e]) list[count++] = list[e];
    return count;
}

static void columns_find(const struct csr_dev *A, const struct tiled *T, const struct segments *s,
                         struct columns *c)
{
    int64_t total = 0;
    c->first[0] = 0;
    for (int64_t i = 0; i < T->panels; i++) {
        c->first[i + 1] = c->first[i];
        for (int64_t x = i * T->rows; x < panel_end(T, i); x++)
            c->first[i + 1] += s->end[x] - s->first[x];
    }
#pragma omp parallel for schedule(dynamic, 4) reduction(+ : total)
    for (int64_t i = 0; i < T->panels; i++) {
        c->count[i] = find_columns(A, s, i * T->rows, panel_end(T, i), c->list + c->first[i],
                                   c->spare + c->first[i]);
        total += c->count[i];
    }
    c->total = total;
}

static int segments_copy(const struct segments *s, struct segments *to)
{
    *to = (struct segments){.count = s->count};
    to->first = mem_alloc(s->count, sizeof *s->first);
    to->end = mem_alloc(s->count, sizeof *s->end);
    to->to = mem_alloc(s->count, sizeof *s->to);
    if (!to->first || !to->end || !to->to) return ERR_MEMORY;
    memcpy(to->first, s->first, (size_t)s->count * sizeof *s->first);
    memcpy(to->end, s->end, (size_t)s->count * sizeof *s->end);
    memcpy(to->to, s->to, (size_t)s->count * sizeof *s->to);
    return OK;
}

// Returns the cost of an order: loaded elements of a column of B, plus contiguous pieces of a
// column of C. With `permute` a column of C is a single piece.
static int64_t cost(const struct columns *c, const struct segments *s, bool permute)
{
    int64_t pieces = 0;
    for (int64_t x = 1; x < s->count && !permute; x++)
        pieces += !tiled_follows(s->to[x - 1], s->to[x]);
    return c->total + pieces;
}

// Section 4.2: sorts the segments if forced, or if the cost of the sorted order is lower.
static int reorder(const struct csr_dev *A, const double *opt, struct tiled *T, struct segments *s,
                   struct columns *c)
{
    const bool permute = opt[TILED_PERMUTE] != 0;
    struct segments sorted = {0};
    int err = segments_copy(s, &sorted);
    if (!err) err = tiled_sort(A, &sorted);
    if (!err) {
        int64_t before = cost(c, s, permute);
        columns_find(A, T, &sorted, c);
        T->reordered = opt[TILED_REORDER] > 0 || cost(c, &sorted, permute) < before;
        if (T->reordered) {
            segments_free(s);
            *s = sorted;
            return OK;
        }
        columns_find(A, T, s, c);
    }
    segments_free(&sorted);
    return err;
}

// Makes the stages and their columns.
static int make_map(struct device *d, const struct columns *c, struct tiled *T)
{
    int err = device_alloc(d, (int64_t)T->panels + 1, sizeof *T->panel, (void **)&T->panel);
    if (err) return err;
    T->panel[0] = 0;
    for (int64_t i = 0; i < T->panels; i++)
        T->panel[i + 1] = T->panel[i] + (c->count[i] + T->stage - 1) / T->stage;
    T->stages = T->panel[T->panels];
    T->mapped = c->total;
    err = device_alloc(d, T->stages + 1, sizeof *T->map_ptr, (void **)&T->map_ptr);
    if (!err) err = device_alloc(d, T->mapped, sizeof *T->map, (void **)&T->map);
    if (err) return err;
    int64_t q = 0;
    for (int64_t i = 0; i < T->panels; i++) {
        for (int64_t x = T->panel[i]; x < T->panel[i + 1]; x++)
            T->map_ptr[x] = q + (x - T->panel[i]) * T->stage;
        for (int64_t e = 0; e < c->count[i]; e++) T->map[q++] = (int32_t)c->list[c->first[i] + e];
    }
    T->map_ptr[T->stages] = q;
    return OK;
}

// Returns the index of a column in list[low] to list[high - 1], which has the column.
static int64_t find(const uint64_t *list, int64_t low, int64_t high, uint64_t column)
{
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (list[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Visits the entries of segment x of panel i. Without `fill` widens T->slice[q + 1], the width of
// slice q, for the entries. With `fill` writes the entries into the slices.
static void place_segment(const struct csr_dev *A, const struct columns *c, struct tiled *T,
                          const struct segments *s, int64_t i, int64_t x, bool fill)
{
    const uint64_t *list = c->list + c->first[i];
    int64_t warps = T->rows / SLICE, in_panel = x - i * T->rows, now = -1, entry = 0, rank = -1;
    for (int64_t p = s->first[x]; p < s->end[x]; p++, entry++) {
        rank = find(list, rank + 1, c->count[i], (uint64_t)A->idx[p]);
        int64_t slice = (T->panel[i] + rank / T->stage) * warps + in_panel / SLICE;
        if (slice != now) now = slice, entry = 0;
        if (fill) {
            int64_t q = T->slice[slice] + entry * SLICE + in_panel % SLICE;
            T->idx[q] = (uint16_t)(rank % T->stage);
            type_store(T->type, T->val, q, type_load(A->type, A->val, p));
        } else {
            T->slice[slice + 1] = max64(T->slice[slice + 1], entry + 1);
        }
    }
}

// Fills the slices of a panel with padding.
static void clear_panel(struct tiled *T, int64_t i)
{
    int64_t warps = T->rows / SLICE;
    for (int64_t q = T->slice[T->panel[i] * warps]; q < T->slice[T->panel[i + 1] * warps]; q++) {
        T->idx[q] = (uint16_t)T->stage;
        type_store(T->type, T->val, q, 0);
    }
}

static int make_slices(struct device *d, const struct csr_dev *A, const struct columns *c,
                       const struct segments *s, struct tiled *T)
{
    int64_t slices = tiled_slices(T);
    int err = device_alloc(d, slices + 1, sizeof *T->slice, (void **)&T->slice);
    if (err) return err;
    for (int64_t q = 0; q <= slices; q++) T->slice[q] = 0;
#pragma omp parallel for schedule(dynamic, 4)
    for (int64_t i = 0; i < T->panels; i++)
        for (int64_t x = i * T->rows; x < panel_end(T, i); x++)
            place_segment(A, c, T, s, i, x, false);
    for (int64_t q = 0; q < slices; q++) T->slice[q + 1] = T->slice[q] + T->slice[q + 1] * SLICE;
    T->stored = T->slice[slices];
    err = device_alloc(d, T->stored, sizeof *T->idx, (void **)&T->idx);
    if (!err) err = device_alloc(d, T->stored, type_bytes(T->type), &T->val);
    if (err) return err;
#pragma omp parallel for schedule(dynamic, 4)
    for (int64_t i = 0; i < T->panels; i++) {
        clear_panel(T, i);
        for (int64_t x = i * T->rows; x < panel_end(T, i); x++)
            place_segment(A, c, T, s, i, x, true);
    }
    return OK;
}

static int64_t sum_of_squares(const struct csr_dev *A)
{
    int64_t squares = 0;
    for (int64_t i = 0; i < A->m; i++) {
        int64_t length = csr_start(A, i + 1) - csr_start(A, i);
        squares += length * length;
    }
    return squares;
}

int tiled_make(struct device *d, const struct sparse *from, const double *opt, struct sparse *out)
{
    const struct csr_dev *A = csr_of(from);
    struct tiled *T = (struct tiled *)out;
    struct segments s = {0};
    struct columns c = {0};
    int64_t longest = tiled_decide(T, opt, sum_of_squares(A), d->units);
    int err = tiled_cut_rows(d, A, longest, T, &s);
    int64_t panels = (T->segments + T->rows - 1) / T->rows;
    if (!err && panels > INT32_MAX)
        err = fail(ERR_UNSUPPORTED, "tiled: %lld panels are too many", (long long)panels);
    if (err) goto done;
    T->panels = (int32_t)panels;
    err = columns_alloc(T, &c);
    if (err) goto done;
    columns_find(A, T, &s, &c);
    if (opt[TILED_REORDER] != 0) err = reorder(A, opt, T, &s, &c);
    if (!err) err = tiled_place(d, &s, opt[TILED_PERMUTE] != 0, T);
    if (!err) err = make_map(d, &c, T);
    if (!err) err = make_slices(d, A, &c, &s, T);
done:
    segments_free(&s);
    columns_free(&c);
    return err;
}
