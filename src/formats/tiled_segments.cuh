// The format tiled on CUDA: from rows to segments, their order, and the targets of their sums. Same
// result as tiled_order.c on the host.
#ifndef TILED_SEGMENTS_H
#define TILED_SEGMENTS_H

#include "device/cub.cuh"
#include "device/cub_merge.cuh"
#include "device/warp.cuh"
#include "formats/tiled_plan.h"

#define BLOCK 256

// Scratch arrays, freed together.
struct scratch {
    struct device *d;
    void *list[48];
    int count;
};

template <typename T> static int scratch_alloc(struct scratch *s, int64_t count, T **p)
{
    if (s->count == COUNT(s->list)) bug("tiled: more than %d arrays", s->count);
    void *block = NULL;
    int err = device_alloc(s->d, count, sizeof(T), &block);
    *p = (T *)block;
    s->list[s->count++] = block;
    return err;
}

static inline void scratch_free(struct scratch *s)
{
    while (s->count) device_free(s->d, s->list[--s->count]);
}

// Allocates an array of the format.
template <typename T> static int own_alloc(struct device *d, int64_t count, T **p)
{
    return device_alloc(d, count, sizeof(T), (void **)p);
}

// Returns the blocks of a grid with a thread for each of n elements.
static inline unsigned grid_for(int64_t n) { return (unsigned)ceil_div(n, BLOCK); }

static __device__ __forceinline__ int64_t thread_number()
{
    return (int64_t)blockIdx.x * BLOCK + threadIdx.x;
}

// The segments in the order of the matrix, in device memory.
struct cut {
    int32_t count, cuts;
    int32_t *first, *end; // entries of A, size count
    int32_t *row;         // row of A, size count
    int64_t *to;          // row of A, or -1 - part for a cut row, size count
    int32_t *of;          // segment of each entry, size nnz
};

// An order of the segments.
struct order {
    int32_t *segment; // segment at each place, size count
    int32_t *place;   // place of each segment, size count
};

static __global__ void add_squares(int32_t m, const int32_t *__restrict__ ptr,
                                   unsigned long long *sum)
{
    const int64_t i = thread_number();
    const unsigned long long length = i < m ? (unsigned long long)(ptr[i + 1] - ptr[i]) : 0;
    const unsigned long long squares = warp_sum(length * length);
    if (lane_id() == 0 && squares) atomicAdd(sum, squares);
}

// Sets, for each row, the number of its segments, 1 if the row is cut, and the number of its parts.
static __global__ void count_pieces(int32_t m, const int32_t *__restrict__ ptr, int64_t longest,
                                    int32_t *__restrict__ pieces, int32_t *__restrict__ is_cut,
                                    int32_t *__restrict__ parts)
{
    const int64_t i = thread_number();
    if (i >= m) return;
    pieces[i] = (int32_t)tiled_pieces(ptr[i + 1] - ptr[i], longest);
    is_cut[i] = pieces[i] > 1;
    parts[i] = pieces[i] > 1 ? pieces[i] : 0;
}

// For each row: first segment, number of cut rows before, first part.
struct row_starts {
    int64_t *segment, *cut, *part; // size m + 1 each
};

static __global__ void list_cuts(int32_t m, struct row_starts at, int32_t *__restrict__ cut_row,
                                 int64_t *__restrict__ cut_part)
{
    const int64_t i = thread_number();
    if (i > m) return;
    const int64_t c = at.cut[i];
    if (i == m) {
        cut_part[c] = at.part[i];
    } else if (at.cut[i + 1] > c) {
        cut_row[c] = (int32_t)i;
        cut_part[c] = at.part[i];
    }
}

static __global__ void list_segments(int32_t m, const int32_t *__restrict__ ptr, int64_t longest,
                                     struct row_starts at, struct cut s)
{
    const int64_t x = thread_number();
    if (x >= s.count) return;
    const int32_t i = upper_bound(at.segment, 0, m + 1, x) - 1;
    const int64_t piece = x - at.segment[i], end = ptr[i + 1];
    const bool is_cut = at.segment[i + 1] - at.segment[i] > 1;
    const int64_t first = ptr[i] + piece * (is_cut ? longest : 0);
    s.first[x] = (int32_t)first;
    s.end[x] = (int32_t)(is_cut && first + longest < end ? first + longest : end);
    s.row[x] = i;
    s.to[x] = is_cut ? -1 - (at.part[i] + piece) : i;
}

// Sets the segment of each entry, with a thread per entry: the last segment that begins at or
// before the entry. An empty segment begins where the next segment begins, so is not found.
static __global__ void find_segments(int32_t nnz, struct cut s)
{
    const int64_t p = thread_number();
    if (p < nnz) s.of[p] = upper_bound(s.first, 0, s.count, (int32_t)p) - 1;
}

