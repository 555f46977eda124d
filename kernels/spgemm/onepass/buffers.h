// Buffers of a thread of `onepass` for its row of C, and the parts of the methods that do not
// depend on the value type.
#ifndef ONEPASS_BUFFERS_H
#define ONEPASS_BUFFERS_H

#include "cpu.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define STEP        8    // products that are expanded at a time
#define FEW         64   // most products of a ranked row: the bits of a word
#define LIST_RANKED 64   // most columns of a list that is ranked; whole steps
#define CLOSE       32   // most columns of a window per product
#define BUNDLE      4    // most rows of a bundle
#define BUNDLE_SPAN 4096 // most columns of a bundle's window, which stays in the cache

// Methods of computing a row of C, see onepass.c. NOTHING: the row has no products.
enum method { NOTHING, SCALED, RANKED, WORD, WINDOW, LISTED, BUNDLED, METHODS };

struct buffers {
    int64_t rows[METHODS]; // rows computed by each method
    void *sum;             // a sum for each column, size n, 0 between rows
    void *bundle;   // BUNDLE sums for each column of a window, size BUNDLE_SPAN, 0 between rows
    int8_t *used;   // -1: the column has products; size n rounded up to 64, 0 between rows
    int32_t *list;  // used columns, in the order of their first products; room for STEP more
    uint64_t *bits; // a bit for each column, 0 between rows
    uint64_t *top;  // a bit for each word of bits, 0 between rows
};

// Memory of the buffers of all threads, one thread after the other.
struct thread_buffers {
    // Sizes for one thread: columns of S rounded up to 64, words of bits and top, size of the list.
    int64_t columns, words, places;
    void *sum, *bundle;
    int8_t *used;
    int32_t *list;
    uint64_t *bits;
};

// Allocates the buffers of all threads, for rows of up to `most` products.
static inline int buffers_make(struct thread_buffers *x, struct device *dev, int threads, int64_t n,
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

static inline void buffers_free(struct thread_buffers *x, struct device *dev)
{
    device_free(dev, x->sum);
    device_free(dev, x->bundle);
    device_free(dev, x->used);
    device_free(dev, x->list);
    device_free(dev, x->bits);
}

// Returns the cleared buffers of a thread. The thread itself calls this function, so that the pages
// are in memory near the thread.
static inline struct buffers buffers_of_thread(const struct thread_buffers *x, int64_t thread,
                                               size_t width)
{
    if (!x->sum) return (struct buffers){0};
    const size_t columns = (size_t)x->columns;
    struct buffers d = {.sum = (char *)x->sum + (size_t)thread * columns * width,
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

// Range of the columns of a row of C: low .. low + span - 1.
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

// Returns the method for row i alone. From WORD on, sets *r to the range of the row's columns.
CPU_INLINE enum method row_method(const struct csr_dev *A, const struct csr_dev *S, int32_t i,
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

// Returns the number of rows from i on, before `end` and up to BUNDLE, with the same columns in A.
CPU_INLINE int equal_rows(const struct csr_dev *A, int32_t i, int32_t end)
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

// Returns a bit for each of 64 marks, and clears the marks.
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

// Writes `first` + position of each set bit to idx. Returns the end of the written columns.
CPU_INLINE int32_t *list_bits(uint64_t bits, int64_t first, int32_t *idx)
{
    for (; bits; bits &= bits - 1) *idx++ = (int32_t)(first + __builtin_ctzll(bits));
    return idx;
}

// Writes the marked columns of a window to idx, in order, and clears the marks. Returns their
// number.
CPU_INLINE int64_t take_window(int8_t *restrict used, struct range r, int32_t *restrict idx)
{
    int32_t *to = idx;
    for (int64_t w = 0; w < r.span; w += 64) to = list_bits(take_marks(used + w), r.low + w, to);
    return to - idx;
}

// rank() for columns [first, first + vectors * STEP). `vectors` is a compile-time constant.
typedef int32_t lanes __attribute__((vector_size(4 * STEP)));
CPU_INLINE void rank_vectors(const int vectors, const int32_t *col, int64_t first, int64_t count,
                             int32_t *place)
{
    lanes mine[4], smaller[4];
    UNROLL for (int v = 0; v < vectors; v++)
    {
        memcpy(&mine[v], col + first + v * STEP, sizeof *mine);
        smaller[v] = (lanes){0};
    }
    for (int64_t x = 0; x < count; x++) {
        const lanes other = (lanes){0} + col[x];
        UNROLL for (int v = 0; v < vectors; v++) smaller[v] -= (lanes)(mine[v] > other);
    }
    UNROLL for (int v = 0; v < vectors; v++)
        memcpy(place + first + v * STEP, &smaller[v], sizeof *smaller);
}

// Sets place[x] to the number of the `count` columns that are smaller than col[x]. Both arrays have
// whole vectors; the elements past `count` may be anything.
CPU_INLINE void rank(const int32_t *col, int64_t count, int32_t *place)
{
    for (int64_t x = 0; x < count; x += 4 * STEP) switch ((count - x + STEP - 1) / STEP) {
        case 1: rank_vectors(1, col, x, count, place); break;
        case 2: rank_vectors(2, col, x, count, place); break;
        case 3: rank_vectors(3, col, x, count, place); break;
        default: rank_vectors(4, col, x, count, place); break;
        }
}

// Writes the list of columns to idx, sorted.
CPU_INLINE void sort_list(const struct buffers *d, struct range r, int64_t count,
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
