// The work of a lane: quads of nonzeros, rows of B, sums over groups, rows of C.
#ifndef GRADED_GATHER_H
#define GRADED_GATHER_H

#include "device/once.cuh"
#include "pieces.cuh"

// Shape of the kernel. VEC: neighbouring columns of a load. PACKS: loads of a row of B per lane.
// LANES: lanes of a group that load a round of nonzeros together, one per lane, and exchange them
// by shuffles. LANES 0: each lane loads a quad of nonzeros, and the number of lanes is an
// argument. LAYOUT: layout of B and C. BUNDLES: bundles are possible.
template <typename VALUE, int VEC_, int PACKS_, int LANES_, int LAYOUT_, bool BUNDLES_>
struct shape {
    typedef VALUE T;             // of the values
    typedef sum_type<VALUE> SUM; // of the sums
    typedef pack<VALUE, VEC_> packed;
    static const int VEC = VEC_, PACKS = PACKS_, LANES = LANES_;
    static const int SUMS = VEC * PACKS; // columns of a lane
    static const int LOG_SUMS = SUMS == 1 ? 0 : SUMS == 2 ? 1 : SUMS == 4 ? 2 : 3;
    static const int BYTES = SUMS * (int)sizeof(VALUE); // bytes of a row of B in one lane
    static const int LAYOUT = LAYOUT_;                  // an enum layout
    static const bool BUNDLES = BUNDLES_;
    static_assert(SUMS == 1 << LOG_SUMS, "the columns of a slab are a power of two");
    static_assert(SUMS * (LANES_ ? LANES_ : 4) <= SLAB_MAX,
                  "sums of segments must fit in shared memory");
    static_assert(!BUNDLES || LANES > 0 || PACKS == 1, "a quad of a bundle has one pack");
    // Rows of B that are loaded before the first of them is used.
    static const int BATCH = BYTES > (LANES && !BUNDLES ? 32 : 16) ? 2 : 4;
};

// Returns the lanes of a group, log2.
template <typename S> static __device__ __forceinline__ int log_lanes_of(const lists &a)
{
    return S::LANES == 8 ? 3 : S::LANES == 16 ? 4 : S::LANES == 32 ? 5 : a.log_lanes;
}

// Loads x = *p if 0 <= place < count, else x = 0. A load under a plain
// branch makes ptxas keep x alive around the loop, which spills. Not a .nc load: the previous
// kernel may still write B.
#ifdef __CUDA_ARCH__
#define LOAD_WITHIN(T, V, FIRST, SECOND, ZEROS, LOAD, ...)                                         \
    static __device__ __forceinline__ void load_within(pack<T, V> &x, const pack<T, V> *p,         \
                                                       int32_t place, int32_t count)               \
    {                                                                                              \
        asm volatile("{.reg .pred q; setp.lt.u32 q, " FIRST ", " SECOND "; " ZEROS                 \
                     "@q ld.global." LOAD ";}"                                                     \
                     : __VA_ARGS__                                                                 \
                     : "l"(p), "r"(place), "r"(count));                                            \
    }
LOAD_WITHIN(float, 1, "%2", "%3", "mov.b32 %0, 0;", "f32 %0, [%1]", "=&f"(x.x[0]))
LOAD_WITHIN(float, 2, "%3", "%4", "mov.b32 %0, 0; mov.b32 %1, 0;", "v2.f32 {%0, %1}, [%2]",
            "=&f"(x.x[0]), "=&f"(x.x[1]))
LOAD_WITHIN(float, 4, "%5", "%6", "mov.b32 %0, 0; mov.b32 %1, 0; mov.b32 %2, 0; mov.b32 %3, 0;",
            "v4.f32 {%0, %1, %2, %3}, [%4]", "=&f"(x.x[0]), "=&f"(x.x[1]), "=&f"(x.x[2]),
            "=&f"(x.x[3]))
