#include "program/options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"

struct option {
    const char *name;  // without its dash
    const char *value; // what follows it, for the help; NULL: nothing does
    const char *about; // a line, with the default
    unsigned commands; // BIT(enum command): who takes it
    int (*parse)(struct options *o, const struct option *self, const char *text);
};

int list_next(const char **rest, char item[64])
{
    if (!*rest) return 0;
    size_t length = strcspn(*rest, ",");
    if (!length || length > 63) return -1;
    memcpy(item, *rest, length);
    item[length] = 0;
    *rest = (*rest)[length] ? *rest + length + 1 : NULL;
    return 1;
}

static int bad_list(const struct option *self, const char *text)
{
    if (!*text) return fail(ERR_USAGE, "-%s: its value is empty", self->name);
    return fail(ERR_USAGE, "-%s %s: an item of the list is empty or too long", self->name, text);
}

// A whole number in [min, max].
static int whole_number(const struct option *self, const char *text, int64_t min, int64_t max,
                        int64_t *out)
{
    char *end;
    errno = 0;
    long long x = strtoll(text, &end, 10);
    if (end == text || *end || strchr(" \t\n", *text))
        return fail(ERR_USAGE, "-%s %s: not a whole number", self->name, text);
    if (errno || x < min || x > max)
        return fail(ERR_USAGE, "-%s %s: must be from %lld to %lld", self->name, text,
                    (long long)min, (long long)max);
    *out = x;
    return OK;
}

// The place of `text` in `words`, which ends with NULL; or the error that names what there is.
static int word_of(const struct option *self, const char *text, const char *const *words,
                   const char *all, int *out)
{
    struct suggestion s;
    char guess[64];
    suggest_start(&s, text);
    for (int i = 0; words[i]; i++) {
        if (!strcmp(text, words[i])) return *out = i, OK;
        suggest_offer(&s, words[i]);
    }
    return fail(ERR_USAGE, "-%s %s: no such value; %sit is one of %s", self->name, text,
                suggest_text(&s, guess), all);
}

static int parse_op(struct options *o, const struct option *self, const char *text)
{
    if (op_find(text) >= 0) return o->op = text, OK;
    struct suggestion s;
    char guess[64];
    suggest_start(&s, text);
    for (int i = 0; i < op_count; i++) suggest_offer(&s, ops[i].name);
    char all[128] = "";
    for (int i = 0; i < op_count; i++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? ", " : "", ops[i].name);
    return fail(ERR_USAGE, "-%s %s: no such operation; %sit is one of %s", self->name, text,
                suggest_text(&s, guess), all);
}

static int parse_alg(struct options *o, const struct option *self, const char *text)
{
    const char *rest = text;
    char item[64];
    int more;
    while ((more = list_next(&rest, item)) > 0) {}
    if (more < 0) return bad_list(self, text);
    o->alg = text;
    return OK;
}

static int parse_k(struct options *o, const struct option *self, const char *text)
{
    const char *rest = text;
    char item[64];
    int more;
    o->k_count = 0;
    while ((more = list_next(&rest, item)) > 0) {
        int64_t k = 0;
        int err = whole_number(self, item, 1, INT32_MAX, &k);
        if (err) return err;
        bool known = false;
        for (int i = 0; i < o->k_count; i++) known |= o->ks[i] == k;
        if (known) continue;
        if (o->k_count == KS_MAX)
            return fail(ERR_USAGE, "-%s: more than %d values", self->name, KS_MAX);
        o->ks[o->k_count++] = k;
    }
    o->k = text;
    return more < 0 ? bad_list(self, text) : OK;
}

// A list of words of which each counts once: `seen` has a bit for each, in the order of `words`.
static int word_list(const struct option *self, const char *text, const char *const *words,
                     const char *all, int order[2], int *count)
{
    const char *rest = text;
    char item[64];
    int more;
    unsigned seen = 0;
    *count = 0;
    while ((more = list_next(&rest, item)) > 0) {
        int which = 0, err = word_of(self, item, words, all, &which);
        if (err) return err;
        if (!(seen & BIT(which))) order[(*count)++] = which;
        seen |= BIT(which);
    }
    return more < 0 ? bad_list(self, text) : OK;
}

static int parse_prec(struct options *o, const struct option *self, const char *text)
{
    static const char *const words[] = {"f32", "f64", NULL};
    int order[2], err = word_list(self, text, words, "f32, f64", order, &o->prec_count);
    for (int i = 0; !err && i < o->prec_count; i++) o->precs[i] = order[i] ? F64 : F32;
    return err;
}

static int parse_layout(struct options *o, const struct option *self, const char *text)
{
    static const char *const words[] = {"row", "col", NULL};
    int order[2], err = word_list(self, text, words, "row, col", order, &o->layout_count);
    for (int i = 0; !err && i < o->layout_count; i++)
        o->layouts[i] = order[i] ? LAYOUT_COL : LAYOUT_ROW;
    o->layout = text;
    return err;
}

