// The format tiled on the host: from rows to segments, and the order of the segments.
#include "base/sort.h"
#include "formats/tiled_plan.h"

static int segments_alloc(struct segments *s, int64_t count)
{
    s->count = count;
    s->first = mem_alloc(count, sizeof *s->first);
    s->end = mem_alloc(count, sizeof *s->end);
    s->to = mem_alloc(count, sizeof *s->to);
    return s->first && s->end && s->to ? OK : ERR_MEMORY;
}

void segments_free(struct segments *s)
{
    mem_free(s->first);
    mem_free(s->end);
    mem_free(s->to);
    *s = (struct segments){0};
}

static int64_t row_length(const struct csr_dev *A, int64_t i)
{
    return csr_start(A, i + 1) - csr_start(A, i);
}

// Writes the segments of row i, from segment s on. Returns their number.
static int64_t cut_row(const struct csr_dev *A, int64_t i, int64_t longest, struct segments *out,
                       int64_t s)
{
    int64_t p = csr_start(A, i), end = csr_start(A, i + 1);
    int64_t pieces = tiled_pieces(end - p, longest);
    for (int64_t x = 0; x < pieces; x++) {
        out->first[s + x] = p;
        out->end[s + x] = p = pieces > 1 ? min64(p + longest, end) : end;
        out->to[s + x] = i;
    }
    return pieces;
}

int tiled_cut_rows(struct device *d, const struct csr_dev *A, int64_t longest, struct tiled *T,
                   struct segments *out)
{
    int64_t count = 0, cuts = 0;
    for (int64_t i = 0; i < A->m; i++) {
        int64_t pieces = tiled_pieces(row_length(A, i), longest);
        count += pieces;
        cuts += pieces > 1;
    }
    T->segments = count;
    T->cuts = (int32_t)cuts;
    int err = segments_alloc(out, count);
    if (!err && cuts) err = device_alloc(d, cuts, sizeof *T->cut_row, (void **)&T->cut_row);
    if (!err && cuts) err = device_alloc(d, cuts + 1, sizeof *T->cut_part, (void **)&T->cut_part);
    if (err) return err;
    int64_t s = 0, c = 0, part = 0;
    for (int64_t i = 0; i < A->m; i++) {
        int64_t pieces = cut_row(A, i, longest, out, s);
        if (pieces > 1) {
            T->cut_row[c] = (int32_t)i;
            T->cut_part[c++] = part;
            for (int64_t x = 0; x < pieces; x++) out->to[s + x] = -1 - part++;
        }
        s += pieces;
    }
    if (cuts) T->cut_part[cuts] = part;
    T->parts = part;
    return OK;
}

// A group of segments with the same first `depth` columns, to be sorted by the next columns.
struct prefix_group {
    int64_t first, count, depth; // order[first] to order[first + count - 1]
};

struct sorting {
    const struct csr_dev *A;
    const struct segments *s;
    int64_t *order;            // sorted segments, size count
    int64_t *moved;            // scratch memory, size count
    uint64_t *key, *spare;     // scratch memory, size count
    struct prefix_group *open; // groups to sort, of at least two segments each
    int64_t open_count;
};

// Returns column number `depth` of a segment; n behind its last column, because a shorter segment
// comes after.
static uint64_t column_at(const struct sorting *w, int64_t s, int64_t depth)
{
    int64_t p = w->s->first[s] + depth;
    return p < w->s->end[s] ? (uint64_t)w->A->idx[p] : (uint64_t)w->A->n;
}

// Sorts a group by its next column. Adds the groups with equal next columns to w->open.
static void sort_group(struct sorting *w, struct prefix_group g)
{
    int64_t *order = w->order + g.first;
    for (int64_t x = 0; x < g.count; x++)
        w->key[x] = column_at(w, order[x], g.depth) << 32 | (uint64_t)x;
    sort_keys(w->key, w->spare, g.count, 32);
    for (int64_t x = 0; x < g.count; x++) w->moved[x] = order[w->key[x] & UINT32_MAX];
    for (int64_t x = 0; x < g.count; x++) order[x] = w->moved[x];
    for (int64_t x = 0, end; x < g.count; x = end) {
        uint64_t column = w->key[x] >> 32;
        for (end = x + 1; end < g.count && w->key[end] >> 32 == column;) end++;
        if (end - x > 1 && column < (uint64_t)w->A->n)
            w->open[w->open_count++] = (struct prefix_group){g.first + x, end - x, g.depth + 1};
    }
}