template <typename T>
static __device__ __forceinline__ void load_within(pack<T, 1> &x, const pack<T, 1> *p,
                                                   int32_t place, int32_t count)
{
    asm volatile("{.reg .pred q; setp.lt.u32 q, %2, %3; mov.b16 %0, 0; @q ld.global.b16 %0, [%1];}"
                 : "=&h"(x.x[0].bits)
                 : "l"(p), "r"(place), "r"(count));
}
// Packs of 16-bit values are loaded as packs of f32.
template <typename T, int VEC>
static __device__ __forceinline__ void load_within(pack<T, VEC> &x, const pack<T, VEC> *p,
                                                   int32_t place, int32_t count)
{
    pack<float, VEC / 2> words;
    load_within(words, (const pack<float, VEC / 2> *)p, place, count);
    memcpy(&x, &words, sizeof x);
}
LOAD_WITHIN(double, 1, "%2", "%3", "mov.b64 %0, 0;", "f64 %0, [%1]", "=&d"(x.x[0]))
LOAD_WITHIN(double, 2, "%3", "%4", "mov.b64 %0, 0; mov.b64 %1, 0;", "v2.f64 {%0, %1}, [%2]",
            "=&d"(x.x[0]), "=&d"(x.x[1]))
#undef LOAD_WITHIN
#else
template <typename X>
static __device__ __forceinline__ void load_within(X &x, const X *p, int32_t place, int32_t count)
{
    x = (uint32_t)place < (uint32_t)count ? *p : X{};
}
#endif

// Loads the quad of array `from` at place p, a multiple of QUAD. The arrays are padded to
// whole quads.
template <typename X>
static __device__ __forceinline__ void load_four(X (&x)[QUAD], const X *from, int64_t p)
{
    const int EACH = sizeof(X) < 4 ? QUAD : 16 / (int)sizeof(X);
#pragma unroll
    for (int i = 0; i < QUAD; i += EACH) {
        const pack<X, EACH> y = load_brief((const pack<X, EACH> *)(from + p + i));
#pragma unroll
        for (int e = 0; e < EACH; e++) x[i + e] = y.x[e];
    }
}

// COUNT nonzeros of each of ALL rows, in the same columns: a quad, or the lane's nonzero of a
// round.
template <typename T, int ALL, int COUNT> struct nonzeros {
    int32_t j[COUNT];
    T v[ALL][COUNT];
};

// Arrays of a piece.
template <typename T> struct arrays {
    const int32_t *idx;
    const T *val;
    int64_t apart; // entries between the values of two rows of a bundle
};

// Sets x to the quad or the nonzero at place p. Without `exists`, sets x to zeros, which count
// as absent in bundles.
template <int ALL, typename T>
static __device__ __forceinline__ void load_nonzeros(nonzeros<sum_type<T>, ALL, QUAD> &x,
                                                     const arrays<T> &from, int64_t p, bool exists)
{
    x = {};
    if (ALL > 1) x.j[0] = MARK;
    if (!exists) return;
    load_four(x.j, from.idx, p);
#pragma unroll
    for (int r = 0; r < ALL; r++) {
        T v[QUAD];
        load_four(v, from.val + r * from.apart, p);
#pragma unroll
        for (int e = 0; e < QUAD; e++) x.v[r][e] = widen(v[e]);
    }
}
template <int ALL, typename T>
static __device__ __forceinline__ void load_nonzeros(nonzeros<sum_type<T>, ALL, 1> &x,
                                                     const arrays<T> &from, int64_t p, bool exists)
{
    x = {};
    if (!exists) return;
    x.j[0] = load_once(from.idx + p);
#pragma unroll
    for (int r = 0; r < ALL; r++) x.v[r][0] = widen(load_once(from.val + r * from.apart + p));
}

static __device__ __forceinline__ bool is_absent(float v) { return __float_as_uint(v) == 0; }
static __device__ __forceinline__ bool is_absent(double v) { return __double_as_longlong(v) == 0; }

