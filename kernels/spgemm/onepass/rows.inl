// Methods of onepass.c, included once per type and kind of processor. Each computes a row of C to
// idx and val, and returns the number of its nonzeros.

// Writes the products of row i in the order of A's nonzeros. The arrays have room for STEP more.
// Returns the number of products. If A's row has one nonzero, the products are the row of C.
CPU_INLINE int64_t NAME(expand)(const struct csr_dev *A, const struct csr_dev *S, int32_t i,
                                int32_t *restrict col, T *restrict product)
{
    const int64_t *A_ptr = A->ptr, *S_ptr = S->ptr;
    const int32_t *restrict S_idx = S->idx;
    const T *A_val = A->val, *restrict S_val = S->val;
    const int64_t last = S->nnz - STEP;
    const int32_t *begin = col;
    for (int64_t p = A_ptr[i], end = A_ptr[i + 1]; p < end; p++) {
        const int64_t q = S_ptr[A->idx[p]], length = S_ptr[A->idx[p] + 1] - q;
        const T a = A_val[p];
        if (q + length <= last) {
            // Whole steps: elements past the end are overwritten by the next row, or ignored.
            int64_t s = 0;
            do {
                for (int x = 0; x < STEP; x++) {
                    col[s + x] = S_idx[q + s + x];
                    product[s + x] = a * S_val[q + s + x];
                }
                s += STEP;
            } while (s < length);
        } else {
            for (int64_t s = 0; s < length; s++) {
                col[s] = S_idx[q + s];
                product[s] = a * S_val[q + s];
            }
        }
        col += length;
        product += length;
    }
    return col - begin;
}

// Method ranked. The place of a product is the number of products with a smaller column. Products
// of the same column have the same place, and the places after it stay free.
CPU_INLINE int64_t NAME(rank_row)(const struct csr_dev *A, const struct csr_dev *S, int32_t i,
                                  int32_t *restrict idx, T *restrict val)
{
    int32_t col[FEW + STEP], place[FEW + STEP], at[FEW];
    T product[FEW + STEP], sum[FEW];
    const int count = (int)NAME(expand)(A, S, i, col, product);
    rank(col, count, place);
    uint64_t taken = 0;
    for (int x = 0; x < count; x += STEP) memset(sum + x, 0, STEP * sizeof *sum);
    for (int x = 0; x < count; x++) {
        const int to = place[x];
        sum[to] += product[x];
        at[to] = col[x];
        taken |= UINT64_C(1) << to;
    }
    int64_t nonzeros = 0;
    for (; taken; taken &= taken - 1, nonzeros++) {
        const int from = __builtin_ctzll(taken);
        idx[nonzeros] = at[from];
        val[nonzeros] = sum[from];
    }
    return nonzeros;
}

// Moves the sums of the columns in idx from `sum` to val. sum[0] belongs to column `low`.
CPU_INLINE void NAME(take_sums)(const int32_t *restrict idx, int64_t count, int32_t low,
                                T *restrict sum, T *restrict val)
{
    for (int64_t x = 0; x < count; x++) {
        const int64_t j = (int64_t)idx[x] - low;
        val[x] = sum[j];
        sum[j] = 0;
    }
}

// Method word. The bits of a word mark the used columns.
CPU_INLINE int64_t NAME(word_row)(const struct csr_dev *A, const struct csr_dev *S, int32_t i,
                                  int32_t low, const struct buffers *d, int32_t *restrict idx,
                                  T *restrict val)
{
    const int64_t *A_ptr = A->ptr, *S_ptr = S->ptr;
    const int32_t *restrict S_idx = S->idx;
    const T *A_val = A->val, *restrict S_val = S->val;
    T *restrict sum = d->sum;
    uint64_t marks = 0;
    for (int64_t p = A_ptr[i], end = A_ptr[i + 1]; p < end; p++) {
        const int64_t q_end = S_ptr[A->idx[p] + 1];
        const T a = A_val[p];
        for (int64_t q = S_ptr[A->idx[p]]; q < q_end; q++) {
            const int j = S_idx[q] - low;
            sum[j] += a * S_val[q];
            marks |= UINT64_C(1) << j;
        }
    }
    const int64_t count = list_bits(marks, low, idx) - idx;
    NAME(take_sums)(idx, count, low, sum, val);
    return count;
}

// Method window. Marks of used columns lead through the dense window.
CPU_INLINE int64_t NAME(window_row)(const struct csr_dev *A, const struct csr_dev *S, int32_t i,
                                    struct range r, const struct buffers *d, int32_t *restrict idx,
                                    T *restrict val)
{
    const int64_t *A_ptr = A->ptr, *S_ptr = S->ptr;
    const int32_t *restrict S_idx = S->idx;
    const T *A_val = A->val, *restrict S_val = S->val;
    int8_t *restrict used = d->used;
    T *restrict sum = d->sum;
    for (int64_t p = A_ptr[i], end = A_ptr[i + 1]; p < end; p++) {
        const int64_t q_end = S_ptr[A->idx[p] + 1];
        const T a = A_val[p];
        for (int64_t q = S_ptr[A->idx[p]]; q < q_end; q++) {
            const int64_t j = (int64_t)S_idx[q] - r.low;
            sum[j] += a * S_val[q];
            used[j] = -1;
        }
    }
    const int64_t count = take_window(used, r, idx);
    NAME(take_sums)(idx, count, r.low, sum, val);
    return count;
}

