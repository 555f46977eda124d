#include "data/matrix.h"

#include <omp.h>
#include <string.h>

bool matrix_is_hollow(int64_t m, int64_t n, double entries)
{
    int64_t side = max64(m, n);
    return side > SIDE_MOST && entries * SIDE_PER_ENTRY < (double)side;
}

void coo_free(struct coo *A)
{
    mem_free(A->row);
    mem_free(A->col);
    mem_free(A->val);
    *A = (struct coo){0};
}

int csr_alloc(struct csr *A, int32_t m, int32_t n, int64_t nnz)
{
    *A = (struct csr){.m = m, .n = n, .nnz = nnz};
    A->ptr = mem_alloc((int64_t)m + 1, sizeof *A->ptr);
    A->idx = A->ptr ? mem_alloc(nnz, sizeof *A->idx) : NULL;
    A->val = A->idx ? mem_alloc(nnz, sizeof *A->val) : NULL;
    if (A->val) return OK;
    csr_free(A);
    return ERR_MEMORY;
}

void csr_free(struct csr *A)
{
    mem_free(A->ptr);
    mem_free(A->idx);
    mem_free(A->val);
    *A = (struct csr){0};
}

// Returns true if the columns of each row ascend and are in the matrix.
static bool columns_are_good(const struct csr *A)
{
    bool good = true;
#pragma omp parallel for schedule(dynamic, 4096) reduction(&& : good)
    for (int32_t i = 0; i < A->m; i++) {
        int32_t last = -1;
        bool row = true;
        for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++) {
            row &= A->idx[p] > last && A->idx[p] < A->n;
            last = A->idx[p];
        }
        good = good && row;
    }
    return good;
}

const char *csr_check(const struct csr *A)
{
    if (A->m < 0 || A->n < 0 || A->nnz < 0) return "negative size";
    if (!A->ptr || !A->idx || !A->val) return "missing array";
    if (A->ptr[0] != 0) return "ptr[0] is not 0";
    if (A->ptr[A->m] != A->nnz) return "ptr[m] is not nnz";
    for (int32_t i = 0; i < A->m; i++)
        if (A->ptr[i] > A->ptr[i + 1] || A->ptr[i + 1] > A->nnz) return "ptr descends";
    if (columns_are_good(A)) return NULL;
    for (int64_t p = 0; p < A->nnz; p++)
        if (A->idx[p] < 0 || A->idx[p] >= A->n) return "column outside the matrix";
    return "columns not ascending";
}

int csr_transpose(const struct csr *A, struct csr *out)
{
    struct csr T;
    if (csr_alloc(&T, A->n, A->m, A->nnz)) return ERR_MEMORY;
    // ptr[j + 1] counts column j, then holds its start, then (after the scatter) its end.
    memset(T.ptr, 0, ((size_t)T.m + 1) * sizeof *T.ptr);
    for (int64_t p = 0; p < A->nnz; p++) T.ptr[A->idx[p] + 1]++;
    for (int32_t j = 0; j < T.m; j++) T.ptr[j + 1] += T.ptr[j];
    for (int32_t i = 0; i < A->m; i++)
        for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++) {
            int64_t q = T.ptr[A->idx[p]]++;
            T.idx[q] = i;
            T.val[q] = A->val[p];
        }
    for (int32_t j = T.m; j > 0; j--) T.ptr[j] = T.ptr[j - 1];
    T.ptr[0] = 0;
    *out = T;
    return OK;
}

// A triplet while entries are sorted by rows.
struct entry {
    int32_t row, col;
    double val;
};

