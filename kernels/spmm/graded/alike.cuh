// Bundles: ALIKE neighbouring rows with mostly the same columns, so that a row of B is loaded once
// for all of them. The columns of a bundle are those of its first row, then the new columns of the
// second row, then those of the third. The sum of a row has its terms in that order. A candidate is
// a set of ALIKE neighbouring rows.
#ifndef GRADED_ALIKE_H
#define GRADED_ALIKE_H

#include "pieces.cuh"

// Columns of one row, ascending.
struct row_columns {
    const int32_t *idx;
    int32_t first, end; // as places in CSR
};

static __device__ __forceinline__ struct row_columns columns_of(const int32_t *ptr,
                                                                const int32_t *idx, int32_t i)
{
    return {idx, ptr[i], ptr[i + 1]};
}

// Returns the place in CSR of column j of this row, or -1.
static __device__ __forceinline__ int32_t find_column(const struct row_columns &row, int32_t j)
{
    const int32_t p = lower_bound(row.idx, row.first, row.end, j);
    return p < row.end && row.idx[p] == j ? p : -1;
}

// Returns true if a row before row r of a bundle has column j.
static __device__ __forceinline__ bool is_before(const struct row_columns *rows, int r, int32_t j)
{
    for (int q = 0; q < r; q++)
        if (find_column(rows[q], j) >= 0) return true;
    return false;
}

// Bounds of a bundle: least nonzeros per column, most columns.
struct bundle_bounds {
    float alike;
    int32_t columns;
};

// Sets columns[w] to the number of columns of candidate w as a bundle, or to 0 if it is no bundle.
// Adds the nonzeros of all bundles to *bundled. A warp per candidate.
static __global__ void __launch_bounds__(THREADS)
    find_bundles(int32_t candidates, const int32_t *__restrict__ ptr,
                 const int32_t *__restrict__ idx, struct bundle_bounds within,
                 int32_t *__restrict__ columns, unsigned long long *__restrict__ bundled)
{
    const int64_t w = ((int64_t)blockIdx.x * THREADS + threadIdx.x) / WARP;
    if (w >= candidates) return;
    struct row_columns rows[ALIKE];
    int32_t nonzeros = 0, longest = 0, own = 0;
    for (int r = 0; r < ALIKE; r++) {
        rows[r] = columns_of(ptr, idx, (int32_t)w * ALIKE + r);
        longest = max(longest, rows[r].end - rows[r].first);
        nonzeros += min(rows[r].end - rows[r].first, within.columns + 1);
    }
    bool alike = longest > 0 && longest <= within.columns &&
                 (float)nonzeros >= within.alike * (float)longest;
    if (alike) {
        for (int r = 0; r < ALIKE; r++)
            for (int64_t p = rows[r].first + lane_id(); p < rows[r].end; p += WARP)
                own += !is_before(rows, r, idx[p]);
        own = warp_sum(own);
        alike = own <= within.columns && (float)nonzeros >= within.alike * (float)own;
    }
    if (lane_id()) return;
    columns[w] = alike ? own : 0;
    if (alike) atomicAdd(bundled, (unsigned long long)nonzeros);
}

// Writes the columns and values of `count` bundles, a warp for each. The padding has values of +0.
template <typename T>
static __global__ void __launch_bounds__(THREADS)
    fill_bundles(const struct piece *__restrict__ list, int32_t count,
                 const int32_t *__restrict__ ptr, const int32_t *__restrict__ idx,
                 const T *__restrict__ val, int32_t *__restrict__ bundle_idx,
                 T *__restrict__ bundle_val)
{
    const int64_t b = ((int64_t)blockIdx.x * THREADS + threadIdx.x) / WARP;
    if (b >= count) return;
    const struct piece piece = list[b];
    const int32_t entries = whole_quads(piece.length);
    int32_t *to_idx = bundle_idx + piece.start;
    T *to_val = bundle_val + (int64_t)piece.start * ALIKE;
    struct row_columns rows[ALIKE];
    for (int r = 0; r < ALIKE; r++) rows[r] = columns_of(ptr, idx, piece.row + r);
    int32_t done = 0;
    for (int r = 0; r < ALIKE; r++) {
        for (int64_t round = rows[r].first; round < rows[r].end; round += WARP) {
            const int64_t p = round + lane_id();
            const int32_t j = p < rows[r].end ? idx[p] : -1;
            const bool own = j >= 0 && !is_before(rows, r, j);
            const unsigned all = __ballot_sync(FULL_MASK, own);
            const int32_t place = done + __popc(all & bits_below(lane_id()));
            done += __popc(all);
            if (!own) continue;
            bool all_have = r == 0;
            for (int q = 0; q < ALIKE; q++) {
                const int64_t found = q < r ? -1 : q == r ? p : find_column(rows[q], j);
                const sum_type<T> v = found < 0 ? (sum_type<T>)0 : widen(val[found]);
                narrow(to_val[(int64_t)q * entries + place],
                       found >= 0 && v == 0 ? -(sum_type<T>)0 : v);
                all_have &= found >= 0;
            }
            to_idx[place] = all_have ? j : j | MARK;
        }
    }
    const int32_t place = piece.length + lane_id();
    if (place >= entries) return;
    to_idx[place] = MARK;
    for (int q = 0; q < ALIKE; q++) narrow(to_val[(int64_t)q * entries + place], (sum_type<T>)0);
}

#endif