// Cuts rows as decided by tiled_decide(). Sets s, and the fields of T that depend on the segments.
static int cut_rows(struct scratch *w, const struct csr_dev *A, const double *opt, struct tiled *T,
                    struct cut *s)
{
    struct device *d = w->d;
    const int32_t m = A->m, *ptr = (const int32_t *)A->ptr;
    unsigned long long *sum, squares;
    int32_t *pieces, *is_cut, *parts;
    struct row_starts at;
    int64_t cuts;
    int err = scratch_alloc(w, 1, &sum);
    if (!err) err = device_fill(d, sum, 0, sizeof *sum);
    if (err) return err;
    if (m) LAUNCH(add_squares, grid_for(m), BLOCK, 0, d->stream, m, ptr, sum);
    err = wait_for(d, "tiled", sum, &squares, sizeof squares);
    if (err) return err;
    const int64_t longest = tiled_decide(T, opt, (int64_t)squares, d->units);

    err = scratch_alloc(w, m, &pieces);
    if (!err) err = scratch_alloc(w, m, &is_cut);
    if (!err) err = scratch_alloc(w, m, &parts);
    if (!err) err = scratch_alloc(w, (int64_t)m + 1, &at.segment);
    if (!err) err = scratch_alloc(w, (int64_t)m + 1, &at.cut);
    if (!err) err = scratch_alloc(w, (int64_t)m + 1, &at.part);
    if (err) return err;
    if (m)
        LAUNCH(count_pieces, grid_for(m), BLOCK, 0, d->stream, m, ptr, longest, pieces, is_cut,
               parts);
    err = launch_check("tiled: pieces");
    if (!err) err = cub_offsets(d, "tiled", pieces, m, at.segment, &T->segments);
    if (!err) err = cub_offsets(d, "tiled", is_cut, m, at.cut, &cuts);
    if (!err) err = cub_offsets(d, "tiled", parts, m, at.part, &T->parts);
    if (err) return err;
    if (T->segments > INT32_MAX)
        return fail(ERR_UNSUPPORTED, "tiled: %lld segments are too many", (long long)T->segments);
    T->cuts = s->cuts = (int32_t)cuts;
    s->count = (int32_t)T->segments;
    T->panels = (int32_t)ceil_div(T->segments, T->rows);
    err = scratch_alloc(w, s->count, &s->first);
    if (!err) err = scratch_alloc(w, s->count, &s->end);
    if (!err) err = scratch_alloc(w, s->count, &s->row);
    if (!err) err = scratch_alloc(w, s->count, &s->to);
    if (!err) err = scratch_alloc(w, A->nnz, &s->of);
    if (!err && cuts) err = own_alloc(d, cuts, &T->cut_row);
    if (!err && cuts) err = own_alloc(d, cuts + 1, &T->cut_part);
    if (err || !s->count) return err;
    LAUNCH(list_segments, grid_for(s->count), BLOCK, 0, d->stream, m, ptr, longest, at, *s);
    if (cuts)
        LAUNCH(list_cuts, grid_for((int64_t)m + 1), BLOCK, 0, d->stream, m, at, T->cut_row,
               T->cut_part);
    if (A->nnz) LAUNCH(find_segments, grid_for(A->nnz), BLOCK, 0, d->stream, (int32_t)A->nnz, *s);
    return launch_check("tiled: segments");
}

// Returns true if segment a comes before b; see tiled_sort().
struct comes_before {
    const int32_t *first, *end, *idx;

    __device__ __forceinline__ bool operator()(int32_t a, int32_t b) const
    {
        int32_t p = first[a], q = first[b];
        const int32_t p_end = end[a], q_end = end[b];
        for (; p < p_end && q < q_end; p++, q++)
            if (idx[p] != idx[q]) return idx[p] < idx[q];
        if (p < p_end || q < q_end) return p < p_end;
        return a < b;
    }
};

static __global__ void count_up(int32_t n, int32_t *__restrict__ x)
{
    const int64_t i = thread_number();
    if (i < n) x[i] = (int32_t)i;
}

static __global__ void invert(int32_t n, struct order order)
{
    const int64_t x = thread_number();
    if (x < n) order.place[order.segment[x]] = (int32_t)x;
}

// Makes the order of the matrix or, if `sorted`, the order by patterns.
static int order_segments(struct scratch *w, const struct csr_dev *A, const struct cut *s,
                          bool sorted, struct order *order)
{
    struct device *d = w->d;
    const unsigned grid = grid_for(s->count);
    int err = scratch_alloc(w, s->count, &order->segment);
    if (!err) err = scratch_alloc(w, s->count, &order->place);
    if (err || !s->count) return err;
    LAUNCH(count_up, grid, BLOCK, 0, d->stream, s->count, order->segment);
    err = launch_check("tiled: order");
    if (!err && sorted)
        err = cub_sort(d, order->segment, s->count, comes_before{s->first, s->end, A->idx});
    if (err) return err;
    LAUNCH(invert, grid, BLOCK, 0, d->stream, s->count, *order);
    return launch_check("tiled: order");
}