// Sorts a row by columns. Stable. `work`: scratch memory for `count` entries.
static void row_sort(int32_t *idx, double *val, int64_t count, int32_t n, struct entry *work)
{
    if (count <= 32) {
        for (int64_t p = 1; p < count; p++) {
            int32_t j = idx[p];
            double x = val[p];
            int64_t q = p;
            for (; q > 0 && idx[q - 1] > j; q--) idx[q] = idx[q - 1], val[q] = val[q - 1];
            idx[q] = j, val[q] = x;
        }
        return;
    }
    // A radix sort from the low byte up, between the row and `work`.
    bool in_work = false;
    for (int shift = 0; shift < 32 && (n - 1) >> shift; shift += 8) {
        int64_t start[257] = {0};
        for (int64_t p = 0; p < count; p++)
            start[((in_work ? work[p].col : idx[p]) >> shift & 255) + 1]++;
        for (int d = 0; d < 256; d++) start[d + 1] += start[d];
        for (int64_t p = 0; p < count; p++) {
            int32_t j = in_work ? work[p].col : idx[p];
            int64_t q = start[j >> shift & 255]++;
            if (in_work)
                idx[q] = j, val[q] = work[p].val;
            else
                work[q] = (struct entry){0, j, val[p]};
        }
        in_work = !in_work;
    }
    for (int64_t p = 0; in_work && p < count; p++) idx[p] = work[p].col, val[p] = work[p].val;
}

// Sorts a row, if needed, and sums its duplicates. Returns the number of entries left.
static int64_t row_tidy(int32_t *idx, double *val, int64_t count, int32_t n, struct entry *work)
{
    int64_t sorted = 1; // entries at the front that ascend strictly
    bool descends = false;
    for (; sorted < count && idx[sorted - 1] < idx[sorted]; sorted++) {}
    if (sorted >= count) return count;
    for (int64_t p = sorted; p < count && !descends; p++) descends = idx[p - 1] > idx[p];
    if (descends) row_sort(idx, val, count, n, work);
    int64_t kept = 1;
    for (int64_t p = 1; p < count; p++) {
        if (idx[p] == idx[kept - 1]) {
            val[kept - 1] += val[p];
            continue;
        }
        idx[kept] = idx[p];
        val[kept++] = val[p];
    }
    return kept;
}

// Rows [first, last) with the entries [from, to). A thread sorts a bucket.
struct bucket {
    int64_t first, last, from, to;
};

// Tidies the rows of a bucket and returns the number of their duplicates. Unused places at the end
// of a row get column -1. `work`: scratch memory for the entries of the bucket.
static int64_t bucket_tidy(const struct csr *C, const struct bucket *b, struct entry *work)
{
    int64_t summed = 0;
    for (int64_t i = b->first; i < b->last; i++) {
        // Not ptr[b->last], which another thread may be writing.
        int64_t start = C->ptr[i], end = i + 1 < b->last ? C->ptr[i + 1] : b->to;
        int64_t kept = row_tidy(C->idx + start, C->val + start, end - start, C->n, work);
        for (int64_t p = start + kept; p < end; p++) C->idx[p] = -1;
        summed += end - start - kept;
    }
    return summed;
}

// Closes the gaps that bucket_tidy() has left.
static void rows_close_up(struct csr *C)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < C->m; i++) {
        int64_t p = C->ptr[i], end = C->ptr[i + 1];
        C->ptr[i] = kept;
        for (; p < end && C->idx[p] >= 0; p++, kept++) {
            C->idx[kept] = C->idx[p];
            C->val[kept] = C->val[p];
        }
    }
    C->ptr[C->m] = C->nnz = kept;
}

// Returns the first triplet of part t of `parts` equal parts.
static int64_t part_start(const struct coo *A, int t, int parts)
{
    return (int64_t)((__int128)A->nnz * t / parts);
}

