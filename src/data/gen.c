#include "data/gen.h"

#include "base/suggest.h"
#include "base/words.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

// Parses a whole number that ends at ':' or at the end of the text. Returns false if there is none,
// or the number is too large.
static bool number_parse(const char *s, int64_t *number)
{
    int64_t x = 0;
    if (*s < '0' || *s > '9') return false;
    for (; *s >= '0' && *s <= '9'; s++)
        if (__builtin_mul_overflow(x, 10, &x) || __builtin_add_overflow(x, *s - '0', &x))
            return false;
    *number = x;
    return *s == ':' || *s == 0;
}

static int kind_unknown(const char *spec, int length)
{
    char known[256] = "", name[50], guess[64];
    struct suggestion near;
    snprintf(name, sizeof name, "%.*s", length, spec);
    suggest_start(&near, name);
    for (const struct gen_kind *k = gen_help; k->name; k++) {
        words_and(known, sizeof known, k->name);
        suggest_offer(&near, k->name);
    }
    return fail(ERR_USAGE, "gen:%.200s: no generator is called '%s'; %sthere are %s", spec, name,
                suggest_text(&near, guess), known);
}

static int spec_parse(const char *spec, struct gen *g)
{
    if (!strncmp(spec, "gen:", 4)) spec += 4;
    g->spec = spec;
    size_t length = strcspn(spec, ":");
    for (const struct gen_kind *k = gen_help; k->name && !g->kind; k++)
        if (strlen(k->name) == length && !strncmp(k->name, spec, length)) g->kind = k;
    if (!g->kind) return kind_unknown(spec, (int)length);

    int wanted = 0, given = 0;
    for (const char *s = g->kind->form; *s; s++) wanted += *s == ':';
    for (const char *s = spec; *s; s++) given += *s == ':';
    if (given != wanted)
        return fail(ERR_USAGE, "gen:%.200s: %d number%s given, %d wanted; the form is gen:%s", spec,
                    given, given == 1 ? "" : "s", wanted, g->kind->form);
    const char *s = spec;
    for (int j = 0; j < wanted; j++) {
        s = strchr(s, ':') + 1;
        if (number_parse(s, &g->p[j])) continue;
        int width = (int)strcspn(s, ":"), name_length;
        const char *name = gen_param_name(g->kind, j, &name_length);
        return fail(ERR_USAGE,
                    "gen:%.200s: %.*s is '%.*s', not a whole number%s; the form is gen:%s", spec,
                    name_length, name, width < 50 ? width : 50, s, width > 18 ? " below 2^63" : "",
                    g->kind->form);
    }
    return OK;
}

// Sets the size of the matrix, and checks it.
static int shape(struct gen *g)
{
    int err = g->kind->shape(g);
    if (err || !matrix_is_hollow(g->m, g->n, (double)g->nnz)) return err;
    return fail(ERR_USAGE, "gen:%.200s: too few entries: " SIDE_RULE, g->spec, (long long)SIDE_MOST,
                SIDE_PER_ENTRY);
}

static int rows_build(const struct gen *g, struct csr *A)
{
    int err = csr_alloc(A, (int32_t)g->m, (int32_t)g->n, g->nnz);
    if (err) return err;
    int64_t *ptr = A->ptr;
    ptr[0] = 0;
    if (g->kind->count) {
        g->kind->count(g, ptr + 1);
    } else {
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < g->m; i++)
            ptr[i + 1] = g->kind->length ? g->kind->length(g, i) : g->nnz / g->m;
    }
    for (int64_t i = 0; i < g->m; i++) ptr[i + 1] += ptr[i];
    assert(ptr[g->m] == g->nnz);
#pragma omp parallel for schedule(dynamic, 256)
    for (int64_t i = 0; i < g->m; i++) {
        if (interrupted) continue;
        g->kind->fill(g, i, ptr[i + 1] - ptr[i], A->idx + ptr[i]);
        for (int64_t p = ptr[i]; p < ptr[i + 1]; p++) A->val[p] = gen_value(g, p);
    }
    return OK;
}

// Refuses a matrix that is larger than the free memory, before its first allocation.
static int memory_check(const struct gen *g)
{
    // In double, which does not overflow. rmat needs triplets and the result at a time.
    double bytes = 8.0 * (double)g->m + (g->kind->build ? 28.0 : 12.0) * (double)g->nnz;
    if (bytes <= (double)mem_available()) return OK;
    char wanted[32], available[64];
    return fail(ERR_MEMORY, "gen:%.200s: %s of memory wanted, %s", g->spec,
                size_text(bytes < 9e18 ? (int64_t)bytes : INT64_MAX, wanted),
                mem_free_text(available));
}

int gen_look(const char *spec, int64_t *nnz)
{
    struct gen g = {0};
    int err = spec_parse(spec, &g);
    if (!err) err = shape(&g);
    *nnz = g.nnz;
    return err;
}

int gen_matrix(const char *spec, uint64_t seed, struct csr *A)
{
    struct gen g = {.seed = random_at(seed, 0), .value_seed = random_at(seed, 1)};
    struct csr C = {0};
    *A = C;
    int err = spec_parse(spec, &g);
    if (!err) err = shape(&g);
    if (!err) err = memory_check(&g);
    if (!err) err = g.kind->build ? g.kind->build(&g, &C) : rows_build(&g, &C);
    if (!err && interrupted) err = fail(ERR_INTERRUPTED, "gen:%.200s: interrupted", g.spec);
    if (err) {
        csr_free(&C);
        return err;
    }
    assert(!csr_check(&C));
    *A = C;
    return OK;
}