static int parse_mul(struct options *o, const struct option *self, const char *text)
{
    static const char *const words[] = {"aa", "aat", NULL};
    int which = 0, err = word_of(self, text, words, "aa, aat", &which);
    if (!err) o->mul = words[which];
    return err;
}

static int parse_device(struct options *o, const struct option *self, const char *text)
{
    bool known = !strcmp(text, "auto") || !strcmp(text, "cpu") || !strcmp(text, "cuda");
    if (!known && !strncmp(text, "cuda:", 5)) {
        size_t digits = strspn(text + 5, "0123456789");
        known = digits && digits < 5 && !text[5 + digits];
    }
    if (known) return o->device = text, OK;
    return fail(ERR_USAGE, "-%s %s: no such device; it is one of auto, cpu, cuda, cuda:N",
                self->name, text);
}

static int parse_reps(struct options *o, const struct option *self, const char *text)
{
    int64_t reps = 0;
    int err = whole_number(self, text, 1, 1000000, &reps);
    if (!err) o->rule.reps = (int)reps;
    return err;
}

static int parse_time_limit(struct options *o, const struct option *self, const char *text)
{
    char *end;
    double seconds = strtod(text, &end);
    if (end == text || *end)
        return fail(ERR_USAGE, "-%s %s: not a number of seconds", self->name, text);
    if (!(seconds > 0 && seconds <= 86400))
        return fail(ERR_USAGE, "-%s %s: must be more than 0 and at most 86400 seconds", self->name,
                    text);
    o->rule.limit_ms = seconds * 1e3;
    return OK;
}

static int parse_cache(struct options *o, const struct option *self, const char *text)
{
    static const char *const words[] = {"warm", "cold", NULL};
    int which = 0, err = word_of(self, text, words, "warm, cold", &which);
    if (!err) o->rule.cold = which == 1;
    return err;
}

static int parse_check(struct options *o, const struct option *self, const char *text)
{
    static const char *const words[] = {"auto", "full", "sample", "off", NULL};
    static const enum check_mode modes[] = {CHECK_AUTO, CHECK_FULL, CHECK_SAMPLE, CHECK_OFF};
    int which = 0, err = word_of(self, text, words, "auto, full, sample, off", &which);
    if (!err) o->check = modes[which];
    return err;
}

static int parse_setting(struct options *o, const struct option *self, const char *text)
{
    const char *rest = text;
    char item[64];
    int more;
    while ((more = list_next(&rest, item)) > 0) {
        char *value = strchr(item, '='), *end;
        if (!value || value == item || value - item > 31)
            return fail(ERR_USAGE, "-%s %s: must be name=value", self->name, item);
        *value++ = 0;
        double x = strtod(value, &end);
        if (end == value || *end || !isfinite(x))
            return fail(ERR_USAGE, "-%s %s=%s: the value is not a number", self->name, item, value);
        if (o->setting_count == SETTINGS_MAX)
            return fail(ERR_USAGE, "-%s: more than %d settings", self->name, SETTINGS_MAX);
        int i = o->setting_count++;
        snprintf(o->setting_names[i], sizeof o->setting_names[i], "%s", item);
        o->settings[i] = (struct option_setting){o->setting_names[i], x};
    }
    return more < 0 ? bad_list(self, text) : OK;
}

static int parse_threads(struct options *o, const struct option *self, const char *text)
{
    int64_t threads = 0;
    int err = whole_number(self, text, 1, 4096, &threads);
    if (!err) o->threads = (int)threads;
    return err;
}

static int parse_seed(struct options *o, const struct option *self, const char *text)
{
    int64_t seed = 0;
    int err = whole_number(self, text, 0, INT64_MAX, &seed);
    if (!err) o->seed = (uint64_t)seed;
    return err;
}

static int parse_output(struct options *o, const struct option *self, const char *text)
{
    if (!*text) return fail(ERR_USAGE, "-%s: the name of the file is empty", self->name);
    o->output = text;
    return OK;
}

// A flag is a bool of struct options, given by its place there.
#define FLAG(field)                                                                                \
    static int parse_##field(struct options *o, const struct option *self, const char *text)       \
    {                                                                                              \
        (void)self, (void)text;                                                                    \
        o->field = true;                                                                           \
        return OK;                                                                                 \
    }
FLAG(append)
FLAG(quiet)
FLAG(verbose)
FLAG(help)
FLAG(version)

#define RUN  BIT(COMMAND_RUN)
#define INFO BIT(COMMAND_INFO)
#define GEN  BIT(COMMAND_GEN)
#define ROOF BIT(COMMAND_ROOF)
#define ALL  ~0u

