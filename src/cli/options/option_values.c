#include "cli/options/option_values.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/suggest.h"
#include "compare/verdict_text.h"
#include "exact/traps.h"
#include "sweep/worker_devices.h"

// Parses a single value of an axis.
static int parse_one(const struct axis *axis, const char *text, int64_t *value)
{
    struct axis_values v;
    int err = axis_parse(axis, text, &v);
    if (!err && v.count > 1)
        err = fail(ERR_USAGE, "-%s %s: one value, not a list", axis->name, text);
    *value = err ? 0 : v.value[0];
    return err;
}

// Sets *place to the index of the word.
static int parse_word(const struct option *self, const char *text, int64_t *place)
{
    return parse_one(&(struct axis){.name = self->name, .words = self->words}, text, place);
}

// Returns the address of the option's field.
static void *field_of(struct options *o, const struct option *self)
{
    return (char *)o + self->field;
}

int parse_text(struct options *o, const struct option *self, const char *text)
{
    if (!*text) return fail(ERR_USAGE, "-%s: its value is empty", self->name);
    *(const char **)field_of(o, self) = text;
    return OK;
}

int parse_large(struct options *o, const struct option *self, const char *text)
{
    const struct axis axis = {.name = self->name, .min = self->least, .max = self->most};
    return parse_one(&axis, text, field_of(o, self));
}

int parse_whole(struct options *o, const struct option *self, const char *text)
{
    const struct axis axis = {.name = self->name, .min = self->least, .max = self->most};
    int64_t value;
    int err = parse_one(&axis, text, &value);
    *(int *)field_of(o, self) = (int)value;
    return err;
}

int parse_choice(struct options *o, const struct option *self, const char *text)
{
    int64_t place;
    int err = parse_word(self, text, &place);
    *(int *)field_of(o, self) = (int)place;
    return err;
}

int parse_second(struct options *o, const struct option *self, const char *text)
{
    int64_t place;
    int err = parse_word(self, text, &place);
    *(bool *)field_of(o, self) = place;
    return err;
}

int parse_seconds(struct options *o, const struct option *self, const char *text)
{
    char *end;
    double seconds = strtod(text, &end);
    if (end == text || *end)
        return fail(ERR_USAGE, "-%s %s: not a number of seconds", self->name, text);
    if (!(seconds > 0 && seconds <= 86400))
        return fail(ERR_USAGE, "-%s %s: must be more than 0 and at most 86400 seconds", self->name,
                    text);
    *(double *)field_of(o, self) = seconds * 1e3;
    return OK;
}

int parse_percent(struct options *o, const struct option *self, const char *text)
{
    char *end;
    double percent = strtod(text, &end);
    if (end == text || *end || !(percent > 0 && percent <= (double)self->most))
        return fail(ERR_USAGE, "-%s %s: must be a number of percent, over 0 and at most %lld",
                    self->name, text, (long long)self->most);
    *(double *)field_of(o, self) = percent;
    return OK;
}

int parse_op(struct options *o, const struct option *self, const char *text)
{
    if (op_find(text)) return o->op = text, OK;
    struct suggestion s;
    char guess[64], all[128] = "";
    suggest_start(&s, text);
    for (int i = 0; i < op_count; i++) {
        suggest_offer(&s, ops[i]->name);
        words_add(all, sizeof all, ", ", ops[i]->name);
    }
    return fail(ERR_USAGE, "-%s %s: no such operation; %sit is one of %s", self->name, text,
                suggest_text(&s, guess), all);
}

int parse_device(struct options *o, const struct option *self, const char *text)
{
    enum device_kind kind;
    int index;
    (void)self;
    o->device = text;
    // A sweep leaves devices to its workers.
    struct worker_devices places;
    if (BIT(o->command) & SWEEP) return worker_devices_parse(text, &places);
    return device_parse(text, &kind, &index);
}

int parse_time_limit(struct options *o, const struct option *self, const char *text)
{
    int err = parse_seconds(o, self, text);
    o->rule.most_ms = o->rule.limit_ms;
    return err;
}

int parse_cubin(struct options *o, const struct option *self, const char *text)
{
    if (strpbrk(text, "\"\\\n")) // the path becomes a text in C
        return fail(ERR_USAGE, "-%s %s: has a quote, backslash or line end", self->name, text);
    if (access(text, R_OK)) return fail(ERR_USAGE, "-%s %s: %s", self->name, text, strerror(errno));
    o->new_kernel.cubin = text;
    return OK;
}

bool is_plugin_name(const char *word) { return ends_with(word, ".so"); }

int parse_plugin(struct options *o, const struct option *self, const char *text)
{
    for (const char *rest = text; *rest; rest += *rest == ',') {
        size_t length = strcspn(rest, ",");
        if (o->plugin_count == PLUGINS_MAX)
            return fail(ERR_USAGE, "-%s: more than %d files", self->name, PLUGINS_MAX);
        char *file = mem_copy_text(rest, length);
        if (!file) return ERR_MEMORY;
        o->plugins[o->plugin_count++] = file;
        rest += length;
        if (!length) return fail(ERR_USAGE, "-%s %s: a name is empty", self->name, text);
    }
    return OK;
}

