// Steps 2 and 3 of tile.c, included once per type and kind of processor.

// Step 2 for one tile. Row r of C has the columns of the rows of S that row r of A selects.
static void NAME(make_mask)(const struct tile16 *A, const struct tile16 *S, const struct pair *pair,
                            int64_t count, struct tile16 *C, int64_t t)
{
    uint16_t mask[TILE] = {0};
    int nonzeros = 0;
    for (int64_t p = 0; p < count; p++) {
        const uint16_t *a = A->mask + pair[p].a * TILE, *s = S->mask + pair[p].s * TILE;
        for (int r = 0; r < TILE; r++)
            for (unsigned rest = a[r]; rest; rest &= rest - 1) mask[r] |= s[__builtin_ctz(rest)];
    }
    for (int r = 0; r < TILE; r++) {
        C->row_ptr[t * TILE + r] = (uint8_t)nonzeros;
        nonzeros += __builtin_popcount(mask[r]);
    }
    memcpy(C->mask + t * TILE, mask, sizeof mask);
    C->start[t + 1] = nonzeros;
}

// Adds the products of all pairs to `sums`. SPARSE: C's nonzeros one after the other, found by
// counting the bits below them; else all 256 elements of the tile.
CPU_INLINE void NAME(add_products)(const struct tile16 *A, const struct tile16 *S,
                                   const struct pair *pair, int64_t count, bool sparse,
                                   const uint16_t *mask, const uint8_t *row_ptr, T *restrict sums)
{
    const T *restrict A_val = A->val, *restrict S_val = S->val;
    for (int64_t p = 0; p < count; p++) {
        const uint8_t *s_row = S->row_ptr + pair[p].s * TILE;
        const uint16_t *s_mask = S->mask + pair[p].s * TILE;
        int64_t first = S->start[pair[p].s];
        for (int64_t q = A->start[pair[p].a]; q < A->start[pair[p].a + 1]; q++) {
            int r = A->idx[q] >> 4, k = A->idx[q] & 15;
            int64_t s = first + s_row[k], end = s + __builtin_popcount(s_mask[k]);
            T a = A_val[q];
            for (; s < end; s++) {
                int j = S->idx[s] & 15;
                int to = sparse ? row_ptr[r] + __builtin_popcount(mask[r] & ((1u << j) - 1))
                                : r * TILE + j;
                sums[to] += a * S_val[s];
            }
        }
    }
}

// Step 3, one tile.
static void NAME(multiply_tile)(const struct tile16 *A, const struct tile16 *S,
                                const struct pair *pair, int64_t count, int tnnz, struct tile16 *C,
                                int64_t t)
{
    int64_t first = C->start[t], nonzeros = C->start[t + 1] - first;
    const uint16_t *mask = C->mask + t * TILE;
    const uint8_t *row_ptr = C->row_ptr + t * TILE;
    bool sparse = nonzeros <= tnnz;
    T sums[TILE * TILE], *to = (T *)C->val + first;
    memset(sums, 0, (size_t)(sparse ? nonzeros : TILE * TILE) * sizeof *sums);
    if (sparse) {
        NAME(add_products)(A, S, pair, count, true, mask, row_ptr, sums);
    } else {
        NAME(add_products)(A, S, pair, count, false, mask, row_ptr, sums);
    }
    uint8_t *idx = C->idx + first;
    for (int r = 0, q = 0; r < TILE; r++)
        for (unsigned left = mask[r]; left; left &= left - 1, q++) {
            int j = __builtin_ctz(left);
            idx[q] = (uint8_t)(r << 4 | j);
            to[q] = sums[sparse ? q : r * TILE + j];
        }
}

// Runs step 2, or step 3 if `numeric`, for all tiles of C.
static void NAME(each_tile)(struct task *t, const struct scratch *w, bool numeric)
{
    struct state *state = t->state;
    const struct tile16 *A = tile16_of(t->A[0]), *S = tile16_of(t->S[0]);
    const struct tilecols *columns = tilecols_of(t->S[1]);
    struct tile16 *C = &state->C;
#pragma omp parallel for num_threads(w->threads) schedule(dynamic, 4)
    for (int64_t i = 0; i < C->tile_m; i++) {
        int64_t *where = w->where + (int64_t)omp_get_thread_num() * A->tile_n;
        struct pair *pair = w->pair + omp_get_thread_num() * w->pairs;
        for (int64_t a = A->ptr[i]; a < A->ptr[i + 1]; a++) where[A->col[a]] = a;
        for (int64_t c = C->ptr[i]; c < C->ptr[i + 1]; c++) {
            int64_t count = intersect(A, columns, i, C->col[c], where, pair);
            if (numeric)
                NAME(multiply_tile)(A, S, pair, count, state->tnnz, C, c);
            else
                NAME(make_mask)(A, S, pair, count, C, c);
        }
        for (int64_t a = A->ptr[i]; a < A->ptr[i + 1]; a++) where[A->col[a]] = -1;
    }
}

// Fills columns and values of C as CSR. The row starts are set.
static void NAME(fill_rows)(const struct tile16 *C, const struct csr_dev *R)
{
    const int64_t *ptr = R->ptr;
    const T *from = C->val;
    T *val = R->val;
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = 0; i < C->m; i++) {
        int64_t p = ptr[i];
        for (int64_t t = C->ptr[i / TILE]; t < C->ptr[i / TILE + 1]; t++) {
            int64_t row = t * TILE + i % TILE, q = C->start[t] + C->row_ptr[row];
            for (int left = __builtin_popcount(C->mask[row]); left > 0; left--, p++, q++) {
                R->idx[p] = C->col[t] * TILE + (C->idx[q] & 15);
                val[p] = from[q];
            }
        }
    }
}
