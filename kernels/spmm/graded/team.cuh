// The work of a team: products of nonzeros and rows of B, and their sums.
//
// A group of LANES lanes loads a row of B, or one slab of the row: PACKS packs of VEC columns per
// lane, LANES packs apart. The groups of a team take parts of its nonzeros in turn, one per round.
// Each lane of a group loads one nonzero. Column and value then go to all lanes of the group by
// shuffles, or by shared memory for most bundles.
#ifndef GRADED_TEAM_H
#define GRADED_TEAM_H

#include "device/once.cuh"
#include "pieces.cuh"

// The shape of the work of a lane. WHOLE: slabs are full. TEAM: lanes of a short piece.
template <typename VALUE, int V, int L, int P, bool W, int TEAM_LANES = (L < 4 ? 8 : L)>
struct shape {
    typedef VALUE T;
    typedef pack<VALUE, V> packed;
    static const int VEC = V, LANES = L, PACKS = P;
    static const int TEAM = TEAM_LANES;
    static const int SLAB = V * L * P;                   // columns
    static const int BYTES = V * P * (int)sizeof(VALUE); // bytes of a row of B in one lane
    static const bool WHOLE = W;
};

// Nonzeros whose rows of B are loaded before the first of them is used. Bundles by many lanes with
// narrow packs take 0.78 to 0.97 of the time with four. Measured on an H200.
template <typename S, int ROWS> static __host__ __device__ constexpr int batch_of()
{
    const bool f64 = sizeof(typename S::T) == 8, wide = S::BYTES == 16 * S::PACKS;
    if (S::LANES < 4) return S::LANES;
    if (ROWS > 1 && !wide && S::LANES >= (f64 ? 16 : 32)) return 4;
    return S::BYTES > 32 || (S::BYTES > 16 && ROWS > 1) ? 2 : 4;
}

// The same of a tiny row. Five are what a row of a five-point stencil has: in f64 with 64 columns a
// grid then takes 6 to 8 % less time. In f32 with 128 it takes from 3 % less to 7 % more, by size.
template <typename S> static __host__ __device__ constexpr int tiny_batch()
{
    return sizeof(typename S::T) == 8 && S::BYTES == 32 && S::LANES == 16 ? 5 : batch_of<S, 1>();
}

// Batches of a round that are in one body of the loop, so that loads of the next one can be ahead
// of products of this one. Bundles of f64 take 0.76 to 1.0 of the time by that, those of f32 up to
// 1.1, by what is spilled. Measured on an H200.
template <typename S, int ROWS> static __host__ __device__ constexpr int batches_at_once()
{
    if (S::LANES <= 8) return S::LANES / batch_of<S, ROWS>();
    return ROWS == 1 || sizeof(typename S::T) == 4 ? 1 : S::BYTES > 16 ? 2 : 4;
}

// Returns true if the kernel has code for tiny rows. The sum of a tiny row is the sum of one group,
// so a team must be one group.
template <typename S, bool BUNDLES> static __host__ __device__ constexpr bool has_tiny()
{
    return !BUNDLES && S::TEAM == S::LANES;
}

// Blocks that a multiprocessor must have registers for: with 4 to 10 of them a thread has 128, 96,
// 80, 72, 64, 56 or 48 registers. Values that do not fit are spilled in every round, which
// costs more than fewer blocks do. ROOMY: fewer blocks still, so that more loads are under way.
// Bundles by 16 lanes of 24 bytes fit in 64 registers, and are faster by that on an H200.
template <typename S, int ROWS, bool ROOMY> static __host__ __device__ constexpr int blocks_of()
{
    if (ROWS == 1) return S::BYTES > 16 ? (ROOMY ? 7 : 8) : ROOMY ? 9 : 10;
    if (sizeof(typename S::T) == 4) return S::BYTES > (S::LANES == 16 ? 24 : 16) ? 6 : 8;
    return S::PACKS > 3 ? 4 : S::BYTES > 16 ? 5 : S::BYTES > 8 ? 6 : 8;
}

