#include "program/options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/suggest.h"
#include "program/options_sweep.h"
#include "program/places.h"
#include "program/threads.h"

#define LIMIT_MS   2000.0   // for the samples of a case, if there are 10 by then
#define MOST_MS    20000.0  // if there are not
#define TIMEOUT_MS 600000.0 // of a sweep: for a case

#define RUN   (BIT(COMMAND_RUN) | SWEEP)
#define ALONE BIT(COMMAND_RUN) // not of its workers
#define SWEEP (BIT(COMMAND_SWEEP) | BIT(COMMAND_WORKER))
#define INFO  BIT(COMMAND_INFO)
#define GEN   BIT(COMMAND_GEN)
#define ROOF  BIT(COMMAND_ROOF)
#define ALL   ~0u
#define MODEL (INFO | BIT(31)) // of info, for its models alone

// The one value of an option whose values are those of an axis.
int parse_one(const struct axis *axis, const char *text, int64_t *value)
{
    struct axis_values v;
    int err = axis_parse(axis, text, &v);
    if (!err && v.count > 1)
        err = fail(ERR_USAGE, "-%s %s: one value, not a list", axis->name, text);
    *value = err ? 0 : v.value[0];
    return err;
}

static int parse_op(struct options *o, const struct option *self, const char *text)
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

static int parse_alg(struct options *o, const struct option *self, const char *text)
{
    const char *rest = text;
    char item[WORD_MAX];
    int more;
    while ((more = words_next(&rest, item)) > 0) {}
    if (more < 0) return words_bad(self->name, text);
    o->alg = text;
    return OK;
}

static int parse_prec(struct options *o, const struct option *self, const char *text)
{
    static const char *const words[] = {[F32] = "f32", [F64] = "f64", NULL};
    const struct axis axis = {.name = self->name, .words = words};
    struct axis_values v;
    int err = axis_parse(&axis, text, &v);
    o->prec_count = v.count;
    for (int i = 0; !err && i < v.count; i++) o->precs[i] = (enum prec)v.value[i];
    return err;
}

static int parse_device(struct options *o, const struct option *self, const char *text)
{
    enum device_kind kind;
    int index;
    (void)self;
    o->device = text;
    // A sweep does not look at devices: its workers do.
    struct places places;
    if (BIT(o->command) & SWEEP) return places_parse(text, &places);
    return device_parse(text, &kind, &index);
}

static int parse_reps(struct options *o, const struct option *self, const char *text)
{
    const struct axis axis = {.name = self->name, .min = 1, .max = 1000000};
    int64_t reps;
    int err = parse_one(&axis, text, &reps);
    o->rule.reps = (int)reps;
    return err;
}

static int parse_warmup(struct options *o, const struct option *self, const char *text)
{
    const struct axis axis = {.name = self->name, .min = 1, .max = 1000000};
    int64_t runs;
    int err = parse_one(&axis, text, &runs);
    o->rule.warmup = (int)runs;
    return err;
}

int parse_seconds(const struct option *self, const char *text, double *ms)
{
    char *end;
    double seconds = strtod(text, &end);
    if (end == text || *end)
        return fail(ERR_USAGE, "-%s %s: not a number of seconds", self->name, text);
    if (!(seconds > 0 && seconds <= 86400))
        return fail(ERR_USAGE, "-%s %s: must be more than 0 and at most 86400 seconds", self->name,
                    text);
    *ms = seconds * 1e3;
    return OK;
}

static int parse_time_limit(struct options *o, const struct option *self, const char *text)
{
    int err = parse_seconds(self, text, &o->rule.limit_ms);
    o->rule.most_ms = o->rule.limit_ms;
    return err;
}

static int parse_cache(struct options *o, const struct option *self, const char *text)
{
    static const char *const words[] = {"warm", "cold", NULL};
    const struct axis axis = {.name = self->name, .words = words};
    int64_t cold;
    int err = parse_one(&axis, text, &cold);
    o->rule.cold = cold;
    return err;
}

static int parse_launch(struct options *o, const struct option *self, const char *text)
{
    static const char *const words[] = {"graph", "stream", NULL};
    const struct axis axis = {.name = self->name, .words = words};
    int64_t stream;
    int err = parse_one(&axis, text, &stream);
    o->rule.stream = stream;
    return err;
}

static int parse_check(struct options *o, const struct option *self, const char *text)
{
    static const char *const words[] = {[CHECK_AUTO] = "auto",
                                        [CHECK_FULL] = "full",
                                        [CHECK_SAMPLE] = "sample",
                                        [CHECK_OFF] = "off",
                                        NULL};
    const struct axis axis = {.name = self->name, .words = words};
    int64_t mode;
    int err = parse_one(&axis, text, &mode);
    o->check = (enum check_mode)mode;
    return err;
}

