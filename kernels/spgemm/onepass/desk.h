// Buffers of a thread for its row, and the parts of the ways of onepass.c that do not depend on the
// type of the values.
#ifndef ONEPASS_DESK_H
#define ONEPASS_DESK_H

#include "cpu.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define STEP        8    // products that are expanded at a time
#define FEW         64   // products of a row up to which it is ranked: the bits of a word
#define LIST_RANKED 64   // columns of a list up to which they are; whole steps
#define CLOSE       32   // columns of a window for each product, at most
#define BUNDLE      4    // rows that are computed together, at most
#define BUNDLE_SPAN 4096 // columns of their window, at most: it stays near

// How a row of C is computed. More than FEW products, and those that are alike in A, in a bundle.
enum way { NOTHING, SCALED, RANKED, WORD, WINDOW, LISTED, BUNDLED, WAYS };

struct desk {
    int64_t rows[WAYS]; // that were computed in each way
    void *sum;          // of each column, size n, 0 between rows
    void *bundle;       // BUNDLE sums of each column of a window, size BUNDLE_SPAN, likewise
    int8_t *used;       // -1 where a column has products, size n rounded up to 64, 0 between rows
    int32_t *list;      // columns that have some, in the order of their first; room for STEP more
    uint64_t *bits;     // a bit for each column, 0 between rows
    uint64_t *top;      // a bit for each word of bits, likewise
};

// The desks of all threads, one after the other.
struct desks {
    int64_t columns, words, places; // of one: S's, rounded up to 64; of bits and top; of the list
    void *sum, *bundle;
    int8_t *used;
    int32_t *list;
    uint64_t *bits;
};

// For rows of up to so many products.
static inline int desks_make(struct desks *x, struct device *dev, int threads, int64_t n,
                             int64_t most, size_t width)
{
    x->columns = (n + 63) / 64 * 64;
    x->words = x->columns / 64 + x->columns / 4096 + 1;
    x->places = min64(n, most) + STEP;
    int err = device_alloc(dev, threads * x->columns, width, &x->sum);
    if (!err) err = device_alloc(dev, threads * BUNDLE_SPAN, BUNDLE * width, &x->bundle);
    if (!err) err = device_alloc(dev, threads * x->columns, 1, (void **)&x->used);
    if (!err) err = device_alloc(dev, threads * x->places, sizeof *x->list, (void **)&x->list);
    if (!err) err = device_alloc(dev, threads * x->words, sizeof *x->bits, (void **)&x->bits);
    return err;
}

static inline void desks_free(struct desks *x, struct device *dev)
{
    device_free(dev, x->sum);
    device_free(dev, x->bundle);
    device_free(dev, x->used);
    device_free(dev, x->list);
    device_free(dev, x->bits);
}

// Called by the thread itself, so that its memory is near it.
static inline struct desk desk_open(const struct desks *x, int64_t thread, size_t width)
{
    if (!x->sum) return (struct desk){0};
    const size_t columns = (size_t)x->columns;
    struct desk d = {.sum = (char *)x->sum + (size_t)thread * columns * width,
                     .bundle = (char *)x->bundle + (size_t)thread * BUNDLE_SPAN * BUNDLE * width,
                     .used = x->used + thread * x->columns,
                     .list = x->list + thread * x->places,
                     .bits = x->bits + thread * x->words};
    d.top = d.bits + x->columns / 64;
    memset(d.sum, 0, columns * width);
    memset(d.bundle, 0, BUNDLE_SPAN * BUNDLE * width);
    memset(d.used, 0, columns);
    memset(d.bits, 0, (size_t)x->words * sizeof *d.bits);
    return d;
}

// The columns of a row of C are among so many from the first on.
struct range {
    int32_t low;
    int64_t span;
};

CPU_INLINE struct range row_range(const struct csr_dev *A, const struct csr_dev *S, int32_t i)
{
    const int64_t *A_ptr = A->ptr, *S_ptr = S->ptr;
    int32_t low = INT32_MAX, high = 0;
    for (int64_t p = A_ptr[i], end = A_ptr[i + 1]; p < end; p++) {
        const int64_t q = S_ptr[A->idx[p]], q_end = S_ptr[A->idx[p] + 1];
        if (q == q_end) continue;
        if (S->idx[q] < low) low = S->idx[q];
        if (S->idx[q_end - 1] > high) high = S->idx[q_end - 1];
    }
    return (struct range){low, (int64_t)high - low + 1};
}

