#include "data/mtx.h"

#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "data/mtx_entries.h"

// Bytes of a chunk: few enough that every thread gets several, many enough to pay for a thread.
#ifndef CHUNK_MIN // the fuzzer sets a smaller value, to see several chunks
#define CHUNK_MIN ((int64_t)1 << 15)
#endif
#define CHUNK_MAX ((int64_t)1 << 21)

static const char *const field_names[] = {"real", "integer", "complex", "pattern"};
static const char *const symmetry_names[] = {"general", "symmetric", "skew-symmetric", "hermitian"};

const char *mtx_field_name(enum mtx_field field) { return field_names[field]; }
const char *mtx_symmetry_name(enum mtx_symmetry symmetry) { return symmetry_names[symmetry]; }

double mtx_mirror(enum mtx_symmetry symmetry)
{
    // The real part of a hermitian matrix is symmetric.
    return symmetry == MTX_GENERAL ? 0 : symmetry == MTX_SKEW ? -1 : 1;
}

// A part of a line between blanks; empty at the end of the line.
struct word {
    const char *start;
    int64_t length;
};

// Returns the next word of the line and moves *p behind the word.
static struct word word_next(const char **p, const char *end)
{
    const char *s = *p = blanks_skip(*p, end);
    while (*p < end && !is_blank(**p) && **p != '\n') ++*p;
    return (struct word){s, *p - s};
}

static bool word_is(struct word w, const char *name)
{
    return w.length == (int64_t)strlen(name) && !strncasecmp(w.start, name, (size_t)w.length);
}

// Returns the index of the word in `names`; -1 if there is none.
static int word_find(struct word w, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (word_is(w, names[i])) return i;
    return -1;
}

// Writes the word in quotes into `text`, shortened and without control characters.
static const char *word_quote(struct word w, char text[48])
{
    int n = 0;
    text[n++] = '"';
    for (int64_t i = 0; i < w.length && n < 40; i++)
        text[n++] = w.start[i] >= ' ' && w.start[i] < 127 ? w.start[i] : '?';
    memcpy(text + n, w.length > 39 ? "...\"" : "\"", w.length > 39 ? 5 : 2);
    return text;
}

// Returns ERR_INPUT with the text "name:line: ...", for the line that has `at`.
static int PRINTF_LIKE(3, 4)
    bad_line(const struct mtx_parser *f, const char *at, const char *format, ...)
{
    char what[256];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return fail(ERR_INPUT, "%s:%lld: %s", f->text->name, text_line(f->text, at), what);
}

static bool begins_with(const struct mtx_parser *f, const char *text)
{
    int64_t length = (int64_t)strlen(text);
    return f->end - f->data >= length && !memcmp(f->data, text, (size_t)length);
}

// Reads the first line and moves *p behind the line.
static int banner_read(struct mtx_parser *f, const char **p)
{
    static const char *const formats[] = {"coordinate", "array"};
    // Names that other programs write.
    static const struct {
        const char *name;
        enum mtx_field field;
    } synonyms[] = {{"double", MTX_REAL},
                    {"float", MTX_REAL},
                    {"int", MTX_INTEGER},
                    {"unsigned-integer", MTX_INTEGER}};
    char quote[48];

    if (*p == f->end) return bad_line(f, *p, "the file is empty");
    if (f->end - *p >= 3 && !memcmp(*p, "\xef\xbb\xbf", 3)) *p += 3; // byte order mark
    if (begins_with(f, "{\"schema\":\"spbench/"))
        return bad_line(f, f->data,
                        "is a file of records, not a matrix; 'spbench report' and 'spbench "
                        "compare' read it");
    if (!word_is(word_next(p, f->end), "%%MatrixMarket"))
        return bad_line(f, f->data,
                        "not a Matrix Market file: it does not begin with %%%%MatrixMarket; "
                        "scipy.io.mmwrite writes one");
    struct word object = word_next(p, f->end), format = word_next(p, f->end);
    struct word field = word_next(p, f->end), symmetry = word_next(p, f->end);
    struct word extra = word_next(p, f->end);
    if (!symmetry.length)
        return bad_line(f, f->data,
                        "the banner is cut short; it should be like "
                        "\"%%%%MatrixMarket matrix coordinate real general\"");
    if (extra.length)
        return bad_line(f, f->data, "%s is one word too many in the banner",
                        word_quote(extra, quote));
    if (!word_is(object, "matrix"))
        return bad_line(f, f->data, "a file of %s, not of a matrix", word_quote(object, quote));

    int i = word_find(format, formats, 2);
    if (i < 0)
        return bad_line(f, f->data, "format %s is neither coordinate nor array",
                        word_quote(format, quote));
    f->array = i == 1;
    i = word_find(field, field_names, 4);
    for (size_t s = 0; i < 0 && s < sizeof synonyms / sizeof *synonyms; s++)
        if (word_is(field, synonyms[s].name)) i = (int)synonyms[s].field;
    if (i < 0)
        return bad_line(f, f->data, "field %s is none of real, integer, complex and pattern",
                        word_quote(field, quote));
    f->field = (enum mtx_field)i;
    i = word_find(symmetry, symmetry_names, 4);
    if (i < 0)
        return bad_line(f, f->data,
                        "symmetry %s is none of general, symmetric, skew-symmetric and hermitian",
                        word_quote(symmetry, quote));
    f->symmetry = (enum mtx_symmetry)i;

    // Combinations without a meaning in the specification.
    if (f->field == MTX_PATTERN && f->array)
        return bad_line(f, f->data, "an array has values, so its field cannot be pattern");
    if (f->field == MTX_PATTERN && f->symmetry == MTX_SKEW)
        return bad_line(f, f->data, "a pattern has no signs, so it cannot be skew-symmetric");
    if (f->field != MTX_COMPLEX && f->symmetry == MTX_HERMITIAN)
        return bad_line(f, f->data, "only a complex matrix can be hermitian");
    *p += *p < f->end;
    return OK;
}