// x = *p if `in`, or where place < left; else zero. A load under a plain branch makes ptxas keep x
// alive around the loop, which spills: this sets x first and then loads under a predicate. What
// comes of `in` ptxas keeps from ahead of a loop in which it does not change. Not a .nc load: the
// kernel ahead may still be writing B when this one starts.
//   LOAD_IF makes both for packs of V values: FIRST and SECOND are the operands behind the address.
#ifdef __CUDA_ARCH__
#define PREDICATED(SET, ZEROS, LOAD, ...)                                                          \
    asm volatile("{.reg .pred q; setp." SET "; " ZEROS "@q ld.global." LOAD ";}" : __VA_ARGS__)
#define LOAD_IF(T, V, FIRST, SECOND, ZEROS, LOAD, ...)                                             \
    static __device__ __forceinline__ void load_if(pack<T, V> &x, const pack<T, V> *p, bool in)    \
    {                                                                                              \
        PREDICATED("ne.s32 q, " FIRST ", 0", ZEROS, LOAD, __VA_ARGS__ : "l"(p), "r"((int)in));     \
    }                                                                                              \
    static __device__ __forceinline__ void load_if(pack<T, V> &x, const pack<T, V> *p,             \
                                                   int32_t place, int32_t left)                    \
    {                                                                                              \
        PREDICATED("lt.s32 q, " FIRST ", " SECOND, ZEROS, LOAD, __VA_ARGS__                        \
                   : "l"(p), "r"(place), "r"(left));                                               \
    }
LOAD_IF(float, 1, "%2", "%3", "mov.b32 %0, 0;", "f32 %0, [%1]", "=&f"(x.x[0]))
LOAD_IF(float, 2, "%3", "%4", "mov.b32 %0, 0; mov.b32 %1, 0;", "v2.f32 {%0, %1}, [%2]",
        "=&f"(x.x[0]), "=&f"(x.x[1]))
LOAD_IF(float, 4, "%5", "%6", "mov.b32 %0, 0; mov.b32 %1, 0; mov.b32 %2, 0; mov.b32 %3, 0;",
        "v4.f32 {%0, %1, %2, %3}, [%4]", "=&f"(x.x[0]), "=&f"(x.x[1]), "=&f"(x.x[2]), "=&f"(x.x[3]))
LOAD_IF(double, 1, "%2", "%3", "mov.b64 %0, 0;", "f64 %0, [%1]", "=&d"(x.x[0]))
LOAD_IF(double, 2, "%3", "%4", "mov.b64 %0, 0; mov.b64 %1, 0;", "v2.f64 {%0, %1}, [%2]",
        "=&d"(x.x[0]), "=&d"(x.x[1]))
#undef LOAD_IF
#undef PREDICATED
#else
template <typename X> static __device__ __forceinline__ void load_if(X &x, const X *p, bool in)
{
    x = in ? *p : X{};
}
template <typename X>
static __device__ __forceinline__ void load_if(X &x, const X *p, int32_t place, int32_t left)
{
    load_if(x, p, place < left);
}
#endif

// The lane's packs of a row: where the first one is, and which there are. Where slabs are not full
// what is past column k is not loaded; a lane whose first pack lies there loads that of column 0,
// and does not store it.
template <typename S> struct columns {
    uint32_t first; // in elements from the start of a row
    bool in[S::PACKS];

    __device__ __forceinline__ columns(int32_t slab, int32_t k)
    {
        first = (uint32_t)slab * S::SLAB + (uint32_t)threadIdx.x % S::LANES * (uint32_t)S::VEC;
#pragma unroll
        for (int l = 0; l < S::PACKS; l++)
            in[l] = S::WHOLE || first + (uint32_t)l * S::LANES * S::VEC < (uint32_t)k;
        if (!in[0]) first = 0;
    }
};