// To add an option: a field in struct options, a function above, a row here.
static const struct option table[] = {
    {"op", "NAME", "operation; left out: that of the algorithms, SpMM where several have it", RUN,
     parse_op},
    {"alg", "NAMES", "algorithms: names, patterns such as 'cusparse*', or all (default)", RUN,
     parse_alg},
    {"k", "NUMBERS", "SpMM, SDDMM only: columns of the dense matrices (default 64)", RUN, parse_k},
    {"prec", "NAMES", "precisions: f32 (default), f64", RUN, parse_prec},
    {"layout", "NAMES", "SpMM, SDDMM only: layouts of the dense matrices: row (default), col", RUN,
     parse_layout},
    {"mul", "NAME", "SpGEMM only: aa for A*A (default), aat for A*A^T", RUN, parse_mul},
    {"device", "NAME", "auto (default: the first CUDA device, else the CPU), cpu, cuda, cuda:N",
     RUN | ROOF, parse_device},
    {"reps", "N", "exactly N samples; left out: until the median is known to 0.5 %", RUN,
     parse_reps},
    {"time-limit", "SECONDS", "stop sampling a case after so long (default 2)", RUN,
     parse_time_limit},
    {"cache", "NAME", "warm (default), or cold: flushed before each sample", RUN, parse_cache},
    {"check", "NAME", "auto (default), full: every element, sample: chosen rows, off", RUN,
     parse_check},
    {"opt", "NAME=VALUE", "parameter of the algorithms that have it; repeatable; see list", RUN,
     parse_setting},
    {"threads", "N", "threads of the CPU algorithms (default: all)", RUN | ROOF, parse_threads},
    {"seed", "N", "of all random numbers (default 1)", RUN | INFO | GEN, parse_seed},
    {"o", "FILE", "where the output goes (default: stdout)", RUN | GEN, parse_output},
    {"append", NULL, "add to the file of -o instead of replacing it", RUN, parse_append},
    {"q", NULL, "no table, no progress; only mistakes are told", RUN | ROOF, parse_quiet},
    {"v", NULL, "tell more: times of the preparation and the phases, samples, memory", RUN,
     parse_verbose},
    {"help", NULL, "show the help of the command", ALL, parse_help},
    {"h", NULL, "the same as -help", ALL, parse_help},
    {"version", NULL, "show the version", ALL, parse_version},
};
#define TABLE_SIZE ((int)(sizeof table / sizeof *table))

static const struct option *option_find(const char *name, size_t length)
{
    for (int i = 0; i < TABLE_SIZE; i++)
        if (strlen(table[i].name) == length && !memcmp(table[i].name, name, length))
            return &table[i];
    return NULL;
}

static int unknown_option(enum command command, const char *command_name, const char *word)
{
    struct suggestion s;
    char guess[64], name[64], dashed[64] = "";
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    const struct option *elsewhere = option_find(name, strlen(name));
    if (elsewhere)
        return fail(ERR_USAGE, "-%s: %s does not take it; 'spbench help %s' shows what it takes",
                    name, command_name, command_name);
    suggest_start(&s, name);
    for (int i = 0; i < TABLE_SIZE; i++)
        if (table[i].commands & BIT(command)) suggest_offer(&s, table[i].name);
    if (s.best) snprintf(dashed, sizeof dashed, "-%s", s.best), s.best = dashed;
    return fail(ERR_USAGE, "-%s: no such option of %s; %s'spbench help %s' shows all", name,
                command_name, suggest_text(&s, guess), command_name);
}

int options_parse(struct options *o, enum command command, const char *command_name, int argc,
                  char **argv)
{
    *o = (struct options){.alg = "all",
                          .device = "auto",
                          .ks = {64},
                          .k_count = 1,
                          .precs = {F32},
                          .prec_count = 1,
                          .layouts = {LAYOUT_ROW},
                          .layout_count = 1,
                          .rule = {.limit_ms = 2000},
                          .seed = 1};
    o->operands = mem_alloc(argc, sizeof *o->operands);
    if (!o->operands) return ERR_MEMORY;
    bool ended = false;
    for (int i = 0; i < argc; i++) {
        char *word = argv[i];
        if (ended || word[0] != '-' || !word[1]) { // "-" is stdin
            o->operands[o->operand_count++] = word;
            continue;
        }
        if (!strcmp(word, "--")) {
            ended = true;
            continue;
        }
        word += word[1] == '-' ? 2 : 1;
        const struct option *option = option_find(word, strcspn(word, "="));
        if (!option || !(option->commands & BIT(command)))
            return unknown_option(command, command_name, word);
        const char *text = strchr(word, '=');
        if (text) text++;
        if (text && !option->value) return fail(ERR_USAGE, "-%s: takes no value", option->name);
        if (!text && option->value) {
            if (i + 1 == argc)
                return fail(ERR_USAGE, "-%s: its value is missing: -%s %s", option->name,
                            option->name, option->value);
            text = argv[++i];
        }
        int err = option->parse(o, option, text);
        if (err) return err;
    }
    return OK;
}

void options_free(struct options *o)
{
    mem_free(o->operands);
    o->operands = NULL;
}

bool options_help(enum command command)
{
    bool any = false;
    for (int i = 0; i < TABLE_SIZE; i++) {
        if (!(table[i].commands & BIT(command))) continue;
        char left[32];
        snprintf(left, sizeof left, "-%s %s", table[i].name, table[i].value ? table[i].value : "");
        if (!any) printf("\noptions (one dash or two; -k 64 or -k=64; lists by commas):\n");
        printf("  %-19s %s\n", left, table[i].about);
        any = true;
    }
    return any;
}