// Returns the entries of an array file, as a double, which does not overflow.
static double array_entries(const struct mtx_parser *f)
{
    double m = f->m, n = f->n;
    if (f->symmetry == MTX_GENERAL) return m * n;
    return f->symmetry == MTX_SKEW ? m * (m - 1) / 2 : m * (m + 1) / 2;
}

// Moves to the next window of the text.
static int window_next(struct mtx_parser *f)
{
    int err = text_next(f->text);
    f->data = f->text->data;
    f->end = f->text->end;
    return err;
}

// Checks that the file is long enough for its entries, and memory large enough. In a compressed
// file a wrong size line may show only at the end. So f->memory_error keeps the lack of memory,
// to be reported if the file does have as many entries.
static int memory_check(struct mtx_parser *f, const char *size_line, double entries)
{
    // The shortest lines are "1", "1 0", "1 1", "1 1 0" and "1 1 0 0", with a newline between
    // lines.
    int numbers = (f->array ? 0 : 2) + (f->field == MTX_PATTERN   ? 0
                                        : f->field == MTX_COMPLEX ? 2
                                                                  : 1);
    int64_t most = (text_most(f->text, f->data) + 1) / (2 * numbers);
    if (entries > (double)most)
        return bad_line(f, size_line,
                        "too few entries: %.0f promised, but at most %lld fit into the file",
                        entries, (long long)most);
    // Triplets, and the CSR made from the triplets with its row starts.
    double bytes = entries * (16 + 16 * (f->symmetry == MTX_GENERAL ? 1 : 2)) + 8.0 * f->m;
    if (bytes <= 1e6 || bytes <= (double)mem_available()) return OK;
    char wanted[32], available[64];
    bad_line(f, size_line, "%.0f entries and %d rows need %s of memory, %s", entries, f->m,
             size_text(bytes < 9e18 ? (int64_t)bytes : INT64_MAX, wanted),
             mem_free_text(available));
    snprintf(f->memory_error, sizeof f->memory_error, "%s", fail_text());
    return f->text->last ? fail(ERR_MEMORY, "%s", f->memory_error) : OK;
}