// Columns of a lane in its slab: SUMS columns, in packs that are `apart` columns apart.
template <typename S> struct columns {
    int32_t apart, first; // in columns; `first`: in B and C
    int32_t offset;       // first column in the slab
    bool in[S::PACKS];    // the pack is left of column k

    __device__ __forceinline__ columns(int32_t slab, int32_t k, int log_lanes)
    {
        apart = S::VEC << log_lanes;
        offset = (int32_t)(threadIdx.x & ((1u << log_lanes) - 1)) * S::VEC;
        first = slab * S::PACKS * apart + offset;
#pragma unroll
        for (int l = 0; l < S::PACKS; l++) in[l] = first + l * apart < k;
    }

    // Returns the column in the slab of sum w of the lane.
    __device__ __forceinline__ int32_t in_slab(int w) const
    {
        return offset + w / S::VEC * apart + w % S::VEC;
    }
};

// Rows of B, restricted to the columns of a lane.
template <typename S> struct rows_of_B {
    const typename S::T *B; // first column of the lane
    uint32_t step;
    int64_t apart;          // elements between the packs of a lane
    int32_t mask[S::PACKS]; // all bits; 0 for a pack right of the last column
    bool whole;             // all packs after the first are left of column k

    __device__ __forceinline__ rows_of_B(const operands<typename S::T> &x, const columns<S> &where)
    {
        const int64_t column = S::LAYOUT == LAYOUT_COL ? x.B_ld : 1;
        B = x.B + (where.in[0] ? where.first * column : 0);
        step = x.B_step;
        apart = where.apart * column;
#pragma unroll
        for (int l = 0; l < S::PACKS; l++) mask[l] = l == 0 || where.in[l] ? -1 : 0;
        whole = mask[S::PACKS - 1];
    }

    // Loads the packs of row j if 0 <= place < count, else sets them to zero. INSIDE: place < count
    // holds, and the lane is whole.
    template <bool INSIDE>
    __device__ __forceinline__ void load(typename S::packed (&b)[S::PACKS], int32_t j,
                                         int32_t place, int32_t count) const
    {
        uint32_t row_step = step;
        opaque(row_step);
        const typename S::T *row = row_at<const typename S::T>(B, row_step, (uint32_t)j);
#pragma unroll
        for (int l = 0; l < S::PACKS; l++) {
            const typename S::packed *p = (const typename S::packed *)(row + l * apart);
            if (INSIDE)
                b[l] = load_pack(p);
            else
                load_within(b[l], p, place, count & mask[l]);
        }
    }
};

// sum += v * b, by the packs of a lane.
template <typename S>
static __device__ __forceinline__ void add_row(typename S::SUM (&sum)[S::SUMS], typename S::SUM v,
                                               const typename S::packed (&b)[S::PACKS])
{
#pragma unroll
    for (int l = 0; l < S::PACKS; l++) {
        typename S::SUM y[S::VEC];
        widen_all(y, b[l]);
#pragma unroll
        for (int i = 0; i < S::VEC; i++) sum[l * S::VEC + i] += v * y[i];
    }
}

// Adds the products of a lane's quad. `place`: place of the quad in the piece.
template <typename S>
static __device__ __forceinline__ void add_quad(typename S::SUM (&sum)[1][S::SUMS],
                                                   const nonzeros<typename S::SUM, 1, QUAD> &now,
                                                   int32_t place, int32_t length,
                                                   const rows_of_B<S> &B)
{
#pragma unroll
    for (int e = 0; e < QUAD; e += S::BATCH) {
        typename S::packed b[S::BATCH][S::PACKS];
#pragma unroll
        for (int u = 0; u < S::BATCH; u++)
            B.template load<false>(b[u], now.j[e + u], place + e + u, length);
#pragma unroll
        for (int u = 0; u < S::BATCH; u++) {
            const bool in = (uint32_t)(place + e + u) < (uint32_t)length;
            add_row<S>(sum[0], in ? now.v[0][e + u] : 0, b[u]);
        }
    }
}