// Copies triplets that are sorted by rows, and sets the row starts. Sets *in_order to true if the
// columns of each row ascend.
static void rows_copy(const struct coo *A, struct csr *C, int parts, bool *in_order)
{
    bool ascending = true;
#pragma omp parallel for reduction(&& : ascending) num_threads(parts)
    for (int t = 0; t < parts; t++) {
        int64_t first = part_start(A, t, parts), last = part_start(A, t + 1, parts);
        for (int64_t p = first; p < last; p++) {
            int32_t i = A->row[p], before = p ? A->row[p - 1] : -1;
            if (i != before)
                for (int64_t r = before + 1; r <= i; r++) C->ptr[r] = p;
            else
                ascending = ascending && A->col[p - 1] < A->col[p];
        }
        memcpy(C->idx + first, A->col + first, (size_t)(last - first) * sizeof *C->idx);
        memcpy(C->val + first, A->val + first, (size_t)(last - first) * sizeof *C->val);
    }
    for (int64_t r = A->nnz ? A->row[A->nnz - 1] + (int64_t)1 : 0; r <= A->m; r++)
        C->ptr[r] = A->nnz;
    *in_order = ascending;
}

static bool is_by_rows(const struct coo *A, int parts)
{
    bool sorted = true;
#pragma omp parallel for reduction(&& : sorted) num_threads(parts)
    for (int t = 0; t < parts; t++) {
        int64_t last = part_start(A, t + 1, parts);
        for (int64_t p = max64(part_start(A, t, parts), 1); p < last && sorted; p++)
            sorted = A->row[p - 1] <= A->row[p];
    }
    return sorted;
}

// Few enough buckets for a core to write to all at a time; few enough entries for its cache.
#define BUCKETS_MAX    1024
#define BUCKET_ENTRIES 16384

// Sorts the triplets and their mirrored entries by buckets of 2^shift rows, into `row`, C->idx and
// C->val. Stable. Sets start[b * parts] to the start of bucket b; its size is parts * buckets + 1.
static void buckets_fill(const struct coo *A, double mirror, int shift, int parts, int64_t buckets,
                         int64_t *start, int32_t *row, const struct csr *C)
{
    memset(start, 0, (size_t)(parts * buckets + 1) * sizeof *start);
#pragma omp parallel for num_threads(parts)
    for (int t = 0; t < parts; t++) {
        int64_t last = part_start(A, t + 1, parts), count[BUCKETS_MAX] = {0};
        for (int64_t p = part_start(A, t, parts); p < last; p++) {
            count[A->row[p] >> shift]++;
            if (mirror != 0 && A->row[p] != A->col[p]) count[A->col[p] >> shift]++;
        }
        for (int64_t b = 0; b < buckets; b++) start[b * parts + t + 1] = count[b];
    }
    for (int64_t k = 0; k < parts * buckets; k++) start[k + 1] += start[k];
#pragma omp parallel for num_threads(parts)
    for (int t = 0; t < parts; t++) {
        int64_t last = part_start(A, t + 1, parts), next[BUCKETS_MAX];
        for (int64_t b = 0; b < buckets; b++) next[b] = start[b * parts + t];
        for (int64_t p = part_start(A, t, parts); p < last; p++) {
            int32_t i = A->row[p], j = A->col[p];
            double x = A->val[p];
            int64_t q = next[i >> shift]++;
            row[q] = i;
            C->idx[q] = j;
            C->val[q] = x;
            if (mirror == 0 || i == j) continue;
            q = next[j >> shift]++;
            row[q] = j;
            C->idx[q] = i;
            C->val[q] = mirror * x;
        }
    }
}

// Sorts the entries of a bucket by rows, through `work`, which stays in the cache.
static void bucket_spread(const struct csr *C, const struct bucket *b, const int32_t *row,
                          struct entry *work)
{
    // ptr[i] counts row i, then holds its start, then (after the scatter) its end.
    int64_t *ptr = C->ptr, next = b->from, count = b->to - b->from;
    for (int64_t i = b->first; i < b->last; i++) ptr[i] = 0;
    for (int64_t p = 0; p < count; p++) {
        int64_t q = b->from + p;
        work[p] = (struct entry){row[q], C->idx[q], C->val[q]};
        ptr[row[q]]++;
    }
    for (int64_t i = b->first; i < b->last; i++) {
        int64_t length = ptr[i];
        ptr[i] = next;
        next += length;
    }
    for (int64_t p = 0; p < count; p++) {
        int64_t q = ptr[work[p].row]++;
        C->idx[q] = work[p].col;
        C->val[q] = work[p].val;
    }
    for (int64_t i = b->last - 1; i > b->first; i--) ptr[i] = ptr[i - 1];
    if (b->last > b->first) ptr[b->first] = b->from;
}