int tiled_sort(const struct csr_dev *A, struct segments *s)
{
    struct segments sorted = {0};
    struct sorting w = {.A = A, .s = s};
    int64_t count = s->count;
    if (count > UINT32_MAX)
        return fail(ERR_UNSUPPORTED, "%lld segments are too many to sort", (long long)count);
    w.order = mem_alloc(count, sizeof *w.order);
    w.moved = mem_alloc(count, sizeof *w.moved);
    w.key = mem_alloc(count, sizeof *w.key);
    w.spare = mem_alloc(count, sizeof *w.spare);
    w.open = mem_alloc(count / 2 + 1, sizeof *w.open);
    int err = w.order && w.moved && w.key && w.spare && w.open ? OK : ERR_MEMORY;
    if (!err) err = segments_alloc(&sorted, count);
    if (err) goto done;
    for (int64_t x = 0; x < count; x++) w.order[x] = x;
    w.open[w.open_count++] = (struct prefix_group){0, count, 0};
    while (w.open_count) sort_group(&w, w.open[--w.open_count]);
    for (int64_t x = 0; x < count; x++) {
        sorted.first[x] = s->first[w.order[x]];
        sorted.end[x] = s->end[w.order[x]];
        sorted.to[x] = s->to[w.order[x]];
    }
    segments_free(s);
    *s = sorted;
    sorted = (struct segments){0};
done:
    mem_free(w.order);
    mem_free(w.moved);
    mem_free(w.key);
    mem_free(w.spare);
    mem_free(w.open);
    segments_free(&sorted);
    return err;
}

// Returns the row of the matrix of a segment. `row_of`: row of each part.
static int64_t row_of_segment(const struct segments *s, int64_t x, const int32_t *row_of)
{
    return s->to[x] >= 0 ? s->to[x] : row_of[-1 - s->to[x]];
}

// Orders the rows of C by their first segments.
static int permute_rows(struct device *d, const struct segments *s, struct tiled *T)
{
    int32_t *place = mem_alloc(T->m, sizeof *place), next = 0;
    int32_t *row_of = mem_alloc(T->parts, sizeof *row_of);
    int err = place && row_of ? OK : ERR_MEMORY;
    if (!err) err = device_alloc(d, T->m, sizeof *T->order, (void **)&T->order);
    if (err) goto done;
    for (int32_t c = 0; c < T->cuts; c++)
        for (int64_t q = T->cut_part[c]; q < T->cut_part[c + 1]; q++) row_of[q] = T->cut_row[c];
    for (int32_t i = 0; i < T->m; i++) place[i] = -1;
    for (int64_t x = 0; x < s->count; x++) {
        int64_t row = row_of_segment(s, x, row_of);
        if (place[row] < 0) {
            place[row] = next;
            T->order[next++] = (int32_t)row;
        }
        T->to[x] = s->to[x] >= 0 ? place[row] : s->to[x];
    }
    for (int32_t c = 0; c < T->cuts; c++) T->cut_row[c] = place[T->cut_row[c]];
done:
    mem_free(place);
    mem_free(row_of);
    return err;
}

int tiled_place(struct device *d, const struct segments *s, bool permute, struct tiled *T)
{
    if (!T->cuts && !T->reordered) return OK;
    int err = device_alloc(d, s->count, sizeof *T->to, (void **)&T->to);
    if (err) return err;
    if (permute && T->reordered) return permute_rows(d, s, T);
    for (int64_t x = 0; x < s->count; x++) T->to[x] = s->to[x];
    return OK;
}
