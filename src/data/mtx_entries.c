#include "data/mtx_entries.h"

// Returns 1 if the line at p holds an entry, else 0.
static int64_t is_entry(const char *p, const char *end)
{
    p = blanks_skip(p, end);
    return p < end && *p != '\n' && *p != '%';
}

int64_t entries_count(const char *p, const char *end)
{
    int64_t count = p < end ? is_entry(p, end) : 0;
    // The compiler vectorises the loop over a block. A block has under 256 bytes, so that a byte
    // holds its counts. is_entry() looks at lines that start with a blank.
    enum { BLOCK = 192 };
    for (; end - p > BLOCK; p += BLOCK) {
        uint8_t plain = 0, odd = 0;
        for (int i = 0; i < BLOCK; i++) {
            uint8_t newline = p[i] == '\n', next = (uint8_t)p[i + 1];
            uint8_t blank = (next == ' ') | (next == '\t') | (next == '\r');
            odd += newline & blank;
            plain += newline & !((next == '\n') | (next == '%') | blank);
        }
        count += plain;
        for (int i = 0; odd && i < BLOCK; i++)
            if (p[i] == '\n' && is_blank(p[i + 1])) count += is_entry(p + i + 1, end);
    }
    for (; p + 1 < end; p++)
        if (*p == '\n') count += is_entry(p + 1, end);
    return count;
}

// Sets the row and the column of the k-th entry of an array file, which is stored by columns. A
// symmetric file has only entries below the diagonal and, unless skew, on the diagonal.
static void array_place(const struct mtx_parser *f, int64_t k, int64_t *row, int64_t *col)
{
    if (f->symmetry == MTX_GENERAL) {
        *row = f->m ? k % f->m : 0;
        *col = f->m ? k / f->m : 0;
        return;
    }
    // Binary search of the last column that starts at or before k. Column j starts at
    // j * length - j * (j - 1) / 2.
    int64_t skew = f->symmetry == MTX_SKEW, length = f->m - skew, low = 0, high = f->m;
    while (high - low > 1) {
        int64_t j = low + (high - low) / 2;
        if (j * length - j * (j - 1) / 2 <= k)
            low = j;
        else
            high = j;
    }
    *col = low;
    *row = low + skew + k - (low * length - low * (low - 1) / 2);
}

// Moves row and column to the next entry of an array file.
static inline void array_step(const struct mtx_parser *f, int64_t *row, int64_t *col)
{
    if (++*row < f->m) return;
    ++*col;
    *row = f->symmetry == MTX_GENERAL ? 0 : *col + (f->symmetry == MTX_SKEW);
}

static inline bool word_ends(const char *p, const char *end)
{
    return p == end || is_blank(*p) || *p == '\n';
}

// Reads a row or column number, 1-based in the file and 0-based in *index. Returns its end; NULL if
// the number is missing or outside of the matrix.
static inline const char *index_read(const char *p, const char *end, int32_t size, int32_t *index)
{
    int64_t x = 0;
    p = whole_read(p, end, &x);
    if (!p || !word_ends(p, end) || x < 1 || x > size) return NULL;
    *index = (int32_t)(x - 1);
    return p;
}

// Reads a finite value. Returns its end, or NULL.
static inline const char *value_read(const char *p, const char *end, double *value)
{
    p = real_read(p, end, value);
    return p && word_ends(p, end) && fabs(*value) <= 1.7976931348623157e308 ? p : NULL;
}

// Reads the lines of a chunk. `field` and `array` are constants at each call, so the compiler makes
// a loop for each kind of file.
static inline __attribute__((always_inline)) void entries_read(const struct mtx_parser *f,
                                                               struct chunk *c, const struct coo *A,
                                                               enum mtx_field field, bool array)
{
    const char *p = c->start, *end = c->end, *at, *value_at;
    int64_t k = c->first, last = min64(c->first + c->entries, f->entries);
    int64_t i = 0, j = 0, zeros = 0;
    bool general = f->symmetry == MTX_GENERAL, skew = f->symmetry == MTX_SKEW;
    enum bad bad = BAD_NONE;
    if (array) array_place(f, k, &i, &j);
    for (;;) {
        at = p = blanks_skip(p, end);
        if (p == end) break;
        if (*p == '\n' || *p == '%') {
            p = line_skip(p, end);
            continue;
        }
        bad = BAD_COUNT;
        if (k >= last) break;

        int32_t row = (int32_t)i, col = (int32_t)j;
        if (!array) {
            bad = BAD_ROW;
            if (!(p = index_read(p, end, f->m, &row))) break;
            bad = BAD_COLUMN;
            at = p = blanks_skip(p, end);
            if (!(p = index_read(p, end, f->n, &col))) break;
        }
        double value, imaginary;
        value_at = p = blanks_skip(p, end);
        if (field == MTX_PATTERN) {
            // An entry and its mirror must get the same value: the key is the place below the
            // diagonal.
            int32_t high = general || row > col ? row : col, low = high == row ? col : row;
            value = random_value(f->seed, (uint64_t)high << 32 | (uint32_t)low);
        } else {
            bad = BAD_VALUE;
            at = p;
            if (!(p = value_read(p, end, &value))) break;
            if (field == MTX_INTEGER && fabs(value) < 0x1p53 && value != (double)(int64_t)value)
                break;
            if (field == MTX_COMPLEX) {
                at = p = blanks_skip(p, end);
                if (!(p = value_read(p, end, &imaginary))) break;
            }
            zeros += value == 0;
        }
        at = p = blanks_skip(p, end);
        bad = BAD_EXTRA;
        if (p < end && *p != '\n') break;
        p += p < end;
        bad = BAD_DIAGONAL;
        at = value_at;
        if (skew && row == col && value != 0) break;
        bad = BAD_NONE;

        A->row[k] = row;
        A->col[k] = col;
        A->val[k++] = value;
        if (array) array_step(f, &i, &j);
    }
    c->zeros = zeros;
    c->bad = bad;
    c->at = at;
}

void chunk_read(const struct mtx_parser *f, struct chunk *c, const struct coo *A)
{
    switch (f->field) {
    case MTX_PATTERN: entries_read(f, c, A, MTX_PATTERN, false); break;
    case MTX_COMPLEX: entries_read(f, c, A, MTX_COMPLEX, f->array); break;
    case MTX_INTEGER: entries_read(f, c, A, MTX_INTEGER, f->array); break;
    case MTX_REAL:
        if (f->array)
            entries_read(f, c, A, MTX_REAL, true);
        else
            entries_read(f, c, A, MTX_REAL, false);
        break;
    }
}
