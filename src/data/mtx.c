#include "data/mtx.h"

#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "data/mtx_body.h"

double mtx_mirror(enum mtx_symmetry symmetry)
{
    // The real part of a hermitian matrix is symmetric.
    return symmetry == MTX_GENERAL ? 0 : symmetry == MTX_SKEW ? -1 : 1;
}

// Says what is wrong with the line at which a chunk stopped.
static int explain(const struct body *f, enum bad bad, const char *at)
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
static int chunks_make(struct body *f)
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

// Reads the entries of the window.
static int chunks_read(struct body *f, const struct coo *C, int64_t *zeros)
{
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t c = 0; c < f->chunk_count; c++)
        if (!interrupted) chunk_read(f, &f->chunks[c], C);
    for (int64_t c = 0; c < f->chunk_count && !interrupted; c++) {
        if (f->chunks[c].bad) return explain(f, f->chunks[c].bad, f->chunks[c].at);
        *zeros += f->chunks[c].zeros;
    }
    return OK;
}

// Reads the entries of all windows. Those for which there is no room are counted.
static int entries_read_all(struct body *f, struct coo *C, int64_t *zeros)
{
    int err = chunks_make(f);
    if (err) return err;
    // Room for what is there: a promise of more ends in an error, but the lines before it are read
    // first, because the first mistake in the file is the one to tell.
    int64_t room = f->text->last ? min64(f->entries, f->found) : f->entries;
    if (*f->no_room) room = 0;
    C->m = f->m;
    C->n = f->n;
    if (!(C->row = mem_alloc(room, sizeof *C->row))) return ERR_MEMORY;
    if (!(C->col = mem_alloc(room, sizeof *C->col))) return ERR_MEMORY;
    if (!(C->val = mem_alloc(room, sizeof *C->val))) return ERR_MEMORY;
    for (;;) {
        if (!*f->no_room) err = chunks_read(f, C, zeros);
        if (!err && interrupted) err = fail(ERR_INTERRUPTED, "%s: interrupted", f->text->name);
        if (err || f->text->last) break;
        err = body_next(f);
        if (!err) err = chunks_make(f);
        if (err) break;
    }
    if (!err && f->found < f->entries)
        err = bad_line(f, f->end,
                       "too few entries: the size line promised %lld, the file ends after %lld",
                       (long long)f->entries, (long long)f->found);
    if (!err && *f->no_room) err = fail(ERR_MEMORY, "%s", f->no_room);
    C->nnz = min64(f->entries, f->found);
    return err;
}

// The triplets of an open text.
static int text_parse(struct text *t, uint64_t seed, struct coo *A, struct mtx_info *info)
{
    struct body f = {.text = t, .data = t->data, .end = t->end, .seed = seed};
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
    struct body f = {.text = &t, .data = t.data, .end = t.end};
    err = head_read(&f);
    text_close(&t);
    // Memory may be there when it is read; a case that has none is a result of its own.
    return err == ERR_MEMORY ? OK : err;
}