static int parse_setting(struct options *o, const struct option *self, const char *text)
{
    const char *rest = text;
    char item[WORD_MAX];
    int more;
    while ((more = words_next(&rest, item)) > 0) {
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
    return more < 0 ? words_bad(self->name, text) : OK;
}

static int parse_threads(struct options *o, const struct option *self, const char *text)
{
    const struct axis axis = {.name = self->name, .min = 1, .max = THREADS_MAX};
    int64_t threads;
    int err = parse_one(&axis, text, &threads);
    o->threads = (int)threads;
    return err;
}

static int parse_seed(struct options *o, const struct option *self, const char *text)
{
    const struct axis axis = {.name = self->name, .min = 0, .max = INT64_MAX};
    int64_t seed;
    int err = parse_one(&axis, text, &seed);
    o->seed = (uint64_t)seed;
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
FLAG(model)
FLAG(help)
FLAG(version)
FLAG(counters)
FLAG(profile)

// To add an option: a field in struct options, a function above, a row here.
static const struct option table[] = {
    {"op", "NAME", NULL, RUN, parse_op},
    {"alg", "NAMES", "algorithms: names, patterns such as 'cusparse*', or all (default)", RUN,
     parse_alg},
    {"model", NULL, "add what models predict of SpMM by the pattern; -k to -opt are for that", INFO,
     parse_model},
    {"prec", "NAMES", "precisions: f32 (default), f64", RUN | MODEL, parse_prec},
    {"device", "NAME", NULL, RUN | ROOF | MODEL, parse_device},
    {"reps", "N", "exactly N samples; left out: until the median is known to 0.5 %", RUN,
     parse_reps},
    {"warmup", "N", "exactly N runs before the samples; left out: 3 and 50 ms, in 1 s", RUN,
     parse_warmup},
    {"time-limit", "SECONDS",
     "end its timing after so long; left out: after 2 s and 10 samples, or 20 s", RUN,
     parse_time_limit},
    {"cache", "NAME", "warm (default), or cold: flushed before each sample", RUN, parse_cache},
    {"launch", "NAME", "graph (default): short runs as one CUDA graph where they can be, or stream",
     RUN, parse_launch},
    {"check", "NAME", "auto (default), full: every element, sample: chosen rows, off", RUN,
     parse_check},
    {"counters", NULL, "count the bytes that a run moves, by ncu in a process of its own", RUN,
     parse_counters},
    {"profile", NULL, "for ncu and nsys: one run between their marks, nothing is measured", ALONE,
     parse_profile},
    {"opt", "NAME=VALUE", "parameter of the algorithms that have it; repeatable; see list",
     RUN | MODEL, parse_setting},
    {"threads", "N", "threads of the CPU algorithms (default: all)", RUN | ROOF, parse_threads},
    {"seed", "N", "of all random numbers (default 1)", RUN | INFO | GEN, parse_seed},
    {"timeout", "SECONDS", "end a case, or the reading of a matrix, after so long (default 600)",
     SWEEP, parse_timeout},
    {"mem-limit", "SIZE", "host memory of a worker at most: 512M, 4G (default: what there is)",
     SWEEP, parse_mem_limit},
    {"resume", NULL, "go on with the file of -o: the default where it is there", SWEEP,
     parse_resume},
    {"fresh", NULL, "begin anew, and replace the file of -o", SWEEP, parse_fresh},
    {"retry", NULL, "measure again what is there, but is not ok", SWEEP, parse_retry},
    {"runs", "N", "each case N times, in processes spread over the sweep (default 1)", SWEEP,
     parse_runs},
    {"shard", "I/N", "only the I-th of N parts of the matrices; cat joins their files", SWEEP,
     parse_shard},
    {"set", "NAMES", "only these sets of a list", SWEEP, parse_sets},
    {"dir", "FOLDER", "where a list's matrices are (default: matrices/ beside it)", SWEEP,
     parse_folder},
    {"missing", "NAME", "of files that are not there: error (default), or skip", SWEEP,
     parse_missing},
    {"cusparse", "FILES", "measure cuSPARSE once more with each of these libcusparse.so", SWEEP,
     parse_libraries},
    {"n", NULL, "only tell what there would be to do, and about how long it takes", SWEEP,
     parse_plan_only},
    {"o", "FILE", "where the output goes (default: stdout)", RUN | GEN, parse_output},
    {"append", NULL, "add to the file of -o instead of replacing it", ALONE, parse_append},
    {"q", NULL, "no table, no progress; only mistakes are told", RUN | ROOF, parse_quiet},
    {"v", NULL, "tell more: preparation, phases, samples, memory; of the roof: its ladder",
     RUN | ROOF, parse_verbose},
    {"help", NULL, "show the help of the command", ALL, parse_help},
    {"h", NULL, "the same as -help", ALL, parse_help},
    {"version", NULL, "show the version", ALL, parse_version},
};
#define TABLE_SIZE COUNT(table)

const struct axis *axis_all(int i)
{
    const struct axis *seen[AXES_ALL_MAX];
    int count = 0;
    for (int x = 0; x < op_count; x++)
        for (int a = 0; ops[x]->axes[a]; a++) {
            bool known = false;
            for (int s = 0; s < count; s++) known |= seen[s] == ops[x]->axes[a];
            if (known) continue;
            if (count == AXES_ALL_MAX) bug("-%s: an axis too many", ops[x]->axes[a]->name);
            seen[count++] = ops[x]->axes[a];
        }
    return i < count ? seen[i] : NULL;
}

const char *axis_ops(const struct axis *axis, char text[64])
{
    text[0] = 0;
    for (int x = 0; x < op_count; x++)
        for (int a = 0; ops[x]->axes[a]; a++)
            if (ops[x]->axes[a] == axis) words_and(text, 64, ops[x]->name);
    return text;
}

// The option of an axis: its place in axis_all(), or -1.
static int axis_find(const char *name, size_t length)
{
    const struct axis *axis;
    for (int i = 0; (axis = axis_all(i)); i++)
        if (strlen(axis->name) == length && !memcmp(axis->name, name, length)) return i;
    return -1;
}

static const struct option *option_find(const char *name, size_t length)
{
    for (int i = 0; i < TABLE_SIZE; i++)
        if (strlen(table[i].name) == length && !memcmp(table[i].name, name, length))
            return &table[i];
    return NULL;
}

static bool takes_axis(enum command command, const struct axis *axis)
{
    return (RUN & BIT(command)) || (command == COMMAND_INFO && axis == &axis_k);
}

static int unknown_option(enum command command, const char *command_name, const char *word)
{
    struct suggestion s;
    char guess[64], name[64], dashed[64] = "";
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    size_t length = strlen(name);
    if (option_find(name, length) || axis_find(name, length) >= 0)
        return fail(ERR_USAGE, "-%s: %s does not take it; 'spbench help %s' shows what it takes",
                    name, command_name, command_name);
    suggest_start(&s, name);
    for (int i = 0; i < TABLE_SIZE; i++)
        if (table[i].commands & BIT(command)) suggest_offer(&s, table[i].name);
    for (int i = 0; axis_all(i); i++)
        if (takes_axis(command, axis_all(i))) suggest_offer(&s, axis_all(i)->name);
    if (s.best) snprintf(dashed, sizeof dashed, "-%s", s.best), s.best = dashed;
    return fail(ERR_USAGE, "-%s: no such option of %s; %s'spbench help %s' shows all", name,
                command_name, suggest_text(&s, guess), command_name);
}

// The text of an option that takes one: behind its '=', or the next word.
static int value_of(const char *name, const char *values, const char *word, int *i, int argc,
                    char **argv, const char **text)
{
    *text = strchr(word, '=');
    if (*text) return ++*text, OK;
    if (*i + 1 == argc)
        return fail(ERR_USAGE, "-%s: its value is missing: -%s %s", name, name, values);
    *text = argv[++*i];
    return OK;
}

// The option that was read last, and its text; no option: what followed was an operand.
struct given {
    const struct option *option;
    const struct axis *axis; // instead of an option
    const char *text;
};

// A word behind an option that would do as a further value of it, and is no file: -k 64 128.
static int refuse_value(enum command command, const struct given *last, const char *word)
{
    char text[256];
    if (!last->text || strpbrk(word, "./:") || !access(word, F_OK)) return OK;
    int length = snprintf(text, sizeof text, "%s,%s", last->text, word);
    if (length >= (int)sizeof text) return OK;
    struct axis_values values;
    struct options scratch = {.command = command};
    bool fits = last->axis ? !axis_parse(last->axis, text, &values)
                           : last->option->parse != parse_output &&
                                 !last->option->parse(&scratch, last->option, text);
    if (!fits) return OK;
    return fail(ERR_USAGE, "%s: no such file; for several values write -%s %s", word,
                last->axis ? last->axis->name : last->option->name, text);
}

// One word that begins with a dash, without it, and its value.
static int parse_option(struct options *o, enum command command, const char *command_name,
                        const char *word, int *i, int argc, char **argv, struct given *last)
{
    size_t length = strcspn(word, "=");
    const struct option *option = option_find(word, length);
    int place = axis_find(word, length), err = OK;
    const char *text = NULL;
    if (place >= 0 && takes_axis(command, axis_all(place))) {
        const struct axis *axis = axis_all(place);
        o->model_word = axis->name;
        err = value_of(axis->name, axis->values, word, i, argc, argv, &text);
        *last = (struct given){.axis = axis, .text = text};
        return err ? err : axis_parse(axis, text, &o->axes[place]);
    }
    if (!option || !(option->commands & BIT(command)))
        return unknown_option(command, command_name, word);
    if (option->value)
        err = value_of(option->name, option->value, word, i, argc, argv, &text);
    else if (word[length])
        err = fail(ERR_USAGE, "-%s: takes no value", option->name);
    if ((option->commands & MODEL) == MODEL) o->model_word = option->name;
    *last = (struct given){.option = option, .text = text};
    return err ? err : option->parse(o, option, text);
}

int options_parse(struct options *o, enum command command, const char *command_name, int argc,
                  char **argv)
{
    *o = (struct options){.command = command,
                          .alg = "all",
                          .device = "auto",
                          .precs = {F32},
                          .prec_count = 1,
                          .seed = 1,
                          .sweep = {.timeout_ms = TIMEOUT_MS, .runs = 1}};
    for (int i = 0; axis_all(i); i++)
        o->axes[i] = (struct axis_values){.count = 1, .value = {axis_all(i)->standard}};
    o->operands = mem_alloc(argc, sizeof *o->operands);
    if (!o->operands) return ERR_MEMORY;
    bool ended = false;
    struct given last = {0};
    for (int i = 0; i < argc; i++) {
        char *word = argv[i];
        if (!word[0])
            return fail(ERR_USAGE, "an argument is empty: '', as of a variable that is not set");
        if (ended || word[0] != '-' || !word[1]) { // "-" is stdin
            int err = ended || word[0] == '-' ? OK : refuse_value(command, &last, word);
            if (err) return err;
            last = (struct given){0};
            o->operands[o->operand_count++] = word;
            continue;
        }
        if (!strcmp(word, "--")) {
            ended = true;
            continue;
        }
        word += word[1] == '-' ? 2 : 1;
        int err = parse_option(o, command, command_name, word, &i, argc, argv, &last);
        if (err) return err;
    }
    // Without a limit of its user's: exactly so many samples, or as many as there is patience for.
    if (!o->rule.most_ms && !o->rule.reps) o->rule.limit_ms = LIMIT_MS, o->rule.most_ms = MOST_MS;
    return OK;
}

void options_free(struct options *o)
{
    mem_free(o->operands);
    o->operands = NULL;
}

static void print_option(const char *name, const char *values, const char *about)
{
    char left[32];
    snprintf(left, sizeof left, "-%s %s", name, values ? values : "");
    printf("  %-19s %s\n", left, about);
}

static void print_axis(const struct axis *axis)
{
    char about[256], names[64], standard[32];
    snprintf(about, sizeof about, "%s only: %s (default %s)", axis_ops(axis, names), axis->about,
             axis_text(axis, axis->standard, standard));
    print_option(axis->name, axis->values, about);
}

// What an option that has no text of its own is about.
static const char *about_names(enum command command, const struct option *option, char text[256])
{
    if (option->parse == parse_op)
        snprintf(text, 256, "operation; left out: that of the algorithms, %s where several have it",
                 ops[0]->name);
    else if (command == COMMAND_SWEEP)
        snprintf(text, 256, "as for run; several (cuda:0,1,2), or all GPUs, share the matrices");
    else
        snprintf(text, 256, "one of %s; auto (default): the first GPU, else the CPU",
                 device_names());
    return text;
}

bool options_help(enum command command)
{
    bool any = false;
    char text[256];
    for (int i = 0; i < TABLE_SIZE; i++) {
        const struct option *option = &table[i];
        if (!(option->commands & BIT(command))) continue;
        if (!any) printf("\noptions (one dash or two; -k 64 or -k=64; lists by commas):\n");
        print_option(option->name, option->value,
                     option->about ? option->about : about_names(command, option, text));
        any = true;
        if (option->parse != parse_alg && option->parse != parse_model) continue;
        for (int a = 0; axis_all(a); a++)
            if (takes_axis(command, axis_all(a))) print_axis(axis_all(a));
    }
    return any;
}
