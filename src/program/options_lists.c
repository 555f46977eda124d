#include "program/options_lists.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int options_add_algs(struct options *o, const char *option, const char *text)
{
    const char *rest = text;
    char item[WORD_MAX];
    int more;
    while ((more = words_next(&rest, item)) > 0) {}
    if (more < 0) return words_bad(option, text);
    size_t size = (o->algs ? strlen(o->algs) : 0) + strlen(text) + 2;
    char *all = mem_alloc((int64_t)size, 1);
    if (!all) return ERR_MEMORY;
    snprintf(all, size, "%s%s%s", o->algs ? o->algs : "", o->algs ? "," : "", text);
    mem_free(o->algs);
    o->alg = o->algs = all;
    return OK;
}

int options_add_axis(const struct axis *axis, const char *text, struct axis_values *all)
{
    struct axis_values more;
    int err = axis_parse(axis, text, &more);
    if (err) return err;
    if (!all->text) {
        *all = more;
        return OK;
    }
    for (int i = 0; i < more.count && !err; i++) err = axis_values_add(all, axis, more.value[i]);
    return err;
}

int options_add_precs(struct options *o, const char *option, const char *text)
{
    static const char *const words[] = {[F32] = "f32", [F64] = "f64", NULL};
    const struct axis axis = {.name = option, .words = words};
    int err = options_add_axis(&axis, text, &o->prec_values);
    o->prec_count = o->prec_values.count;
    for (int i = 0; i < o->prec_count; i++) o->precs[i] = (enum prec)o->prec_values.value[i];
    return err;
}

// A value of the setting `name`, unless it has it already.
static int add_setting(struct options *o, const char *option, const char *name, double x)
{
    for (int i = 0; i < o->setting_count; i++)
        if (!strcmp(o->settings[i].name, name) && o->settings[i].value == x) return OK;
    if (o->setting_count == SETTINGS_MAX)
        return fail(ERR_USAGE, "-%s: more than %d values", option, SETTINGS_MAX);
    int i = o->setting_count++;
    snprintf(o->setting_names[i], sizeof o->setting_names[i], "%s", name);
    o->settings[i] = (struct option_setting){o->setting_names[i], x};
    return OK;
}

int options_add_settings(struct options *o, const char *option, const char *text)
{
    const char *rest = text;
    char item[WORD_MAX], name[WORD_MAX] = "";
    int more;
    while ((more = words_next(&rest, item)) > 0) {
        char *equals = strchr(item, '='), *value = equals ? equals + 1 : item, *end;
        if (equals == item || (!equals && !*name) || (equals && equals - item > 30))
            return fail(ERR_USAGE, "-%s %s: must be name=value", option, item);
        if (equals) snprintf(name, sizeof name, "%.*s", (int)(equals - item), item);
        double x = strtod(value, &end);
        if (end == value || *end || !isfinite(x))
            return fail(ERR_USAGE, "-%s %s=%s: the value is not a number", option, name, value);
        int err = add_setting(o, option, name, x);
        if (err) return err;
    }
    return more < 0 ? words_bad(option, text) : OK;
}