int parse_alg(struct options *o, const struct option *self, const char *text)
{
    const char *rest = text;
    char item[WORD_MAX];
    int more;
    while ((more = words_next(&rest, item)) > 0) {}
    if (more < 0) return words_bad(self->name, text);
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

int parse_prec(struct options *o, const struct option *self, const char *text)
{
    const char *words[PRECS + 1] = {NULL};
    for (int p = 0; p < PRECS; p++) words[p] = prec_name((enum prec)p);
    const struct axis axis = {.name = self->name, .words = words};
    int err = options_add_axis(&axis, text, &o->prec_values);
    o->prec_count = o->prec_values.count;
    for (int i = 0; i < o->prec_count; i++) o->precs[i] = (enum prec)o->prec_values.value[i];
    return err;
}

// Adds a value of the option `name` unless present.
static int add_opt(struct options *o, const char *option, const char *name, double x)
{
    for (int i = 0; i < o->opt_count; i++)
        if (!strcmp(o->opts[i].name, name) && o->opts[i].value == x) return OK;
    if (o->opt_count == OPTS_MAX)
        return fail(ERR_USAGE, "-%s: more than %d values", option, OPTS_MAX);
    int i = o->opt_count++;
    snprintf(o->opt_names[i], sizeof o->opt_names[i], "%s", name);
    o->opts[i] = (struct given_option){o->opt_names[i], x};
    return OK;
}

int parse_opt(struct options *o, const struct option *self, const char *text)
{
    const char *rest = text;
    char item[WORD_MAX], name[WORD_MAX] = "";
    int more;
    while ((more = words_next(&rest, item)) > 0) {
        char *equals = strchr(item, '='), *value = equals ? equals + 1 : item, *end;
        if (equals == item || (!equals && !*name) || (equals && equals - item > 30))
            return fail(ERR_USAGE, "-%s %s: must be name=value", self->name, item);
        if (equals) snprintf(name, sizeof name, "%.*s", (int)(equals - item), item);
        double x = strtod(value, &end);
        if (end == value || *end || !isfinite(x))
            return fail(ERR_USAGE, "-%s %s=%s: the value is not a number", self->name, name, value);
        int err = add_opt(o, self->name, name, x);
        if (err) return err;
    }
    return more < 0 ? words_bad(self->name, text) : OK;
}

#define LEAST_BYTES ((double)(64 << 20)) // least memory for a worker

// Parses a size: "512M", "4G", "1.5G", or a number of bytes.
int parse_mem_limit(struct options *o, const struct option *self, const char *text)
{
    static const char units[] = "KMGT";
    char *end;
    double bytes = strtod(text, &end);
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (end == text || (*end && !unit) || (unit && end[1]) || !(bytes > 0))
        return fail(ERR_USAGE, "-%s %s: not a size such as 512M or 4G", self->name, text);
    for (const char *u = units; unit && u <= unit; u++) bytes *= 1024;
    if (!(bytes >= LEAST_BYTES && bytes < 0x1p62))
        return fail(ERR_USAGE, "-%s %s: must be at least 64M%s", self->name, text,
                    bytes > LEAST_BYTES ? ", and less than 4 EB" : "");
    o->sweep.memory_bytes = (int64_t)bytes;
    return OK;
}

int parse_shard(struct options *o, const struct option *self, const char *text)
{
    int used = 0;
    bool good = sscanf(text, "%9d/%9d%n", &o->sweep.shard, &o->sweep.shards, &used) == 2 &&
                !text[used] && o->sweep.shard >= 1 && o->sweep.shard <= o->sweep.shards;
    if (good) return OK;
    return fail(ERR_USAGE, "-%s %s: must be I/N, with I from 1 to N", self->name, text);
}

// Takes names and patterns of traps, each of which matches one.
int parse_traps(struct options *o, const struct option *self, const char *text)
{
    const char *rest = text;
    char item[WORD_MAX], all[256] = "exact";
    int more;
    for (int i = 0; i < trap_count; i++) words_add(all, sizeof all, ", ", traps[i].name);
    while ((more = words_next(&rest, item)) > 0) {
        bool found = summary_fits(item, "exact");
        for (int i = 0; i < trap_count; i++) found |= summary_fits(item, traps[i].name);
        if (!found)
            return fail(ERR_USAGE, "-%s %s: no such trap; the traps are %s", self->name, item, all);
    }
    o->conform.traps = text;
    return more < 0 ? words_bad(self->name, text) : OK;
}

const char *const view_names[VIEW_FORMATS + 1] = {"table", "markdown", "csv", "json", NULL};

const char *const text_formats[] = {"text", "json", NULL};

// Returns format i of the command; NULL after the last.
static const char *format_name(enum command command, int i)
{
    return command == COMMAND_REPORT                                 ? view_names[i]
           : command == COMMAND_ADVISE || command == COMMAND_CONFORM ? text_formats[i]
                                                                     : verdict_formats[i].name;
}

int compare_parse_format(struct options *o, const struct option *self, const char *text)
{
    char all[128] = "", guess[64];
    struct suggestion s;
    (void)self;
    suggest_start(&s, text);
    const char *name;
    for (int i = 0; (name = format_name(o->command, i)); i++) {
        if (!strcmp(text, name)) return o->format = text, OK;
        suggest_offer(&s, name);
        words_add(all, sizeof all, ", ", name);
    }
    return fail(ERR_USAGE, "-format %s: no such format; %sit is one of %s", text,
                suggest_text(&s, guess), all);
}

int report_parse_sort(struct options *o, const struct option *self, const char *text)
{
    int64_t place;
    int err = parse_word(self, text, &place);
    o->report.sort = (enum summary_sort)(place + SUMMARY_NAME);
    return err;
}
