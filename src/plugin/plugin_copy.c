#include "plugin/plugin.h"

#include <stddef.h>
#include <string.h>

// Sizes of the structs in version 1 of spbench_plugin.h.
#define END_OF(of, field) (offsetof(struct of, field) + sizeof(((struct of *)NULL)->field))
#define PLUGIN_BYTES      END_OF(spbench_plugin, algorithm_count)
#define ALGORITHM_BYTES   END_OF(spbench_algorithm, teardown)
#define OPTION_BYTES      END_OF(spbench_option, about)

bool plugin_copy_struct(void *to, size_t bytes, const void *from, size_t least)
{
    size_t size;
    memcpy(&size, from, sizeof size);
    if (size < least) return false;
    memset(to, 0, bytes);
    memcpy(to, from, size < bytes ? size : bytes);
    memcpy(to, &bytes, sizeof bytes);
    return true;
}

static int copy_options(const char *file, struct spbench_algorithm *a)
{
    const char *from = (const char *)a->options;
    const size_t each = a->options->size; // distance of the plug-in's options
    struct spbench_option *list = mem_alloc(a->option_count, sizeof *list);
    if (!list) return ERR_MEMORY;
    for (int64_t i = 0; i < a->option_count; i++, from += each) {
        const struct spbench_option *o = (const struct spbench_option *)from;
        if (o->size != each)
            return fail(ERR_USAGE, "%s: option %lld of %s has the size %zu, and option 0 has %zu",
                        file, (long long)i, a->name ? a->name : "", o->size, each);
        if (!plugin_copy_struct(&list[i], sizeof *list, o, OPTION_BYTES))
            return fail(ERR_USAGE, "%s: option %lld of %s has the size %zu, not %zu or more", file,
                        (long long)i, a->name ? a->name : "", o->size, OPTION_BYTES);
    }
    a->options = list;
    return OK;
}

static int copy_algorithm(const char *file, int64_t i, const struct spbench_algorithm **place)
{
    const struct spbench_algorithm *from = *place;
    if (!from) return OK;
    struct spbench_algorithm *a = mem_alloc(1, sizeof *a);
    if (!a) return ERR_MEMORY;
    if (!plugin_copy_struct(a, sizeof *a, from, ALGORITHM_BYTES))
        return fail(ERR_USAGE, "%s: algorithm %lld has the size %zu, not %zu or more", file,
                    (long long)i, from->size, ALGORITHM_BYTES);
    *place = a;
    bool follow = a->options && a->option_count > 0 && a->option_count <= ALGO_OPTIONS_MAX;
    return follow ? copy_options(file, a) : OK;
}

int plugin_copy(struct plugin *p)
{
    const struct spbench_plugin *from = p->exported;
    struct spbench_plugin *x = mem_alloc(1, sizeof *x);
    if (!x) return ERR_MEMORY;
    p->exported = x;
    if (!plugin_copy_struct(x, sizeof *x, from, PLUGIN_BYTES))
        return fail(ERR_USAGE, "%s: spbench_plugin_v1 has the size %zu, not %zu or more",
                    p->facts.own.file, from->size, PLUGIN_BYTES);
    const int64_t count = x->algorithm_count;
    if (!x->algorithms || count < 1 || count > ALGOS_ADDED_MAX) return OK;
    const struct spbench_algorithm **list = mem_alloc(count, sizeof *list);
    if (!list) return ERR_MEMORY;
    memcpy(list, x->algorithms, (size_t)count * sizeof *list);
    x->algorithms = list;
    int err = OK;
    for (int64_t i = 0; i < count && !err; i++)
        err = copy_algorithm(p->facts.own.file, i, &list[i]);
    return err;
}
