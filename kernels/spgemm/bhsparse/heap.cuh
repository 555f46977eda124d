// Stage 3 of `bhsparse`: rows of up to 32 products, a thread a row.
#ifndef SPGEMM_BHSPARSE_HEAP_H
#define SPGEMM_BHSPARSE_HEAP_H

#include "binning.cuh"

#define HEAP_BLOCK 32 // threads

// Copies the only product of each row.
template <typename T>
static __global__ __launch_bounds__(BLOCK) void copy_one(factors<T> x, bin<T> c)
{
    const int64_t r = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    if (r >= c.count) return;
    const int32_t i = c.rows[r];
    for (int32_t p = x.A_ptr[i]; p < x.A_ptr[i + 1]; p++) {
        const int32_t l = x.A_idx[p], q = x.S_ptr[l];
        if (q == x.S_ptr[l + 1]) continue;
        c.idx[c.at[r]] = x.S_idx[q];
        c.val[c.at[r]] = x.A_val[p] * x.S_val[q];
    }
}

// The slots of a thread. Slots of neighbouring lanes are neighbours, so that banks differ.
template <typename T> struct slots {
    int32_t *keys;
    T *vals;

    __device__ __forceinline__ int32_t &key(int32_t j) const { return keys[j * HEAP_BLOCK]; }
    __device__ __forceinline__ T &val(int32_t j) const { return vals[j * HEAP_BLOCK]; }
};

// Puts an entry into the heap of `size` slots, at `hole` or below. A parent is at least its child.
template <typename T>
static __device__ __forceinline__ void sift_down(slots<T> s, int32_t hole, int32_t size,
                                                 int32_t key, T val)
{
    for (int32_t child = 2 * hole + 1; child < size; child = 2 * hole + 1) {
        if (child + 1 < size && s.key(child + 1) > s.key(child)) child++;
        if (s.key(child) <= key) break;
        s.key(hole) = s.key(child);
        s.val(hole) = s.val(child);
        hole = child;
    }
    s.key(hole) = key;
    s.val(hole) = val;
}

// Sorts `count` slots by heap sort and adds up equal keys. Returns the first slot of the result,
// which ends at slot `count`.
template <typename T> static __device__ __forceinline__ int32_t heap_sort(slots<T> s, int32_t count)
{
    int32_t top = count;
    for (int32_t root = count / 2 - 1; root >= 0; root--)
        sift_down(s, root, count, s.key(root), s.val(root));
    for (int32_t size = count - 1; size >= 0; size--) {
        const int32_t key = s.key(0);
        const T val = s.val(0);
        sift_down(s, 0, size, s.key(size), s.val(size));
        if (top < count && s.key(top) == key) {
            s.val(top) += val;
        } else {
            top--;
            s.key(top) = key;
            s.val(top) = val;
        }
    }
    return top;
}

// Rows of `products` products. Shared memory has as many slots for each thread.
template <typename T>
static __global__ __launch_bounds__(HEAP_BLOCK) void heap_rows(factors<T> x, bin<T> c,
                                                               int32_t products)
{
    SHARED_DYNAMIC(T, vals);
    int32_t *keys = (int32_t *)(vals + products * HEAP_BLOCK);
    const slots<T> s = {keys + threadIdx.x, vals + threadIdx.x};
    const int64_t r = (int64_t)blockIdx.x * HEAP_BLOCK + threadIdx.x;
    if (r >= c.count) return;
    const int32_t i = c.rows[r];
    int32_t j = 0;
    for (int32_t p = x.A_ptr[i]; p < x.A_ptr[i + 1]; p++) {
        const int32_t l = x.A_idx[p];
        for (int32_t q = x.S_ptr[l]; q < x.S_ptr[l + 1]; q++, j++) {
            s.key(j) = x.S_idx[q];
            s.val(j) = x.A_val[p] * x.S_val[q];
        }
    }
    const int32_t top = heap_sort(s, products);
    for (j = top; j < products; j++) {
        c.idx[c.at[r] + j - top] = s.key(j);
        c.val[c.at[r] + j - top] = s.val(j);
    }
    c.length[i] = products - top;
}

template <typename T> static int run_heap(struct task *t, const struct work *w)
{
    const factors<T> x = factors_of<T>(t);
    const auto one = copy_one<T>;
    const auto heap = heap_rows<T>;
    bin<T> rows = bins_of<T>(w, 1, 2);
    int err = task_phase(t, "heap");
    if (err) return err;
    if (rows.count) LAUNCH(one, blocks_of(rows.count, BLOCK), BLOCK, 0, t->dev->stream, x, rows);
    for (int32_t products = 2; products <= HEAP_MOST; products++) {
        rows = bins_of<T>(w, products, products + 1);
        if (rows.count)
            LAUNCH(heap, blocks_of(rows.count, HEAP_BLOCK), HEAP_BLOCK,
                   products * HEAP_BLOCK * (sizeof(int32_t) + sizeof(T)), t->dev->stream, x, rows,
                   products);
    }
    return launch_check("bhsparse: heap");
}

#endif