// Adds the products of a quad of a bundle. PLAIN: no column is marked.
template <bool PLAIN, typename S>
static __device__ __forceinline__ void
add_quad(typename S::SUM (&sum)[ALIKE][S::SUMS],
            const nonzeros<typename S::SUM, ALIKE, QUAD> &now, const rows_of_B<S> &B)
{
#pragma unroll
    for (int e = 0; e < QUAD; e += S::BATCH) {
        typename S::packed b[S::BATCH][S::PACKS];
#pragma unroll
        for (int u = 0; u < S::BATCH; u++)
            B.template load<true>(b[u], PLAIN ? now.j[e + u] : now.j[e + u] & ~MARK, 0, 0);
#pragma unroll
        for (int u = 0; u < S::BATCH; u++)
#pragma unroll
            for (int r = 0; r < ALIKE; r++)
                if (PLAIN || !is_absent(now.v[r][e + u])) add_row<S>(sum[r], now.v[r][e + u], b[u]);
    }
}

// Adds the products of a group's round of COUNT nonzeros of ALL rows, of which `left` exist.
// INSIDE: all exist, and all lanes are whole. PLAIN: no column is marked. By all lanes.
template <bool INSIDE, bool PLAIN, int COUNT, int ALL, typename S>
static __device__ __forceinline__ void add_round(typename S::SUM (&sum)[ALL][S::SUMS],
                                                 const nonzeros<typename S::SUM, ALL, 1> &now,
                                                 int32_t left, const rows_of_B<S> &B)
{
#pragma unroll(COUNT <= 8 ? COUNT / S::BATCH : 1)
    for (int q = 0; q < COUNT; q += S::BATCH) {
        if (!INSIDE && q > 0 && !__any_sync(FULL_MASK, left > q)) return;
        typename S::packed b[S::BATCH][S::PACKS];
#pragma unroll
        for (int u = 0; u < S::BATCH; u++) {
            const int32_t j = __shfl_sync(FULL_MASK, now.j[0], q + u, S::LANES);
            B.template load<INSIDE>(b[u], PLAIN ? j : j & ~MARK, q + u, left);
        }
#pragma unroll
        for (int u = 0; u < S::BATCH; u++)
#pragma unroll
            for (int r = 0; r < ALL; r++) {
                const typename S::SUM v = __shfl_sync(FULL_MASK, now.v[r][0], q + u, S::LANES);
                if (PLAIN || !is_absent(v)) add_row<S>(sum[r], v, b[u]);
            }
    }
}

// Shared memory for exchanging a round of a bundle within a group: a column for each thread of the
// block, and a value of each row. A load from a shelf gives 16 bytes, a shuffle gives one number.
template <typename T> struct shelf {
    alignas(16) int32_t j[THREADS];
    alignas(16) T v[ALIKE][THREADS];
};

// By all lanes.
template <typename T>
static __device__ __forceinline__ void put_on_shelf(shelf<T> &shelf,
                                                    const nonzeros<T, ALIKE, 1> &now)
{
    __syncwarp(); // all lanes have read the previous round
    shelf.j[threadIdx.x] = now.j[0];
#pragma unroll
    for (int r = 0; r < ALIKE; r++) shelf.v[r][threadIdx.x] = now.v[r][0];
    __syncwarp();
}

// Sets x to the numbers from p on, 16 bytes at a time.
template <int COUNT, typename X>
static __device__ __forceinline__ void read_shelf(X (&x)[COUNT], const X *p)
{
    const int EACH = COUNT * sizeof(X) < 16 ? COUNT : 16 / (int)sizeof(X);
#pragma unroll
    for (int i = 0; i < COUNT; i += EACH) {
        const pack<X, EACH> y = *(const pack<X, EACH> *)(p + i);
#pragma unroll
        for (int e = 0; e < EACH; e++) x[i + e] = y.x[e];
    }
}

