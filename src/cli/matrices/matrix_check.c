#include "cli/matrices/matrix_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options/bench_setup.h"
#include "data/load.h"

// Returns a hint on a word that is no matrix: "it is an algorithm", or "".
static const char *hint(const struct options *o, const char *spec, char text[FAIL_TEXT_MAX])
{
    text[0] = 0;
    if (bench_setup_is_algorithm(spec))
        snprintf(text, FAIL_TEXT_MAX, "; it is an algorithm: -alg %s%s%s", o->algs ? o->algs : "",
                 o->algs ? "," : "", spec);
    return text;
}

int matrix_check_files(const struct options *o, const char *const *specs, int64_t count)
{
    char text[FAIL_TEXT_MAX];
    int64_t bad = 0, stdins = 0;
    bool bad_spec = false;
    for (int64_t i = 0; i < count; i++) {
        int err = interrupted ? fail(ERR_INTERRUPTED, "interrupted") : matrix_look(specs[i]);
        if (!strcmp(specs[i], "-") && stdins++)
            err = fail(ERR_USAGE, "-: stdin can be read only once, and is given twice");
        if (err == ERR_INTERRUPTED || err == ERR_MEMORY) return err;
        if (!err) continue;
        if (count == 1) return fail((enum err)err, "%s%s", fail_text(), hint(o, specs[i], text));
        fprintf(stderr, "%s%s\n", fail_text(), hint(o, specs[i], text));
        bad_spec |= err == ERR_USAGE;
        bad++;
    }
    if (!bad) return OK;
    return fail(bad_spec ? ERR_USAGE : ERR_INPUT,
                "nothing was measured: %lld of %lld matrices cannot be read", (long long)bad,
                (long long)count);
}

struct named {
    char *name; // owned
    int64_t place;
};

static int by_name(const void *x, const void *y)
{
    const struct named *a = x, *b = y;
    int order = strcmp(a->name, b->name);
    return order ? order : (a->place > b->place) - (a->place < b->place);
}

static int take_name(struct named *x, const char *path, int64_t place)
{
    struct matrix M;
    int err = matrix_name(path, &M);
    if (err) return err;
    *x = (struct named){M.name, place};
    M.name = NULL;
    matrix_free(&M);
    return OK;
}

// Returns the first entry whose name another path has; -1: none. *before: the other path.
static int64_t find_second(const struct named *list, int64_t count, const char *const *paths,
                           int64_t *before)
{
    int64_t second = -1, first = 0; // start of a range of equal names
    for (int64_t i = 1; i < count; i++) {
        if (strcmp(list[i].name, list[first].name)) first = i;
        int64_t place = list[i].place;
        if (!strcmp(paths[place], paths[list[first].place]) || (second >= 0 && place > second))
            continue;
        second = place;
        *before = list[first].place;
    }
    return second;
}

int matrix_check_names(const char *const *paths, int64_t count, const char *command)
{
    struct named *list = mem_alloc(count, sizeof *list);
    int64_t named = 0, first = 0, second;
    int err = list ? OK : ERR_MEMORY;
    while (!err && named < count) {
        err = take_name(&list[named], paths[named], named);
        named += !err;
    }
    if (!err && count) qsort(list, (size_t)count, sizeof *list, by_name);
    second = err ? -1 : find_second(list, count, paths, &first);
    if (second >= 0)
        err = fail(
            ERR_USAGE,
            "%s and %s: two matrices with the same name in records; use a separate %s for each",
            paths[first], paths[second], command);
    while (named) mem_free(list[--named].name);
    mem_free(list);
    return err;
}