// How many nonzeros of a round there are for each pack of a lane: those of its group, but none for
// a pack that lies past the end of a row.
template <typename S> struct limits {
    int32_t left[S::PACKS];

    __device__ __forceinline__ limits(int32_t of_group, const columns<S> &where)
    {
#pragma unroll
        for (int l = 0; l < S::PACKS; l++) left[l] = l == 0 || where.in[l] ? of_group : 0;
    }

    // Keeps them in registers; the compiler would make them anew for each batch.
    __device__ __forceinline__ void keep()
    {
#pragma unroll
        for (int l = 1; l < S::PACKS; l++)
            if (!S::WHOLE) opaque(left[l]);
    }
};

// Pack l of a lane whose first one is at `first`.
template <typename S, typename X> static __device__ __forceinline__ X *pack_at(X *first, int l)
{
    return first + l * S::LANES * S::VEC;
}

// A nonzero of each of ROWS rows, all in column j, in the lane that has loaded it.
template <typename T, int ROWS> struct nonzeros {
    int32_t j;
    T v[ROWS];
};

// The sums of a lane.
template <typename S, int ROWS> struct sums {
    typename S::packed x[ROWS][S::PACKS];
};

// Nonzeros of a piece as one lane sees them, which loads one of each round of its group.
template <typename T> struct stretch {
    const int32_t *idx; // columns
    const T *val;       // values, those of the next row of a bundle `apart` further on
    int32_t apart;
    int32_t p;      // the place of the lane's next one
    int32_t left;   // nonzeros from its group's next round on, those of other groups as well
    int32_t stride; // from a round of the group to its next one
};

template <int ROWS, typename T>
static __device__ __forceinline__ nonzeros<T, ROWS> load_round(const stretch<T> &from, int lane)
{
    nonzeros<T, ROWS> next = {};
    if (lane >= from.left) return next;
    next.j = load_once(from.idx + from.p);
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        next.v[r] = load_once(from.val + from.p + (int64_t)r * from.apart);
    return next;
}

// Without its mark, if it may have one.
template <bool MARKS> static __device__ __forceinline__ uint32_t column_of(int32_t j)
{
    return (uint32_t)(MARKS ? j & ~MARK : j);
}
static __device__ __forceinline__ bool is_absent(float v) { return __float_as_uint(v) == 0; }
static __device__ __forceinline__ bool is_absent(double v) { return __double_as_longlong(v) == 0; }

// Shared memory through which the lanes of a group exchange the nonzeros of a round: per thread of
// a block a column, and a value of each row.
template <typename T> struct shelf {
    int32_t *j;
    T *v; // values of the first row, then of the next row
};

// Returns true if bundles use a shelf. A shelf gives 16 bytes of a batch per load, a shuffle gives
// one number. With 8 lanes, or fewer bytes per batch, the shelf is no faster. Measured on an H200.
template <typename S, int ROWS> static __host__ __device__ constexpr bool has_shelf()
{
    return ROWS > 1 && S::LANES >= 16 && batch_of<S, ROWS>() * (int)sizeof(typename S::T) >= 16;
}

// By all lanes.
template <int ROWS, typename T>
static __device__ __forceinline__ void put_on_shelf(const shelf<T> &shelf,
                                                    const nonzeros<T, ROWS> &now)
{
    __syncwarp(); // all have read what was there
    shelf.j[threadIdx.x] = now.j;
#pragma unroll
    for (int r = 0; r < ROWS; r++) shelf.v[r * THREADS + threadIdx.x] = now.v[r];
    __syncwarp();
}

// x = the numbers from p on, 16 bytes at a time.
template <int COUNT, typename X>
static __device__ __forceinline__ void read_shelf(X (&x)[COUNT], const X *p)
{
    const int AT_ONCE = COUNT * sizeof(X) < 16 ? COUNT : 16 / (int)sizeof(X);
#pragma unroll
    for (int i = 0; i < COUNT; i += AT_ONCE) {
        const pack<X, AT_ONCE> y = *(const pack<X, AT_ONCE> *)(p + i);
#pragma unroll
        for (int e = 0; e < AT_ONCE; e++) x[i + e] = y.x[e];
    }
}