// The way of row i alone; from WORD on its columns lie in r.
CPU_INLINE enum way row_way(const struct csr_dev *A, const struct csr_dev *S, int32_t i,
                            int64_t products, struct range *r)
{
    const int64_t *A_ptr = A->ptr;
    if (!products) return NOTHING;
    if (A_ptr[i + 1] - A_ptr[i] == 1) return SCALED;
    if (products <= FEW) return RANKED;
    *r = row_range(A, S, i);
    if (r->span <= 64) return WORD;
    return r->span <= CLOSE * products ? WINDOW : LISTED;
}

// How many rows from i on, before `end`, have the same columns in A, up to BUNDLE.
CPU_INLINE int alike(const struct csr_dev *A, int32_t i, int32_t end)
{
    const int64_t *ptr = A->ptr, length = ptr[i + 1] - ptr[i];
    int rows = 1;
    for (; rows < BUNDLE && i + rows < end; rows++) {
        const int64_t next = ptr[i + rows];
        if (ptr[i + rows + 1] - next != length ||
            memcmp(A->idx + next, A->idx + ptr[i], (size_t)length * sizeof *A->idx))
            break;
    }
    return rows;
}

// A bit for each of 64 marks, which are cleared.
CPU_INLINE uint64_t take_marks(int8_t *mark)
{
    uint64_t bits = 0;
#ifdef __SSE2__
    for (int x = 0; x < 4; x++) {
        const __m128i sixteen = _mm_loadu_si128((const __m128i *)(mark + 16 * x));
        bits |= (uint64_t)(unsigned)_mm_movemask_epi8(sixteen) << 16 * x;
    }
#else
    for (int x = 0; x < 64; x++) bits |= (uint64_t)(mark[x] & 1) << x;
#endif
    memset(mark, 0, 64);
    return bits;
}

// The places of its ones, from `first` on; returns what is behind the last.
CPU_INLINE int32_t *list_bits(uint64_t bits, int64_t first, int32_t *idx)
{
    for (; bits; bits &= bits - 1) *idx++ = (int32_t)(first + __builtin_ctzll(bits));
    return idx;
}

// The marked columns of a window, in order; the marks are cleared. Returns how many there are.
CPU_INLINE int64_t take_window(int8_t *restrict used, struct range r, int32_t *restrict idx)
{
    int32_t *to = idx;
    for (int64_t w = 0; w < r.span; w += 64) to = list_bits(take_marks(used + w), r.low + w, to);
    return to - idx;
}

// The same for so many whole vectors of columns, known where it is compiled.
typedef int32_t lanes __attribute__((vector_size(4 * STEP)));
CPU_INLINE void rank_vectors(const int vectors, const int32_t *col, int64_t first, int64_t count,
                             int32_t *place)
{
    lanes mine[4], smaller[4];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
        memcpy(&mine[v], col + first + v * STEP, sizeof *mine);
        smaller[v] = (lanes){0};
    }
    for (int64_t x = 0; x < count; x++) {
        const lanes other = (lanes){0} + col[x];
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) smaller[v] -= (lanes)(mine[v] > other);
    }
    for (int v = 0; v < vectors; v++)
        memcpy(place + first + v * STEP, &smaller[v], sizeof *smaller);
}

// place[x] becomes how many of `count` columns are smaller than col[x]. There are whole vectors of
// both, whatever is in the rest.
CPU_INLINE void rank(const int32_t *col, int64_t count, int32_t *place)
{
    for (int64_t x = 0; x < count; x += 4 * STEP) switch ((count - x + STEP - 1) / STEP) {
        case 1: rank_vectors(1, col, x, count, place); break;
        case 2: rank_vectors(2, col, x, count, place); break;
        case 3: rank_vectors(3, col, x, count, place); break;
        default: rank_vectors(4, col, x, count, place); break;
        }
}

// The list in order, to idx.
CPU_INLINE void sort_list(const struct desk *d, struct range r, int64_t count,
                          int32_t *restrict idx)
{
    if (count <= LIST_RANKED) {
        int32_t place[LIST_RANKED];
        rank(d->list, count, place);
        for (int64_t x = 0; x < count; x++) idx[place[x]] = d->list[x];
        return;
    }
    for (int64_t x = 0; x < count; x++) {
        const uint32_t j = (uint32_t)d->list[x];
        d->bits[j / 64] |= UINT64_C(1) << j % 64;
        d->top[j / 4096] |= UINT64_C(1) << j / 64 % 64;
    }
    for (int64_t t = r.low / 4096; t <= (r.low + r.span - 1) / 4096; t++) {
        for (uint64_t words = d->top[t]; words; words &= words - 1) {
            const int64_t w = t * 64 + __builtin_ctzll(words);
            idx = list_bits(d->bits[w], w * 64, idx);
            d->bits[w] = 0;
        }
        d->top[t] = 0;
    }
}

#endif
