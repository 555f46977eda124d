// Tiny matrices of the exact cases, with whole-number values. `shapes` are for operations with a
// dense operand. `product_shapes` are for products of sparse matrices.
#ifndef SHAPES_H
#define SHAPES_H

#include "data/matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

// A row of a product: its multiply-adds and its nonzeros.
struct row_of_c {
    int32_t products, nonzeros;
};

// A matrix by rule, where entry (i, j) is present if rule() says so; or a built one.
struct shape {
    const char *name;
    int32_t m, n;
    bool (*rule)(int32_t i, int32_t j);
    int copies; // number of copies of each entry, in scrambled order; 0: one, sorted
    void (*build)(struct coo *T);  // instead of the rule
    int64_t room;                  // most entries that build() adds
    const struct row_of_c *chosen; // first rows of the product with itself, size chosen_count
    int chosen_count;
    bool mixed;   // dense and sparse tiles alternate along a row
    bool options; // products: options are tried on this shape
    bool square;  // products: only A * A is tried
};

extern const struct shape shapes[], product_shapes[];
extern const int shape_count, product_shape_count;
// Makes the matrix. The only error is ERR_MEMORY.
int shape_build(const struct shape *s, struct csr *A);

static inline bool none(int32_t i, int32_t j) { return (void)i, (void)j, false; }
static inline bool full(int32_t i, int32_t j) { return (void)i, (void)j, true; }
static inline bool scattered(int32_t i, int32_t j)
{
    return random_at(1, (uint64_t)i * 1000 + (uint64_t)j) % 11 == 0;
}
static inline bool few(int32_t i, int32_t j)
{
    return random_at(2, (uint64_t)i * 1000 + (uint64_t)j) % 97 == 0;
}

// Returns a whole number in -3 .. 3. Zeros are among them.
static inline double value_at(int32_t i, int32_t j)
{
    return (double)(random_at(3, (uint64_t)i * 4099 + (uint64_t)j) % 7) - 3;
}

// Makes an empty matrix with memory for `room` entries.
static inline int entries_alloc(struct coo *T, int32_t m, int32_t n, int64_t room)
{
    *T = (struct coo){.m = m, .n = n};
    T->row = (int32_t *)mem_alloc(room, sizeof *T->row);
    T->col = (int32_t *)mem_alloc(room, sizeof *T->col);
    T->val = (double *)mem_alloc(room, sizeof *T->val);
    if (T->row && T->col && T->val) return OK;
    coo_free(T);
    return ERR_MEMORY;
}

static inline void add_entry(struct coo *T, int32_t i, int32_t j, double x)
{
    T->row[T->nnz] = i;
    T->col[T->nnz] = j;
    T->val[T->nnz++] = x;
}

// Makes A of the entries, and frees them. `name`: for a bug().
int entries_to_csr(struct coo *T, const char *name, struct csr *A);

#ifdef __cplusplus
}
#endif
#endif
