#include "plugin/plugin.h"

#include <math.h>
#include <string.h>

#include "base/utf8.h"

#define NAME_LETTERS    31
#define VERSION_LETTERS 32
#define ABOUT_LETTERS   60
#define CITE_LETTERS    200

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

// Returns true for 1 to `most` letters, digits and characters of `others`.
static bool is_name(const char *text, const char *others, size_t most)
{
    size_t length = text ? strnlen(text, most + 1) : 0;
    for (size_t i = 0; i < length; i++)
        if (!strchr(letters, text[i]) && !strchr(others, text[i])) return false;
    return length > 0 && length <= most;
}

// Returns true for 1 to `most` bytes of UTF-8 without control characters.
static bool is_line(const char *text, size_t most)
{
    size_t length = text ? strnlen(text, most + 1) : 0;
    if (!length || length > most) return false;
    for (int n; *text; text += n) {
        n = utf8_length(text);
        if (!n || (unsigned char)*text < 0x20 || *text == 0x7f) return false;
    }
    return true;
}

static int check_option(const char *file, const char *name, const struct spbench_option *o)
{
    if (!is_name(o->name, "_-", NAME_LETTERS))
        return fail(ERR_USAGE,
                    "%s: %s has an option whose name is not 1 to %d letters, digits, _, -", file,
                    name, NAME_LETTERS);
    if (!is_line(o->about, CITE_LETTERS))
        return fail(ERR_USAGE, "%s: option %s of %s: `about` is not a line of at most %d bytes",
                    file, o->name, name, CITE_LETTERS);
    if (!(o->min <= o->standard && o->standard <= o->max) || !isfinite(o->min) || !isfinite(o->max))
        return fail(ERR_USAGE, "%s: option %s of %s: standard %g is not between min %g and max %g",
                    file, o->name, name, o->standard, o->min, o->max);
    if (o->whole != 0 && o->whole != 1)
        return fail(ERR_USAGE, "%s: option %s of %s: `whole` is %lld, not 0 or 1", file, o->name,
                    name, (long long)o->whole);
    if (o->whole && o->standard != floor(o->standard))
        return fail(ERR_USAGE, "%s: option %s of %s: standard %g is not a whole number", file,
                    o->name, name, o->standard);
    return OK;
}

static int check_options(const char *file, const struct spbench_algorithm *a)
{
    int err = OK;
    if (a->option_count < 0 || a->option_count > ALGO_OPTIONS_MAX)
        return fail(ERR_USAGE, "%s: %s has %lld options, not 0 to %d", file, a->name,
                    (long long)a->option_count, ALGO_OPTIONS_MAX);
    if (a->option_count && !a->options)
        return fail(ERR_USAGE, "%s: `options` of %s is NULL", file, a->name);
    for (int64_t i = 0; i < a->option_count && !err; i++) {
        const struct spbench_option *o = &a->options[i];
        err = check_option(file, a->name, o);
        for (int64_t k = 0; k < i && !err; k++)
            if (!strcmp(a->options[k].name, o->name))
                err = fail(ERR_USAGE, "%s: %s has two options of the name %s", file, a->name,
                           o->name);
    }
    return err;
}

// Returns an error unless `bits` has at least one of the bits `all` and no other. `words` describes
// the bits `all`.
static int check_bits(const char *file, const char *name, const char *what, int64_t bits,
                      int64_t all, const char *words)
{
    if (bits && !(bits & ~all)) return OK;
    return fail(ERR_USAGE, "%s: `%s` of %s is %lld, not a sum of %s", file, what, name,
                (long long)bits, words);
}

const struct op *plugin_op(const struct spbench_algorithm *a)
{
    if (a->operation != (int32_t)a->operation) return NULL;
    switch ((enum spbench_operation)a->operation) {
    case SPBENCH_SPMM: return op_find("spmm");
    case SPBENCH_SDDMM: return op_find("sddmm");
    case SPBENCH_SPGEMM: return op_find("spgemm");
    }
    return NULL;
}

bool plugin_device(const struct spbench_algorithm *a, enum device_kind *kind)
{
    if (a->device != (int32_t)a->device) return false;
    switch ((enum spbench_device)a->device) {
    case SPBENCH_ON_CPU: return *kind = DEVICE_CPU, true;
    case SPBENCH_ON_CUDA: return *kind = DEVICE_CUDA, true;
    }
    return false;
}

static int check_algorithm(const char *file, int64_t i, const struct spbench_algorithm *a)
{
    enum device_kind kind;
    if (!a) return fail(ERR_USAGE, "%s: algorithm %lld is NULL", file, (long long)i);
    if (plugin_check_name(a->name ? a->name : ""))
        return fail(ERR_USAGE, "%s: name of algorithm %lld: %s", file, (long long)i, fail_text());
    if (!is_line(a->about, ABOUT_LETTERS))
        return fail(ERR_USAGE, "%s: `about` of %s is not a line of at most %d bytes", file, a->name,
                    ABOUT_LETTERS);
    if (!is_line(a->cite, CITE_LETTERS))
        return fail(ERR_USAGE, "%s: `cite` of %s is not a line of at most %d bytes", file, a->name,
                    CITE_LETTERS);
    if (!plugin_op(a))
        return fail(ERR_USAGE,
                    "%s: `operation` of %s is %lld, not SPBENCH_SPMM, SPBENCH_SDDMM or "
                    "SPBENCH_SPGEMM",
                    file, a->name, (long long)a->operation);
    if (!plugin_device(a, &kind))
        return fail(ERR_USAGE, "%s: `device` of %s is %lld, not SPBENCH_ON_CPU or SPBENCH_ON_CUDA",
                    file, a->name, (long long)a->device);
    if (!a->run) return fail(ERR_USAGE, "%s: `run` of %s is NULL", file, a->name);
    int err = check_bits(file, a->name, "precisions", a->precisions, EVERY_PREC,
                         "those of enum spbench_precision");
    if (!err) err = check_bits(file, a->name, "formats", a->formats, SPBENCH_CSR, "SPBENCH_CSR");
    if (!err && (a->operation == SPBENCH_SPMM || a->layouts))
        err = check_bits(file, a->name, "layouts", a->layouts, BOTH_LAYOUTS,
                         "SPBENCH_ROW_MAJOR and SPBENCH_COL_MAJOR");
    return err ? err : check_options(file, a);
}

int plugin_check_name(const char *name)
{
    if (!is_name(name, "_-", NAME_LETTERS))
        return fail(ERR_USAGE, "%s: is not 1 to %d letters, digits, _, -", name, NAME_LETTERS);
    if (!strcmp(name, "all") || op_find(name))
        return fail(ERR_USAGE, "%s: has another meaning in spbench", name);
    return OK;
}

int plugin_check(const struct plugin *p)
{
    const struct spbench_plugin *x = p->exported;
    int err = OK;
    if (!is_name(x->version, ".+_-", VERSION_LETTERS))
        return fail(ERR_USAGE, "%s: `version` is not 1 to %d letters, digits, '.', '+', '_', '-'",
                    p->facts.own.file, VERSION_LETTERS);
    if (x->algorithm_count < 1 || x->algorithm_count > ALGOS_ADDED_MAX || !x->algorithms)
        return fail(ERR_USAGE, "%s: has %lld algorithms, not 1 to %d", p->facts.own.file,
                    x->algorithms ? (long long)x->algorithm_count : 0, ALGOS_ADDED_MAX);
    for (int64_t i = 0; i < x->algorithm_count && !err; i++)
        err = check_algorithm(p->facts.own.file, i, x->algorithms[i]);
    return err;
}