// Makes the rows of C from the triplets, bucket by bucket: sorted by columns, without duplicates.
// If `by_rows`, C already holds the triplets by rows. Sets *summed to the number of duplicates.
static int rows_make(const struct coo *A, double mirror, struct csr *C, int parts, bool by_rows,
                     int64_t *summed)
{
    int shift = 0;
    int64_t wanted = min64(BUCKETS_MAX, C->nnz / BUCKET_ENTRIES + 1);
    while (((int64_t)A->m - 1) >> shift >= wanted) shift++;
    int64_t buckets = (((int64_t)A->m - 1) >> shift) + 1, largest = 0, found = 0;

    int err = ERR_MEMORY;
    struct entry *work = NULL;
    int32_t *row = mem_alloc(by_rows ? 0 : C->nnz, sizeof *row);
    int64_t *start = row ? mem_alloc(parts * buckets + 1, sizeof *start) : NULL;
    if (!start) goto done;
    if (by_rows)
        for (int64_t b = 0; b <= buckets; b++) start[b * parts] = C->ptr[min64(b << shift, A->m)];
    else
        buckets_fill(A, mirror, shift, parts, buckets, start, row, C);

    // Scratch memory for a bucket per thread; for all buckets if one row has nearly all entries.
    for (int64_t b = 0; b < buckets; b++)
        largest = max64(largest, start[(b + 1) * parts] - start[b * parts]);
    bool shared = largest > C->nnz / parts;
    work = mem_alloc(shared ? C->nnz : largest * parts, sizeof *work);
    if (!work) goto done;
    err = OK;
#pragma omp parallel for schedule(dynamic, 1) reduction(+ : found) num_threads(parts)
    for (int64_t k = 0; k < buckets; k++) {
        struct bucket b = {k << shift, min64((k + 1) << shift, A->m), start[k * parts],
                           start[(k + 1) * parts]};
        struct entry *mine = work + (shared ? b.from : largest * omp_get_thread_num());
        if (!by_rows) bucket_spread(C, &b, row, mine);
        found += bucket_tidy(C, &b, mine);
    }
    C->ptr[C->m] = C->nnz;
    if (found) rows_close_up(C);
    *summed = found;
done:
    mem_free(work);
    mem_free(start);
    mem_free(row);
    return err;
}

int csr_from_coo_mirrored(const struct coo *A, double mirror, struct csr *out, int64_t *duplicates)
{
    // A part per thread, of 4096 entries at least: fewer take less time than starting a thread.
    int parts = (int)max64(1, min64(omp_get_max_threads(), A->nnz / 4096));
    int64_t mirrored = 0;
    if (mirror != 0) {
#pragma omp parallel for reduction(+ : mirrored) num_threads(parts)
        for (int64_t p = 0; p < A->nnz; p++) mirrored += A->row[p] != A->col[p];
    }
    struct csr C;
    int err = csr_alloc(&C, A->m, A->n, A->nnz + mirrored);
    if (err) return err;
    int64_t summed = 0;
    bool by_rows = !mirrored && is_by_rows(A, parts), in_order = false;
    if (by_rows) rows_copy(A, &C, parts, &in_order);
    if (!in_order) err = rows_make(A, mirror, &C, parts, by_rows, &summed);
    if (err) {
        csr_free(&C);
        return err;
    }
    if (duplicates) *duplicates = summed;
    *out = C;
    return OK;
}

int csr_from_coo(const struct coo *A, struct csr *out, int64_t *duplicates)
{
    return csr_from_coo_mirrored(A, 0, out, duplicates);
}
