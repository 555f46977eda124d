// Numeric phase of hash.c, included once per value type.

// Writes row i of C, sorted by column, to idx and val.
static void NAME(row)(const struct csr_dev *A, const struct csr_dev *S, int32_t i, struct table h,
                      int64_t ahead, T *restrict sums, uint64_t *restrict list,
                      uint64_t *restrict spare, int32_t *restrict idx, T *restrict val)
{
    const int64_t *A_ptr = A->ptr, *S_ptr = S->ptr;
    const T *A_val = A->val, *S_val = S->val;
    int64_t count = 0;
    for (int64_t p = A_ptr[i]; p < A_ptr[i + 1]; p++) {
        int32_t l = A->idx[p];
        T a = A_val[p];
        fetch_ahead(A, S, p, ahead, (const char *)S_val, sizeof(T));
        for (int64_t q = S_ptr[l]; q < S_ptr[l + 1]; q++) {
            int32_t j = S->idx[q];
            T product = a * S_val[q];
            uint32_t slot = table_find(h, j);
            if (h.keys[slot] < 0) {
                h.keys[slot] = j;
                sums[slot] = product;
                list[count++] = (uint64_t)j << 32 | slot;
            } else {
                sums[slot] += product;
            }
        }
    }
    sort_keys(list, spare, count, 32);
    for (int64_t p = 0; p < count; p++) {
        idx[p] = (int32_t)(list[p] >> 32);
        val[p] = sums[(uint32_t)list[p]];
    }
}

static void NAME(numeric)(struct task *t, const struct scratch *w)
{
    const struct csr_dev *A = csr_of(t->A[0]), *S = csr_of(t->S[0]);
    const int64_t *ptr = t->R.ptr;
    int32_t m = A->m;
#pragma omp parallel for num_threads(w->threads) schedule(dynamic, 1)
    for (int64_t share = 0; share < w->shares; share++) {
        int64_t me = omp_get_thread_num();
        uint64_t *list = w->list + me * 2 * w->longest;
        int32_t end = share_start(w, m, share + 1);
        for (int32_t i = share_start(w, m, share); i < end; i++) {
            struct table h =
                table_open(w->keys + me * w->key_room, w->slots * (ptr[i + 1] - ptr[i]));
            NAME(row)
            (A, S, i, h, w->ahead, (T *)w->sums + me * w->sum_room, list, list + w->longest,
             t->R.idx + ptr[i], (T *)t->R.val + ptr[i]);
        }
    }
}
