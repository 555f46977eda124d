#include "cli/matrices/matrix_check.h"

#include <stdio.h>
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