// Adds the products of a round of a bundle, of which `left` columns exist. INSIDE: all exist, and
// all lanes are whole. PLAIN: no column is marked. By all lanes.
template <bool INSIDE, bool PLAIN, typename S>
static __device__ __forceinline__ void add_shelf(typename S::SUM (&sum)[ALIKE][S::SUMS],
                                                 const shelf<typename S::SUM> &shelf, int32_t left,
                                                 const rows_of_B<S> &B)
{
    const int own = (int)threadIdx.x / S::LANES * S::LANES;
#pragma unroll(S::LANES <= 8 ? S::LANES / S::BATCH : sizeof(typename S::SUM) == 4 ? 1 : 2)
    for (int q = 0; q < S::LANES; q += S::BATCH) {
        if (!INSIDE && q > 0 && !__any_sync(FULL_MASK, left > q)) return;
        typename S::packed b[S::BATCH][S::PACKS];
        int32_t j[S::BATCH];
        read_shelf(j, shelf.j + own + q);
#pragma unroll
        for (int u = 0; u < S::BATCH; u++)
            B.template load<INSIDE>(b[u], j[u] & (PLAIN ? -1 : ~MARK), q + u, left);
#pragma unroll
        for (int r = 0; r < ALIKE; r++) {
            typename S::SUM v[S::BATCH];
            read_shelf(v, shelf.v[r] + own + q);
#pragma unroll
            for (int u = 0; u < S::BATCH; u++)
                if (PLAIN || !is_absent(v[u])) add_row<S>(sum[r], v[u], b[u]);
        }
    }
}

// Adds x over `groups` groups that are `lanes` lanes apart, and calls use(sums, first, owner). Each
// step halves the sums of a lane until one is left. `first`: number of the lane's first sum.
// `owner`: no other lane has these sums. By all lanes.
template <int COUNT, typename T, typename F>
static __device__ __forceinline__ void add_groups(T (&x)[COUNT], int lanes, int groups, int first,
                                                  F use)
{
    if constexpr (COUNT > 1) {
        if (groups == 1) return use(x, first, true);
        const bool upper = threadIdx.x & (unsigned)lanes;
        T half[COUNT / 2];
#pragma unroll
        for (int i = 0; i < COUNT / 2; i++) {
            const T kept = upper ? x[i + COUNT / 2] : x[i], sent = upper ? x[i] : x[i + COUNT / 2];
            half[i] = kept + __shfl_xor_sync(FULL_MASK, sent, lanes);
        }
        add_groups(half, 2 * lanes, groups >> 1, first + (upper ? COUNT / 2 : 0), use);
    } else {
        bool owner = true;
#pragma unroll 1
        for (; groups > 1; groups >>= 1, lanes *= 2) {
            x[0] += __shfl_xor_sync(FULL_MASK, x[0], lanes);
            owner = owner && !(threadIdx.x & (unsigned)lanes);
        }
        use(x, first, owner);
    }
}

// Stores neighbouring sums at element (i, j) of C.
template <typename S, int VEC>
static __device__ __forceinline__ void store_at(const operands<typename S::T> &x, int32_t i,
                                                int64_t j, const pack<typename S::SUM, VEC> &sum)
{
    const int64_t at = S::LAYOUT == LAYOUT_ROW ? i * x.C_ld + j : j * x.C_ld + i;
    store_result<typename S::T, VEC, true>(x.C, at, x.narrow, sum);
}

// Writes COUNT sums of a lane, from number `first` on, to row i of C.
template <typename S, int COUNT>
static __device__ __forceinline__ void store_sums(const typename S::SUM (&sum)[COUNT], int first,
                                                  const operands<typename S::T> &x, int32_t i,
                                                  const columns<S> &where)
{
    const int EACH = S::LAYOUT == LAYOUT_COL ? 1 : COUNT < S::VEC ? COUNT : S::VEC;
    const int64_t slab = where.first - where.offset;
#pragma unroll
    for (int w = 0; w < COUNT; w += EACH) {
        const int64_t j = slab + where.in_slab(first + w);
        pack<typename S::SUM, EACH> y;
#pragma unroll
        for (int e = 0; e < EACH; e++) y.x[e] = sum[w + e];
        if (j < x.k) store_at<S, EACH>(x, i, j, y);
    }
}

#endif
