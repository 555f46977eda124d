// Stage 3 of `bhsparse`: rows of 33 to 512 products, expanded, sorted and compressed by a block.
#ifndef SPGEMM_BHSPARSE_BITONIC_H
#define SPGEMM_BHSPARSE_BITONIC_H

#include "binning.cuh"

template <typename T>
static __device__ __forceinline__ void order_pair(int32_t *keys, T *vals, int low, int high)
{
    const int32_t key = keys[low];
    const T val = vals[low];
    if (key <= keys[high]) return;
    keys[low] = keys[high];
    vals[low] = vals[high];
    keys[high] = key;
    vals[high] = val;
}

// Sorts 2 * THREADS pairs by Batcher's odd-even merge sort. A thread orders at most one pair in
// each step. Begins and ends with a barrier.
template <int THREADS, typename T>
static __device__ __forceinline__ void sort_odd_even(int32_t *keys, T *vals)
{
    const int me = (int)threadIdx.x;
    for (int half = 1; half <= THREADS; half *= 2) {
        // `half` threads merge two sorted parts of `half` pairs, which begin at `base`.
        const int rank = me & (half - 1), base = 2 * (me - rank);
        team_sync<THREADS>();
        order_pair(keys, vals, base + rank, base + rank + half);
        for (int step = half / 2; step > 0; step /= 2) {
            const int low = 2 * rank - (rank & (step - 1)) + step;
            team_sync<THREADS>();
            if (low + step < 2 * half) order_pair(keys, vals, base + low, base + low + step);
        }
    }
    team_sync<THREADS>();
}

// Rows of up to 2 * THREADS products, a block a row.
template <int THREADS, typename T>
static __global__ __launch_bounds__(THREADS) void bitonic_rows(factors<T> x, bin<T> c)
{
    constexpr int SIZE = 2 * THREADS;
    __shared__ int32_t keys[SIZE], sums[THREADS / WARP];
    __shared__ T vals[SIZE];
    const int me = (int)threadIdx.x;
    const int32_t i = c.rows[blockIdx.x];
    int32_t filled = 0, heads;
    for (int32_t p = x.A_ptr[i]; p < x.A_ptr[i + 1]; p++) {
        const int32_t l = x.A_idx[p], begin = x.S_ptr[l], count = x.S_ptr[l + 1] - begin;
        const T a = x.A_val[p];
#pragma unroll
        for (int j = me; j < SIZE; j += THREADS)
            if (j < count) {
                keys[filled + j] = x.S_idx[begin + j];
                vals[filled + j] = a * x.S_val[begin + j];
            }
        filled += count;
    }
    // Columns are below n.
    for (int e = filled + me; e < SIZE; e += THREADS) {
        keys[e] = x.n;
        vals[e] = 0;
    }
    sort_odd_even<THREADS>(keys, vals);

    // A head is the first product of its column. The sum of a column is the work of its head.
    bool head[2];
    for (int j = 0; j < 2; j++) {
        const int e = 2 * me + j;
        head[j] = e < filled && (e == 0 || keys[e] != keys[e - 1]);
    }
    int64_t to = c.at[blockIdx.x] + team_scan<THREADS>(head[0] + head[1], sums, heads);
    for (int j = 0; j < 2; j++) {
        const int e = 2 * me + j;
        if (!head[j]) continue;
        T sum = vals[e];
        for (int next = e + 1; next < filled && keys[next] == keys[e]; next++) sum += vals[next];
        c.idx[to] = keys[e];
        c.val[to++] = sum;
    }
    if (me == 0) c.length[i] = heads;
}

template <int THREADS, typename T>
static void launch_bitonic(const struct task *t, const struct work *w, int b)
{
    const auto kernel = bitonic_rows<THREADS, T>;
    const bin<T> rows = bins_of<T>(w, b, b + 1);
    if (rows.count)
        LAUNCH(kernel, (unsigned)rows.count, THREADS, 0, t->dev->stream, factors_of<T>(t), rows);
}

template <typename T> static int run_bitonic(struct task *t, const struct work *w)
{
    int err = task_phase(t, "bitonic");
    if (err) return err;
    launch_bitonic<32, T>(t, w, BIN_BITONIC);
    launch_bitonic<64, T>(t, w, BIN_BITONIC + 1);
    launch_bitonic<128, T>(t, w, BIN_BITONIC + 2);
    launch_bitonic<256, T>(t, w, BIN_BITONIC + 3);
    return launch_check("bhsparse: bitonic");
}

#endif