// Reads the size line, which is the first line that is no comment. Moves f->data behind the line.
static int sizes_read(struct mtx_parser *f, const char *p)
{
    static const char *const what[] = {"rows", "columns", "entries"};
    char quote[48];
    for (;;) {
        while ((p = blanks_skip(p, f->end)) < f->end && (*p == '%' || *p == '\n'))
            p = line_skip(p, f->end);
        if (p < f->end || f->text->last) break;
        int err = window_next(f);
        if (err) return err;
        p = f->data;
    }
    const char *size_line = p;
    if (p == f->end) return bad_line(f, p, "the file ends before its size line");

    int64_t size[3] = {0};
    int count = f->array ? 2 : 3;
    for (int i = 0; i < count; i++) {
        struct word w = word_next(&p, f->end);
        if (!w.length)
            return bad_line(f, size_line, "the size line ends before the number of %s", what[i]);
        if (whole_read(w.start, f->end, &size[i]) != p)
            return bad_line(f, size_line, "%s is not a number of %s", word_quote(w, quote),
                            what[i]);
        if (size[i] > (i < 2 ? INT32_MAX : INT64_MAX - 1))
            return bad_line(f, size_line, "%s %s are too many", word_quote(w, quote), what[i]);
    }
    struct word extra = word_next(&p, f->end);
    if (extra.length)
        return bad_line(f, size_line, "%s is one number too many on the size line",
                        word_quote(extra, quote));
    f->data = p + (p < f->end);
    f->m = (int32_t)size[0];
    f->n = (int32_t)size[1];
    if (f->symmetry != MTX_GENERAL && f->m != f->n)
        return bad_line(f, size_line, "%d rows and %d columns, but a %s matrix is square", f->m,
                        f->n, mtx_symmetry_name(f->symmetry));

    double entries = f->array ? array_entries(f) : (double)size[2];
    f->entries = entries < 9e18 ? (f->array ? (int64_t)entries : size[2]) : INT64_MAX;
    if (matrix_is_hollow(f->m, f->n, entries))
        return bad_line(f, size_line, "%d x %d is too large for %.0f entries: " SIDE_RULE, f->m,
                        f->n, entries, (long long)SIDE_MOST, SIDE_PER_ENTRY);
    return memory_check(f, size_line, entries);
}

// Reads the banner and the size line. Moves f->data behind the size line.
static int head_read(struct mtx_parser *f)
{
    const char *p = f->data;
    int err = banner_read(f, &p);
    return err ? err : sizes_read(f, p);
}

// Returns ERR_INPUT with the text for the error at which a chunk ended.
static int fail_line(const struct mtx_parser *f, enum bad bad, const char *at)
{
    char quote[48];
    const char *p = at;
    struct word w = word_next(&p, f->end);
    word_quote(w, quote);
    bool row = bad == BAD_ROW;
    switch (bad) {
    case BAD_ROW:
    case BAD_COLUMN: {
        const char *name = row ? "row" : "column", *start = w.start + (w.length && *w.start == '-');
        int64_t ignored;
        if (!w.length) return bad_line(f, at, "the line ends before the %s", name);
        if (whole_read(start, f->end, &ignored) != p)
            return bad_line(f, at, "%s %s is not a whole number", name, quote);
        int32_t size = row ? f->m : f->n;
        return bad_line(f, at, "%s %.*s is outside the matrix (%d %s%s)", name,
                        (int)min64(w.length, 40), w.start, size, name, size == 1 ? "" : "s");
    }
    case BAD_VALUE: {
        const char *q = w.start + (w.length && (*w.start == '-' || *w.start == '+'));
        static const char *const names[] = {"nan", "inf", "infinity"};
        double x = 0;
        if (!w.length) return bad_line(f, at, "the line ends before the value");
        if (word_find((struct word){q, p - q}, names, 3) >= 0)
            return bad_line(f, at, "value %s is not finite", quote);
        if (real_read(w.start, f->end, &x) != p)
            return bad_line(f, at, "value %s is not a number", quote);
        if (!isfinite(x)) return bad_line(f, at, "value %s is too large", quote);
        return bad_line(f, at, "value %s is not a whole number, as an integer matrix has", quote);
    }
    case BAD_EXTRA: return bad_line(f, at, "%s is too much on this line", quote);
    case BAD_DIAGONAL:
        return bad_line(f, at, "the diagonal of a skew-symmetric matrix is 0, not %s", quote);
    case BAD_COUNT:
        return bad_line(f, at, "too many entries: the size line promised %lld",
                        (long long)f->entries);
    default: return OK;
    }
}

// Cuts the window at newlines and counts the entries of each chunk.
static int chunks_make(struct mtx_parser *f)
{
    int64_t bytes = f->end - f->data;
    int64_t size = min64(max64(bytes / (omp_get_max_threads() * 16), CHUNK_MIN), CHUNK_MAX);
    mem_free(f->chunks);
    f->chunk_count = 0;
    f->chunks = mem_alloc(bytes / size + 1, sizeof *f->chunks);
    if (!f->chunks) return ERR_MEMORY;
    const char *p = f->data;
    while (p < f->end) {
        const char *cut = f->end - p > size ? line_skip(p + size, f->end) : f->end;
        f->chunks[f->chunk_count++] = (struct chunk){.start = p, .end = cut};
        p = cut;
    }
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t c = 0; c < f->chunk_count; c++)
        if (!interrupted)
            f->chunks[c].entries = entries_count(f->chunks[c].start, f->chunks[c].end);
    for (int64_t c = 0; c < f->chunk_count; c++) {
        f->chunks[c].first = f->found;
        f->found += f->chunks[c].entries;
    }
    return OK;
}