static __global__ void count_pieces_written(struct cut s, const int32_t *__restrict__ order,
                                            unsigned long long *sum)
{
    const int64_t x = thread_number();
    const bool starts = x > 0 && x < s.count && !tiled_follows(s.to[order[x - 1]], s.to[order[x]]);
    const unsigned long long here = warp_sum((unsigned long long)starts);
    if (lane_id() == 0 && here) atomicAdd(sum, here);
}

// Sets *pieces to the contiguous pieces of a column of C in an order, less 1.
static int count_pieces_of_C(struct scratch *w, const struct cut *s, const struct order *order,
                             int64_t *pieces)
{
    struct device *d = w->d;
    unsigned long long *sum;
    int err = scratch_alloc(w, 1, &sum);
    if (!err) err = device_fill(d, sum, 0, sizeof *sum);
    if (err) return err;
    if (s->count)
        LAUNCH(count_pieces_written, grid_for(s->count), BLOCK, 0, d->stream, *s, order->segment,
               sum);
    err = launch_check("tiled: pieces of C");
    return err ? err : wait_for(d, "tiled", sum, pieces, sizeof *pieces);
}

static __global__ void copy_to(struct cut s, const int32_t *__restrict__ order,
                               int64_t *__restrict__ to)
{
    const int64_t x = thread_number();
    if (x < s.count) to[x] = s.to[order[x]];
}

// Sets at[row] to the place of the first segment of each row. `at`: filled with ones.
static __global__ void find_firsts(struct cut s, const int32_t *__restrict__ order,
                                   uint32_t *__restrict__ at)
{
    const int64_t x = thread_number();
    if (x < s.count) atomicMin(&at[s.row[order[x]]], (uint32_t)x);
}

static __global__ void flag_firsts(struct cut s, const int32_t *__restrict__ order,
                                   const uint32_t *__restrict__ at, int32_t *__restrict__ flag)
{
    const int64_t x = thread_number();
    if (x < s.count) flag[x] = at[s.row[order[x]]] == x;
}

// Writes the order of the rows of C: row i of the matrix is row place[at[i]] of C.
static __global__ void place_rows(int32_t m, const uint32_t *__restrict__ at,
                                  const int64_t *__restrict__ place, int32_t *__restrict__ order)
{
    const int64_t i = thread_number();
    if (i < m) order[place[at[i]]] = (int32_t)i;
}

static __global__ void place_segments(struct cut s, const int32_t *__restrict__ order,
                                      const uint32_t *__restrict__ at,
                                      const int64_t *__restrict__ place, int64_t *__restrict__ to)
{
    const int64_t x = thread_number();
    if (x >= s.count) return;
    const int32_t segment = order[x];
    to[x] = s.to[segment] >= 0 ? place[at[s.row[segment]]] : s.to[segment];
}

static __global__ void place_cuts(int32_t cuts, const uint32_t *__restrict__ at,
                                  const int64_t *__restrict__ place, int32_t *__restrict__ cut_row)
{
    const int64_t c = thread_number();
    if (c < cuts) cut_row[c] = (int32_t)place[at[cut_row[c]]];
}

// Orders the rows of C by their first segments.
static int permute_rows(struct scratch *w, const struct cut *s, const int32_t *order,
                        struct tiled *T)
{
    struct device *d = w->d;
    uint32_t *at;
    int32_t *flag;
    int64_t *place;
    int err = scratch_alloc(w, T->m, &at);
    if (!err) err = scratch_alloc(w, s->count, &flag);
    if (!err) err = scratch_alloc(w, (int64_t)s->count + 1, &place);
    if (!err) err = own_alloc(d, T->m, &T->order);
    if (!err) err = device_fill(d, at, 0xff, T->m * (int64_t)sizeof *at);
    if (err || !s->count) return err;
    const unsigned grid = grid_for(s->count);
    LAUNCH(find_firsts, grid, BLOCK, 0, d->stream, *s, order, at);
    LAUNCH(flag_firsts, grid, BLOCK, 0, d->stream, *s, order, at, flag);
    err = launch_check("tiled: rows of C");
    if (!err) err = cub_exclusive_sum(d, flag, s->count, place);
    if (err) return err;
    LAUNCH(place_rows, grid_for(T->m), BLOCK, 0, d->stream, T->m, at, place, T->order);
    LAUNCH(place_segments, grid, BLOCK, 0, d->stream, *s, order, at, place, T->to);
    if (s->cuts)
        LAUNCH(place_cuts, grid_for(s->cuts), BLOCK, 0, d->stream, s->cuts, at, place, T->cut_row);
    return launch_check("tiled: rows of C");
}

static int place_sums(struct scratch *w, const struct cut *s, const int32_t *order, bool permute,
                      struct tiled *T)
{
    if (!T->cuts && !T->reordered) return OK;
    int err = own_alloc(w->d, s->count, &T->to);
    if (err) return err;
    if (permute && T->reordered) return permute_rows(w, s, order, T);
    if (!s->count) return OK;
    LAUNCH(copy_to, grid_for(s->count), BLOCK, 0, w->d->stream, *s, order, T->to);
    return launch_check("tiled: to");
}

#endif
