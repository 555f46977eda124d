// The product by shares of rows and bundles. bundled.c includes this file once per type and kind of
// processor.
#include "spmm/cpu/rows.inl"

// Bytes of the widest slab of a bundle. The sums of three rows are in 12 of AVX2's 16 registers, in
// 24 of AVX-512's 32. Xeon: narrower slabs save 1 % in the mean, and cost 11 to 17 % on BOYD1_A.
#undef BUNDLE_BYTES
#define BUNDLE_BYTES (VECTOR == 64 ? 512 : 4 * VECTOR)

// The operands of a bundle.
struct NAME(bundle) {
    const int32_t *idx;
    const T *val;
    int64_t common;
    const int64_t *start; // row starts in CSR, from the first row on
    const T *B;
    int64_t ldb;
    T *C; // first row of the bundle in C
    int64_t ldc;
    bool stream;
};

// Computes columns j .. j + width - 1 of all rows of a bundle, with vectors of type V. `rows` and
// `width` are constants after inlining.
#define BUNDLE_SLAB(slab, V, PUT)                                                                  \
    CPU_INLINE void NAME(slab)(const struct NAME(bundle) x, int64_t j, int rows, int width)        \
    {                                                                                              \
        enum { LANES = sizeof(V) / sizeof(T) };                                                    \
        const int vectors = width / LANES;                                                         \
        const int32_t *restrict idx = x.idx;                                                       \
        const T *restrict val = x.val, *restrict B = x.B + j;                                      \
        V sum[BUNDLE_ROWS * BUNDLE_BYTES / sizeof(V)];                                             \
        UNROLL for (int s = 0; s < rows * vectors; s++) sum[s] = (V){0};                           \
        for (int64_t p = 0; p < x.common; p++, val += rows) {                                      \
            const V *b = (const V *)(B + idx[p] * x.ldb);                                          \
            UNROLL for (int v = 0; v < vectors; v++)                                               \
            {                                                                                      \
                const V loaded = b[v];                                                             \
                UNROLL for (int r = 0; r < rows; r++) sum[r * vectors + v] += val[r] * loaded;     \
            }                                                                                      \
        }                                                                                          \
        idx += x.common;                                                                           \
        UNROLL for (int r = 0; r < rows; r++)                                                      \
        {                                                                                          \
            const int64_t own = x.start[r + 1] - x.start[r] - x.common;                            \
            for (int64_t p = 0; p < own; p++) {                                                    \
                const T a = *val++;                                                                \
                const V *b = (const V *)(B + *idx++ * x.ldb);                                      \
                UNROLL for (int v = 0; v < vectors; v++) sum[r * vectors + v] += a * b[v];         \
            }                                                                                      \
            V *C = (V *)(x.C + r * x.ldc + j);                                                     \
            UNROLL for (int v = 0; v < vectors; v++)                                               \
            {                                                                                      \
                PUT(C + v, sum[r * vectors + v], x.stream);                                        \
            }                                                                                      \
        }                                                                                          \
    }
BUNDLE_SLAB(bundle_wide, NAME(wide), PUT_WIDE)
BUNDLE_SLAB(bundle_middle, NAME(middle), PUT)
BUNDLE_SLAB(bundle_narrow, NAME(narrow), PUT)
BUNDLE_SLAB(bundle_single, T, PUT)
#undef BUNDLE_SLAB

// Calls the slab function with the widest vectors that fit, as slab() of cpu/row.inl does.
CPU_INLINE void NAME(bundle_slab)(const struct NAME(bundle) x, int64_t j, int rows, int bytes)
{
    const int width = bytes / (int)sizeof(T);
    if (bytes > BUNDLE_BYTES)
        __builtin_unreachable();
    else if (bytes >= VECTOR)
        NAME(bundle_wide)(x, j, rows, width);
    else if (bytes >= 32)
        NAME(bundle_middle)(x, j, rows, width);
    else if (bytes >= 16)
        NAME(bundle_narrow)(x, j, rows, width);
    else
        NAME(bundle_single)(x, j, rows, width);
}

// Computes the last columns [j, k), fewer than a slab has. The slab overlaps the slab before.
static __attribute__((noinline)) void NAME(bundle_last)(struct NAME(bundle) x, int64_t j, int64_t k,
                                                        int rows)
{
    int64_t width = 1;
    while (width < k - j) width *= 2;
    x.stream = false;
#define SLAB(bytes)                                                                                \
    if (rows == 2)                                                                                 \
        NAME(bundle_slab)(x, k - width, 2, bytes);                                                 \
    else                                                                                           \
        NAME(bundle_slab)(x, k - width, 3, bytes)
    BY_BYTES(width * sizeof(T), SLAB)
#undef SLAB
}

// Computes all k columns. `bytes`, the bytes of a slab, and `rows` are constants.
CPU_INLINE void NAME(bundle_rows)(const struct NAME(bundle) x, int64_t k, int rows, int bytes)
{
    const int64_t width = bytes / (int)sizeof(T);
    int64_t j = 0;
    do {
        NAME(bundle_slab)(x, j, rows, bytes);
        j += width;
    } while (bytes == BUNDLE_BYTES && j + width <= k); // a narrower slab is the only one
    if (j < k) NAME(bundle_last)(x, j, k, rows);
}

// Computes the rows between two cuts. C: row from.row. `bytes`, the bytes of a slab, is a constant.
CPU_INLINE void NAME(share_in)(const struct bundles *found, const struct product *of,
                               struct cut from, struct cut to, T *restrict C, int bytes)
{
    const int64_t *restrict ptr = of->A->ptr;
    const int64_t ld = of->C_ld;
    struct NAME(bundle) x = {.B = of->B, .ldb = of->B_ld, .ldc = ld, .stream = of->stream};
    int64_t row = from.row;
    for (int64_t i = from.bundle; i < to.bundle; i++) {
        const struct bundle b = found->list[i];
        if (row < b.row) NAME(rows)(of, row, b.row, C + (row - from.row) * ld);
        x.idx = found->idx + b.idx;
        x.val = (const T *)found->val + b.val;
        x.common = b.common;
        x.start = ptr + b.row;
        x.C = C + (b.row - from.row) * ld;
        if (b.rows == 2)
            NAME(bundle_rows)(x, of->k, 2, bytes);
        else
            NAME(bundle_rows)(x, of->k, 3, bytes);
        row = b.row + b.rows;
    }
    if (row < to.row) NAME(rows)(of, row, to.row, C + (row - from.row) * ld);
    if (of->stream) NAME(stream_end)();
}

static void NAME(share)(const struct bundles *found, const struct product *of, struct cut from,
                        struct cut to, T *C)
{
    const int bytes = NAME(slab_bytes)(of->k);
#define SHARE(bytes) NAME(share_in)(found, of, from, to, C, bytes)
    BY_BYTES(bytes < BUNDLE_BYTES ? bytes : BUNDLE_BYTES, SHARE)
#undef SHARE
}

static void NAME(multiply)(struct task *t)
{
    struct state *s = t->state;
    const struct product of = product_of(t, s->prefetch, s->stream);
    shares_reset(&s->shares);
#pragma omp parallel num_threads(s->shares.threads)
    {
        int empty = 0;
        for (int64_t x; (x = shares_take(&s->shares, &empty)) >= 0;) NAME(share)
        (&s->found, &of, s->cut[x], s->cut[x + 1], (T *)t->C.val + s->cut[x].row * of.C_ld);
    }
}

#include "spmm/bundled/columns.inl"