// Reads the entries of the window. Adds the entries with the value 0 to *zeros.
static int chunks_read(struct mtx_parser *f, const struct coo *C, int64_t *zeros)
{
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t c = 0; c < f->chunk_count; c++)
        if (!interrupted) chunk_read(f, &f->chunks[c], C);
    for (int64_t c = 0; c < f->chunk_count && !interrupted; c++) {
        if (f->chunks[c].bad) return fail_line(f, f->chunks[c].bad, f->chunks[c].at);
        *zeros += f->chunks[c].zeros;
    }
    return OK;
}

// Reads the entries of all windows. Only counts the entries if memory is too small for them.
static int entries_read_all(struct mtx_parser *f, struct coo *C, int64_t *zeros)
{
    int err = chunks_make(f);
    if (err) return err;
    // Memory for the entries that exist. A size line that promises more is an error. The entries
    // are read first, because the message is about the first error in the file.
    int64_t count = f->text->last ? min64(f->entries, f->found) : f->entries;
    if (*f->memory_error) count = 0;
    C->m = f->m;
    C->n = f->n;
    if (!(C->row = mem_alloc(count, sizeof *C->row))) return ERR_MEMORY;
    if (!(C->col = mem_alloc(count, sizeof *C->col))) return ERR_MEMORY;
    if (!(C->val = mem_alloc(count, sizeof *C->val))) return ERR_MEMORY;
    for (;;) {
        if (!*f->memory_error) err = chunks_read(f, C, zeros);
        if (!err && interrupted) err = fail(ERR_INTERRUPTED, "%s: interrupted", f->text->name);
        if (err || f->text->last) break;
        err = window_next(f);
        if (!err) err = chunks_make(f);
        if (err) break;
    }
    if (!err && f->found < f->entries)
        err = bad_line(f, f->end,
                       "too few entries: the size line promised %lld, the file ends after %lld",
                       (long long)f->entries, (long long)f->found);
    if (!err && *f->memory_error) err = fail(ERR_MEMORY, "%s", f->memory_error);
    C->nnz = min64(f->entries, f->found);
    return err;
}

// Sets A to the triplets of an open text.
static int text_parse(struct text *t, uint64_t seed, struct coo *A, struct mtx_info *info)
{
    struct mtx_parser f = {.text = t, .data = t->data, .end = t->end, .seed = seed};
    struct coo C = {0};
    int err = head_read(&f);
    if (!err) err = entries_read_all(&f, &C, &info->zeros);
    info->bytes = t->bytes;
    if (!err) {
        info->field = f.field;
        info->symmetry = f.symmetry;
        info->array = f.array;
        info->stored = C.nnz;
        *A = C;
        C = (struct coo){0};
    }
    mem_free(f.chunks);
    coo_free(&C);
    return err;
}

int mtx_parse(const char *name, const void *data, size_t bytes, uint64_t seed, struct coo *A,
              struct mtx_info *info)
{
    struct text t;
    *A = (struct coo){0};
    *info = (struct mtx_info){0};
    int err = text_open_bytes(name, data, (int64_t)bytes, &t);
    if (err) return err;
    err = text_parse(&t, seed, A, info);
    text_close(&t);
    return err;
}

int mtx_read(const char *path, uint64_t seed, struct csr *A, struct mtx_info *info)
{
    double start = clock_ms();
    struct text t;
    struct coo C = {0};
    *A = (struct csr){0};
    *info = (struct mtx_info){0};
    int err = text_open(path, &t);
    if (err) return err;
    err = text_parse(&t, seed, &C, info);
    text_close(&t);
    if (!err) err = csr_from_coo_mirrored(&C, mtx_mirror(info->symmetry), A, &info->duplicates);
    coo_free(&C);
    info->load_ms = clock_ms() - start;
    return err;
}

int mtx_look(const char *path)
{
    struct text t;
    int err = text_open_head(path, &t);
    if (err) return err;
    struct mtx_parser f = {.text = &t, .data = t.data, .end = t.end};
    err = head_read(&f);
    text_close(&t);
    // Memory may suffice when the file is read. A lack of memory is a result of each case.
    return err == ERR_MEMORY ? fail_drop() : err;
}