// The lane's packs of the row of B in column j, of the nonzero at `place` of a round. FULL: all of
// the round are there, so that what a lane loads depends on nothing that changes in the loop.
// MARKS: j may be marked.
template <bool FULL, bool MARKS, typename S>
static __device__ __forceinline__ void
load_row(typename S::packed (&b)[S::PACKS], int32_t j, int place, const limits<S> &of,
         const typename S::T *B, uint32_t B_step, const columns<S> &where)
{
    typedef typename S::T T;
    typedef typename S::packed packed;
    uint32_t step = B_step;
    opaque(step);
    const T *row = row_at<const T>(B, step, column_of<MARKS>(j));
#pragma unroll
    for (int l = 0; l < S::PACKS; l++) {
        const packed *p = (const packed *)pack_at<S>(row, l);
        if (!FULL)
            load_if(b[l], p, place, of.left[l]);
        else if (S::WHOLE || l == 0)
            b[l] = *p;
        else
            load_if(b[l], p, where.in[l]);
    }
}

// sum += the products of the nonzeros of lane `place` of the group with a row of B. PLAIN: the
// column is not marked. By all lanes.
template <bool PLAIN, typename S, int ROWS>
static __device__ __forceinline__ void
add_products(sums<S, ROWS> &sum, int32_t j, const nonzeros<typename S::T, ROWS> &now, int place,
             const typename S::packed (&b)[S::PACKS])
{
    typename S::T v[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) v[r] = __shfl_sync(FULL_MASK, now.v[r], place, S::LANES);
    const bool marked = !PLAIN && j < 0;
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        if (!marked || !is_absent(v[r]))
#pragma unroll
            for (int l = 0; l < S::PACKS; l++) add_product(sum.x[r][l], v[r], b[l]);
}

// sum += the products of BATCH nonzeros of a group's round from the one of lane q on. By all lanes.
template <bool FULL, bool PLAIN, int BATCH, typename S, int ROWS>
static __device__ __forceinline__ void
add_batch(sums<S, ROWS> &sum, const nonzeros<typename S::T, ROWS> &now, int q, const limits<S> &of,
          const typename S::T *B, uint32_t B_step, const columns<S> &where)
{
    typename S::packed b[BATCH][S::PACKS];
    int32_t j[BATCH];
#pragma unroll
    for (int e = 0; e < BATCH; e++) {
        j[e] = __shfl_sync(FULL_MASK, now.j, q + e, S::LANES);
        load_row<FULL, ROWS != 1 && !PLAIN>(b[e], j[e], q + e, of, B, B_step, where);
    }
#pragma unroll
    for (int e = 0; e < BATCH; e++) add_products<PLAIN>(sum, j[e], now, q + e, b[e]);
}

// The same of a round that is on the shelf, in which no column is marked.
template <bool FULL, int BATCH, typename S, int ROWS>
static __device__ __forceinline__ void
add_batch_from(const shelf<typename S::T> &shelf, sums<S, ROWS> &sum, int q, const limits<S> &of,
               const typename S::T *B, uint32_t B_step, const columns<S> &where)
{
    typedef typename S::T T;
    typename S::packed b[BATCH][S::PACKS];
    int32_t j[BATCH];
    const int at = (int)threadIdx.x / S::LANES * S::LANES + q;
    read_shelf(j, shelf.j + at);
#pragma unroll
    for (int e = 0; e < BATCH; e++) load_row<FULL, false>(b[e], j[e], q + e, of, B, B_step, where);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        T v[BATCH];
        read_shelf(v, shelf.v + r * THREADS + at);
#pragma unroll
        for (int e = 0; e < BATCH; e++)
#pragma unroll
            for (int l = 0; l < S::PACKS; l++) add_product(sum.x[r][l], v[e], b[e][l]);
    }
}