// Method bundled, up to BUNDLE rows with the same columns in A and so in C. Each nonzero of S is
// loaded once for all rows. Returns the nonzeros of one row.
typedef T NAME(bundle) __attribute__((vector_size(BUNDLE * sizeof(T))));
CPU_INLINE int64_t NAME(bundle_rows)(const struct csr_dev *A, const struct csr_dev *S, int32_t i,
                                     int rows, struct range r, const struct buffers *d,
                                     int32_t *restrict idx, T *restrict val)
{
    const int64_t *A_ptr = A->ptr, *S_ptr = S->ptr;
    const int64_t begin = A_ptr[i], length = A_ptr[i + 1] - begin;
    const int32_t *restrict S_idx = S->idx;
    const T *A_val = (const T *)A->val + begin, *restrict S_val = S->val;
    int8_t *restrict used = d->used;
    NAME(bundle) *restrict sum = d->bundle;
    for (int64_t p = 0; p < length; p++) {
        const int32_t l = A->idx[begin + p];
        const int64_t q_end = S_ptr[l + 1];
        NAME(bundle) a = {0};
        for (int x = 0; x < rows; x++) a[x] = A_val[x * length + p];
        for (int64_t q = S_ptr[l]; q < q_end; q++) {
            const int64_t j = (int64_t)S_idx[q] - r.low;
            sum[j] += a * S_val[q];
            used[j] = -1;
        }
    }
    const int64_t count = take_window(used, r, idx);
    for (int64_t q = 0; q < count; q++) {
        NAME(bundle) *from = &sum[idx[q] - r.low];
        for (int x = 0; x < rows; x++) val[x * count + q] = (*from)[x];
        *from = (NAME(bundle)){0};
    }
    for (int x = 1; x < rows; x++) memcpy(idx + x * count, idx, (size_t)count * sizeof *idx);
    return count;
}

// Method listed. The used columns are kept in a list, which is then sorted.
CPU_INLINE int64_t NAME(list_row)(const struct csr_dev *A, const struct csr_dev *S, int32_t i,
                                  struct range r, const struct buffers *d, int32_t *restrict idx,
                                  T *restrict val)
{
    const int64_t *A_ptr = A->ptr, *S_ptr = S->ptr;
    const int32_t *restrict S_idx = S->idx;
    const T *A_val = A->val, *restrict S_val = S->val;
    int8_t *restrict used = d->used;
    int32_t *restrict list = d->list;
    T *restrict sum = d->sum;
    int64_t count = 0;
    for (int64_t p = A_ptr[i], end = A_ptr[i + 1]; p < end; p++) {
        const int64_t q_end = S_ptr[A->idx[p] + 1];
        const T a = A_val[p];
        for (int64_t q = S_ptr[A->idx[p]]; q < q_end; q++) {
            const int32_t j = S_idx[q];
            list[count] = j;
            count += 1 + used[j];
            used[j] = -1;
            sum[j] += a * S_val[q];
        }
    }
    sort_list(d, r, count, idx);
    for (int64_t x = 0; x < count; x++) used[idx[x]] = 0;
    NAME(take_sums)(idx, count, 0, sum, val);
    return count;
}

// Computes row i, or the `rows` rows of its bundle. Returns the nonzeros of one row.
CPU_INLINE int64_t NAME(make_rows)(const struct csr_dev *A, const struct csr_dev *S, int32_t i,
                                   int rows, enum method method, struct range r,
                                   const struct buffers *d, int32_t *restrict idx, T *restrict val)
{
    switch (method) {
    case SCALED: return NAME(expand)(A, S, i, idx, val);
    case RANKED: return NAME(rank_row)(A, S, i, idx, val);
    case WORD: return NAME(word_row)(A, S, i, r.low, d, idx, val);
    case WINDOW: return NAME(window_row)(A, S, i, r, d, idx, val);
    case LISTED: return NAME(list_row)(A, S, i, r, d, idx, val);
    case BUNDLED: return NAME(bundle_rows)(A, S, i, rows, r, d, idx, val);
    default: return 0;
    }
}

// Computes rows [first, end) into extents.
static int NAME(rows)(const struct csr_dev *A, const struct csr_dev *S, int32_t first, int32_t end,
                      struct scratch *w, struct buffers *d, struct cursor *cursor, int64_t *length)
{
    int err = cursor_begin(&w->extents, cursor, first, 1);
    if (err) return err;
    for (int32_t i = first; i < end;) {
        const int64_t products = w->products[i];
        struct range r = {0};
        enum method method = row_method(A, S, i, products, &r);
        int rows = 1;
        if (method >= WORD && r.span <= BUNDLE_SPAN) rows = equal_rows(A, i, end);
        if (rows > 1) method = BUNDLED;
        // Bound for the nonzeros. A loose bound wastes the rest of a block.
        const int64_t need = rows * min64(products, method >= WORD ? r.span : S->n);
        if (cursor->left < need) {
            cursor_end(cursor, i);
            err = cursor_begin(&w->extents, cursor, i, need);
            if (err) return err;
        }
        const int64_t count =
            NAME(make_rows)(A, S, i, rows, method, r, d, cursor->idx, (T *)cursor->val);
        for (int x = 0; x < rows; x++) length[i + x] = count;
        cursor_move(cursor, rows * count, sizeof(T));
        d->rows[method] += rows;
        i += rows;
    }
    cursor_end(cursor, end);
    return OK;
}
