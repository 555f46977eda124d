// The banner and the size line of a Matrix Market file.
#include "data/mtx_body.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *const field_names[] = {"real", "integer", "complex", "pattern"};
static const char *const symmetry_names[] = {"general", "symmetric", "skew-symmetric", "hermitian"};

const char *mtx_field_name(enum mtx_field field) { return field_names[field]; }
const char *mtx_symmetry_name(enum mtx_symmetry symmetry) { return symmetry_names[symmetry]; }

struct word word_next(const char **p, const char *end)
{
    const char *s = *p = blanks_skip(*p, end);
    while (*p < end && !is_blank(**p) && **p != '\n') ++*p;
    return (struct word){s, *p - s};
}

static bool word_is(struct word w, const char *name)
{
    return w.length == (int64_t)strlen(name) && !strncasecmp(w.start, name, (size_t)w.length);
}

int word_find(struct word w, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (word_is(w, names[i])) return i;
    return -1;
}

const char *word_quote(struct word w, char text[48])
{
    int n = 0;
    text[n++] = '"';
    for (int64_t i = 0; i < w.length && n < 40; i++)
        text[n++] = w.start[i] >= ' ' && w.start[i] < 127 ? w.start[i] : '?';
    memcpy(text + n, w.length > 39 ? "...\"" : "\"", w.length > 39 ? 5 : 2);
    return text;
}

int bad_line(const struct body *f, const char *at, const char *format, ...)
{
    char what[256];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return fail(ERR_INPUT, "%s:%lld: %s", f->text->name, text_line(f->text, at), what);
}

static bool begins_with(const struct body *f, const char *text)
{
    int64_t length = (int64_t)strlen(text);
    return f->end - f->data >= length && !memcmp(f->data, text, (size_t)length);
}

// The first line; *p is left behind it.
static int banner_read(struct body *f, const char **p)
{
    static const char *const formats[] = {"coordinate", "array"};
    // Names that other programs write for the same thing.
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

    // What the specification leaves without a meaning.
    if (f->field == MTX_PATTERN && f->array)
        return bad_line(f, f->data, "an array has values, so its field cannot be pattern");
    if (f->field == MTX_PATTERN && f->symmetry == MTX_SKEW)
        return bad_line(f, f->data, "a pattern has no signs, so it cannot be skew-symmetric");
    if (f->field != MTX_COMPLEX && f->symmetry == MTX_HERMITIAN)
        return bad_line(f, f->data, "only a complex matrix can be hermitian");
    *p += *p < f->end;
    return OK;
}

// Entries of an array file. In a double, which no two sizes overflow.
static double array_entries(const struct body *f)
{
    double m = f->m, n = f->n;
    if (f->symmetry == MTX_GENERAL) return m * n;
    return f->symmetry == MTX_SKEW ? m * (m - 1) / 2 : m * (m + 1) / 2;
}

int body_next(struct body *f)
{
    int err = text_next(f->text);
    f->data = f->text->data;
    f->end = f->text->end;
    return err;
}

// Whether there is room for the entries. A promise that the file cannot hold is a mistake in it,
// known at once, or at the end of what is inflated: f->no_room keeps what to say if it was none.
static int room_check(struct body *f, const char *size_line, double entries)
{
    // The shortest lines: "1", "1 0", "1 1", "1 1 0", "1 1 0 0", and a newline between two.
    int numbers = (f->array ? 0 : 2) + (f->field == MTX_PATTERN   ? 0
                                        : f->field == MTX_COMPLEX ? 2
                                                                  : 1);
    int64_t most = (text_most(f->text, f->data) + 1) / (2 * numbers);
    if (entries > (double)most)
        return bad_line(f, size_line,
                        "too few entries: %.0f promised, but at most %lld fit into the file",
                        entries, (long long)most);
    // Triplets and the csr made of them, row pointers included.
    double bytes = entries * (16 + 16 * (f->symmetry == MTX_GENERAL ? 1 : 2)) + 8.0 * f->m;
    if (bytes <= 1e6 || bytes <= (double)mem_available()) return OK;
    char wanted[32], there[64];
    bad_line(f, size_line, "%.0f entries and %d rows need %s of memory, %s", entries, f->m,
             size_text(bytes < 9e18 ? (int64_t)bytes : INT64_MAX, wanted), mem_free_text(there));
    snprintf(f->no_room, sizeof f->no_room, "%s", fail_text());
    return f->text->last ? fail(ERR_MEMORY, "%s", f->no_room) : OK;
}

// The first line that is no comment; f->data is left behind it.
static int sizes_read(struct body *f, const char *p)
{
    static const char *const what[] = {"rows", "columns", "entries"};
    char quote[48];
    for (;;) {
        while ((p = blanks_skip(p, f->end)) < f->end && (*p == '%' || *p == '\n'))
            p = line_skip(p, f->end);
        if (p < f->end || f->text->last) break;
        int err = body_next(f);
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
    return room_check(f, size_line, entries);
}

int head_read(struct body *f)
{
    const char *p = f->data;
    int err = banner_read(f, &p);
    return err ? err : sizes_read(f, p);
}