// sum += the products of a group's round, of which `left` are there; B begins with the lane's first
// pack. PLAIN: no column is marked, and the round is on the shelf if there is one. By all lanes.
template <bool FULL, bool PLAIN, typename S, int ROWS>
static __device__ __forceinline__ void
add_round(sums<S, ROWS> &sum, const nonzeros<typename S::T, ROWS> &now,
          const shelf<typename S::T> &shelf, int32_t left, const typename S::T *B, uint32_t B_step,
          const columns<S> &where)
{
    const int BATCH = batch_of<S, ROWS>();
    limits<S> of(left, where);
    if (!FULL) of.keep();
#pragma unroll(batches_at_once <S, ROWS>())
    for (int q = 0; q < S::LANES; q += BATCH) {
        if (!FULL && q > 0 && !__any_sync(FULL_MASK, left > q)) break;
        if constexpr (PLAIN && has_shelf<S, ROWS>())
            add_batch_from<FULL, BATCH>(shelf, sum, q, of, B, B_step, where);
        else
            add_batch<FULL, PLAIN, BATCH>(sum, now, q, of, B, B_step, where);
    }
}

// The products of all rounds of the group, of which the first is there. By all lanes.
template <typename S, int ROWS>
static __device__ __forceinline__ void
add_rounds(sums<S, ROWS> &sum, nonzeros<typename S::T, ROWS> next, stretch<typename S::T> from,
           const shelf<typename S::T> &shelf, const typename S::T *B, uint32_t B_step,
           const columns<S> &where)
{
    const int lane = (int)(threadIdx.x % S::LANES);
#pragma unroll 1
    while (__any_sync(FULL_MASK, from.left > 0)) {
        const nonzeros<typename S::T, ROWS> now = next;
        const int32_t left = from.left;
        from.p += from.stride;
        from.left -= from.stride;
        next = load_round<ROWS>(from, lane);
        const bool full = __all_sync(FULL_MASK, left >= S::LANES);
        if (ROWS > 1 && __any_sync(FULL_MASK, now.j < 0)) {
            if (full)
                add_round<true, false>(sum, now, shelf, left, B, B_step, where);
            else
                add_round<false, false>(sum, now, shelf, left, B, B_step, where);
            continue;
        }
        if constexpr (has_shelf<S, ROWS>()) put_on_shelf(shelf, now);
        if (full)
            add_round<true, true>(sum, now, shelf, left, B, B_step, where);
        else
            add_round<false, true>(sum, now, shelf, left, B, B_step, where);
    }
}

// Adds the sums of each FROM lanes over each TEAM lanes. All TEAM lanes get the result. All lanes
// call this function.
template <int FROM, int TEAM, typename S, int ROWS>
static __device__ __forceinline__ void add_groups(sums<S, ROWS> &sum)
{
#pragma unroll
    for (int step = FROM; step < TEAM; step *= 2)
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int l = 0; l < S::PACKS; l++)
#pragma unroll
                for (int v = 0; v < S::VEC; v++)
                    sum.x[r][l].x[v] += __shfl_xor_sync(FULL_MASK, sum.x[r][l].x[v], step);
}

// Writes the lane's packs of row `i` of C.
template <typename S>
static __device__ __forceinline__ void store_row(const typename S::packed (&x)[S::PACKS],
                                                 typename S::T *C, uint32_t C_step, int32_t i,
                                                 const columns<S> &where)
{
    typename S::T *row = row_at<typename S::T>(C, C_step, (uint32_t)i) + where.first;
#pragma unroll
    for (int l = 0; l < S::PACKS; l++)
        if (where.in[l]) store_once((typename S::packed *)pack_at<S>(row, l), x[l]);
}

#endif
