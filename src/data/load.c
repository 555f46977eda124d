#include "data/load.h"

#include "base/hash.h"
#include "base/utf8.h"
#include "data/cache.h"
#include "data/gen.h"
#include "data/text.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *content_text(const struct csr *A, bool values, char text[CONTENT_LETTERS + 1])
{
    int64_t sizes[] = {A->m, A->n, A->nnz, values};
    struct hash all = hash_bytes(sizes, sizeof sizes);
    all = hash_join(all, hash_bytes(A->ptr, ((int64_t)A->m + 1) * (int64_t)sizeof *A->ptr));
    all = hash_join(all, hash_bytes(A->idx, A->nnz * (int64_t)sizeof *A->idx));
    if (values) all = hash_join(all, hash_bytes(A->val, A->nnz * (int64_t)sizeof *A->val));
    snprintf(text, CONTENT_LETTERS + 1, "%016llx%016llx", (unsigned long long)all.a,
             (unsigned long long)all.b);
    return text;
}

static char *name_from_path(const char *path)
{
    const char *start;
    size_t length = text_stem(path, &start);
    return mem_copy_text(start, length);
}

static int load_generated(uint64_t seed, struct matrix *M)
{
    int err = gen_matrix(M->path, seed, &M->A);
    if (err) return err;
    M->field = "real";
    M->symmetry = "general";
    M->stored = M->A.nnz;
    return OK;
}

// Reads a file from the cache, else from its text, which is then cached.
static int read_file(struct matrix *M, uint64_t seed, struct mtx_info *info)
{
    double start = clock_ms();
    struct cache_key key = cache_key(M->path, seed);
    M->cached = cache_read(&key, &M->A, info);
    if (M->cached) {
        info->load_ms = clock_ms() - start;
        return OK;
    }
    int err = mtx_read(M->path, seed, &M->A, info);
    if (!err) cache_keep(&key, M->path, &M->A, info);
    return err;
}

static int load_file(uint64_t seed, struct matrix *M)
{
    struct mtx_info info;
    struct stat facts; // before reading, so that a later write counts as a change
    if (strcmp(M->path, "-") && !stat(M->path, &facts)) M->file = file_mark_of(&facts);
    int err = read_file(M, seed, &info);
    if (err) return err;
    M->field = mtx_field_name(info.field);
    M->symmetry = mtx_symmetry_name(info.symmetry);
    M->values_drawn = info.field == MTX_PATTERN;
    M->real_part = info.field == MTX_COMPLEX;
    M->stored = info.stored;
    M->duplicates = info.duplicates;
    M->file_bytes = info.bytes;
    M->load_ms = info.load_ms;
    content_text(&M->A, !M->values_drawn, M->content);
    if (!M->cached && info.load_ms > 0) M->load_mb_s = (double)info.bytes / 1e3 / info.load_ms;
    return OK;
}

struct file_mark file_mark_of(const struct stat *facts)
{
    if (!S_ISREG(facts->st_mode)) return (struct file_mark){0};
    const struct timespec *t = &facts->st_mtim;
    int64_t changed_ns = (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
    return (struct file_mark){facts->st_size, max64(changed_ns, 0)};
}

static bool is_generated(const char *spec) { return !strncmp(spec, "gen:", 4); }

int matrix_name(const char *spec, struct matrix *M)
{
    *M = (struct matrix){0};
    M->path = mem_copy_text(spec, strlen(spec));
    M->name = is_generated(spec)   ? mem_copy_text(spec + 4, strlen(spec + 4))
              : !strcmp(spec, "-") ? mem_copy_text("stdin", 5)
                                   : name_from_path(spec);
    int err = !M->path || !M->name ? ERR_MEMORY : OK;
    if (!err && !M->name[0])
        err = fail(ERR_USAGE, "'%s' names no matrix; see 'spbench help run'", spec);
    if (err)
        matrix_free(M);
    else
        utf8_clean(M->name);
    return err;
}

// Returns "; did you mean gen:fem:8?" for fem:8, "... web.mtx.gz?" for web.mtx; "" without a guess.
static const char *guess_file(const char *spec, char text[FAIL_TEXT_MAX])
{
    static const char *const ends[] = {".gz", ".mtx", ".mtx.gz", ".tar.gz", ".tgz", ".tar"};
    char path[PATH_MAX];
    for (const struct gen_kind *k = gen_help; k->name; k++) {
        size_t length = strlen(k->name);
        if (strncmp(spec, k->name, length) || (spec[length] && spec[length] != ':')) continue;
        snprintf(text, FAIL_TEXT_MAX, "; did you mean gen:%.400s?", spec[length] ? spec : k->form);
        return text;
    }
    for (int i = 0; i < COUNT(ends); i++) {
        if (snprintf(path, sizeof path, "%s%s", spec, ends[i]) >= PATH_MAX || access(path, F_OK))
            continue;
        snprintf(text, FAIL_TEXT_MAX, "; did you mean %.400s?", path);
        return text;
    }
    return "";
}

static int look_at_file(const char *path)
{
    struct stat facts;
    char guess[FAIL_TEXT_MAX];
    if (stat(path, &facts)) {
        const char *reason = strerror(errno);
        return fail(ERR_INPUT, "%s: %s%s", path, reason,
                    errno == ENOENT ? guess_file(path, guess) : "");
    }
    if (S_ISREG(facts.st_mode) || S_ISDIR(facts.st_mode)) return mtx_look(path);
    return access(path, R_OK) ? fail(ERR_INPUT, "%s: %s", path, strerror(errno)) : OK;
}

int matrix_look(const char *spec)
{
    struct matrix M;
    int64_t nnz;
    int err = matrix_name(spec, &M);
    matrix_free(&M);
    if (err || !strcmp(spec, "-")) return err;
    return is_generated(spec) ? gen_look(spec, &nnz) : look_at_file(spec);
}

// Adds the name of the matrix to the text of a failed allocation.
static int fail_memory(const char *spec) { return fail(ERR_MEMORY, "%s: %s", spec, fail_text()); }

int matrix_load(const char *spec, uint64_t seed, struct matrix *M)
{
    int err = matrix_name(spec, M);
    if (!err) err = is_generated(spec) ? load_generated(seed, M) : load_file(seed, M);
    if (!err) facts_rows(&M->A, &M->facts);
    if (err == ERR_MEMORY) err = fail_memory(spec);
    if (err) matrix_free(M);
    return err;
}

void matrix_free(struct matrix *M)
{
    mem_free(M->name);
    mem_free(M->path);
    csr_free(&M->A);
    *M = (struct matrix){0};
}
