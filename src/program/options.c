#include "program/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/suggest.h"
#include "program/choose.h"
#include "program/options_compare.h"
#include "program/options_lists.h"
#include "program/options_sweep.h"
#include "program/options_table.h"
#include "program/places.h"
#include "program/threads.h"

#define LIMIT_MS   2000.0   // for the samples of a case, if there are 10 by then
#define MOST_MS    20000.0  // if there are not
#define TIMEOUT_MS 600000.0 // of a sweep: for a case
#define RUNS       6        // see tests/test_compare_stats.c: 5 % are found, and nothing else

#define RUN    (BIT(COMMAND_RUN) | SWEEP)
#define ALONE  BIT(COMMAND_RUN) // not of its workers
#define SWEEP  (BIT(COMMAND_SWEEP) | BIT(COMMAND_WORKER))
#define INFO   BIT(COMMAND_INFO)
#define GEN    BIT(COMMAND_GEN)
#define ROOF   BIT(COMMAND_ROOF)
#define DOCTOR BIT(COMMAND_DOCTOR)
#define ALL    ~0u
#define MODEL  (INFO | BIT(31)) // of info, for its models alone

// Options of run, which are passed on to the processes that run, have BIT(30).
#define COMPARE  BIT(COMMAND_COMPARE)
#define SELFTEST BIT(COMMAND_SELFTEST)
#define EACH     (RUN | COMPARE | SELFTEST | BIT(30))

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
    return options_add_algs(o, self->name, text);
}

static int parse_prec(struct options *o, const struct option *self, const char *text)
{
    return options_add_precs(o, self->name, text);
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

const char *const cache_words[] = {"warm", "cold", NULL};

static int parse_cache(struct options *o, const struct option *self, const char *text)
{
    const struct axis axis = {.name = self->name, .words = cache_words};
    int64_t cold;
    int err = parse_one(&axis, text, &cold);
    o->rule.cold = cold;
    return err;
}

const char *const launch_words[] = {"graph", "stream", NULL};

static int parse_launch(struct options *o, const struct option *self, const char *text)
{
    const struct axis axis = {.name = self->name, .words = launch_words};
    int64_t stream;
    int err = parse_one(&axis, text, &stream);
    o->rule.stream = stream;
    return err;
}

const char *const check_words[] = {[CHECK_AUTO] = "auto",
                                   [CHECK_FULL] = "full",
                                   [CHECK_SAMPLE] = "sample",
                                   [CHECK_OFF] = "off",
                                   NULL};

static int parse_check(struct options *o, const struct option *self, const char *text)
{
    const struct axis axis = {.name = self->name, .words = check_words};
    int64_t mode;
    int err = parse_one(&axis, text, &mode);
    o->check = (enum check_mode)mode;
    return err;
}

static int parse_setting(struct options *o, const struct option *self, const char *text)
{
    return options_add_settings(o, self->name, text);
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
FLAG(history)
FLAG(no_cache)

// To add an option: a field in struct options, a function above, a row here. Where its value is a
// list that grows when it is given again, see is_list() as well.
static const struct option table[] = {
    {"op", "NAME", NULL, EACH, parse_op},
    {"alg", "NAMES", "algorithms: names, patterns such as 'cusparse*', or all (default)", EACH,
     parse_alg},
    {"model", NULL, "add what models predict of SpMM by the pattern; -k to -opt are for that", INFO,
     parse_model},
    {"prec", "NAMES", "precisions: f32 (default), f64", EACH | MODEL, parse_prec},
    {"device", "NAME", NULL, EACH | ROOF | DOCTOR | MODEL, parse_device},
    {"reps", "N", "exactly N samples; left out: until the median is known to 0.5 %", EACH,
     parse_reps},
    {"warmup", "N", "exactly N runs before the samples; left out: 3 and 50 ms, in 1 s", EACH,
     parse_warmup},
    {"time-limit", "SECONDS",
     "end its timing after so long; left out: after 2 s and 10 samples, or 20 s", EACH,
     parse_time_limit},
    {"cache", "NAME", "warm (default), or cold: flushed before each sample", EACH, parse_cache},
    {"launch", "NAME", "graph (default): short runs as one CUDA graph where they can be, or stream",
     EACH, parse_launch},
    {"check", "NAME", "auto (default), full: every element, sample: chosen rows, off", EACH,
     parse_check},
    {"counters", NULL, "count the bytes that a run moves, by ncu in a process of its own", RUN,
     parse_counters},
    {"profile", NULL, "for ncu and nsys: one run between their marks, nothing is measured", ALONE,
     parse_profile},
    {"opt", "NAME=VALUES", "parameter of the algorithms that have it; see list ALGORITHM",
     EACH | MODEL, parse_setting},
    {"threads", "N", "threads of the CPU algorithms (default: all)", EACH | ROOF | DOCTOR,
     parse_threads},
    {"seed", "N", "of all random numbers (default 1)", EACH | INFO | GEN, parse_seed},
    {"threshold", "PERCENT", "a change by less is none (default 3)", COMPARE | SELFTEST,
     compare_parse_threshold},
    {"format", "NAME", "table (default), json, markdown, junit, gab, bmf", COMPARE,
     compare_parse_format},
    {"ab", "PROGRAM", "measure that program (OLD) and this one (NEW) by turns, on MATRIX...",
     COMPARE, compare_parse_ab},
    {"runs", "N", "processes that measure each case, spread over the whole time (default 6; 1)",
     COMPARE | SELFTEST | SWEEP, compare_parse_runs},
    {"keep", "PREFIX", "keep the records: PREFIX.old.jsonl, PREFIX.new.jsonl", COMPARE | SELFTEST,
     compare_parse_keep},
    {"history", NULL, "the newest of FILES, or of the .jsonl in a folder, against those before",
     COMPARE, parse_history},
    {"consecutive", "N", "of a history: only what N files in a row show counts (default 2)",
     COMPARE, compare_parse_consecutive},
    {"plant", "PERCENT", "the slowdown that is to be found (default 5)", SELFTEST,
     compare_parse_plant},
    {"timeout", "SECONDS", "end a case, or the reading of a matrix, after so long (default 600)",
     SWEEP, parse_timeout},
    {"mem-limit", "SIZE", "host memory of a worker at most: 512M, 4G (default: what there is)",
     SWEEP, parse_mem_limit},
    {"resume", NULL, "go on with the file of -o: the default where it is there", SWEEP,
     parse_resume},
    {"fresh", NULL, "begin anew, and replace the file of -o", SWEEP, parse_fresh},
    {"retry", NULL, "measure again what is there, but is not ok", SWEEP, parse_retry},
    {"shard", "I/N", "only the I-th of N parts of the matrices; cat joins their files", SWEEP,
     parse_shard},
    {"set", "SETS", "only these sets of a list", SWEEP, parse_sets},
    {"dir", "FOLDER", "where a list's matrices are (default: matrices/ beside it)", SWEEP,
     parse_folder},
    {"missing", "NAME", "of files that are not there: error (default), or skip", SWEEP,
     parse_missing},
    {"cusparse", "FILES", "measure cuSPARSE once more with each of these libcusparse.so", SWEEP,
     parse_libraries},
    {"n", NULL, "only tell what there would be to do, and about how long it takes", SWEEP,
     parse_plan_only},
    {"o", "FILE", NULL, RUN | GEN | COMPARE | DOCTOR, parse_output},
    {"no-cache", NULL, "read matrix files anew, and keep no copy of what was read", EACH | INFO,
     parse_no_cache},
    {"append", NULL, "add to the file of -o instead of replacing it", ALONE | DOCTOR, parse_append},
    {"q", NULL, "no table, no progress; only mistakes are told; of the doctor only its advice",
     RUN | ROOF | COMPARE | SELFTEST | DOCTOR, parse_quiet},
    {"v", NULL, "tell more: preparation, phases, samples, memory; of the roof: its ladder",
     RUN | ROOF, parse_verbose},
    {"help", NULL, "show the help of the command", ALL, parse_help},
    {"h", NULL, "the same as -help", ALL, parse_help},
    {"version", NULL, "show the version", ALL, parse_version},
};
#define TABLE_SIZE COUNT(table)
_Static_assert(TABLE_SIZE <= OPTIONS_MAX, "struct options has no room for so many");

const struct option *option_at(int i) { return i < TABLE_SIZE ? &table[i] : NULL; }

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

bool takes_axis(enum command command, const struct axis *axis)
{
    return ((RUN | COMPARE | SELFTEST) & BIT(command)) ||
           (command == COMMAND_INFO && axis == &axis_k);
}

// "-cache, -check": the options of a command that begin with the word. False if there are none, or
// more than there is room for.
static bool begins_options(enum command command, const char *word, char list[48])
{
    char name[64];
    size_t length = strlen(word), used = 0;
    list[0] = 0;
    for (int i = 0; length && (i < TABLE_SIZE || axis_all(i - TABLE_SIZE)); i++) {
        const struct axis *axis = i < TABLE_SIZE ? NULL : axis_all(i - TABLE_SIZE);
        bool takes = axis ? takes_axis(command, axis) : (table[i].commands & BIT(command)) != 0;
        snprintf(name, sizeof name, "-%s", axis ? axis->name : table[i].name);
        if (!takes || strncmp(name + 1, word, length)) continue;
        used += strlen(name) + 4;
        if (used > 47) return false;
        words_or(list, 48, name);
    }
    return list[0];
}

static int unknown_option(enum command command, const char *command_name, const char *word)
{
    struct suggestion s;
    char guess[64], name[64], dashed[64] = "", begun[48];
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
    if (begins_options(command, name, begun)) {
        s.best = begun;
    } else if (s.best) {
        snprintf(dashed, sizeof dashed, "-%s", s.best), s.best = dashed;
    }
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

// Whether any text does as its value, and a list does not.
static bool takes_name(const struct option *option)
{
    return option->parse == parse_output || option->parse == compare_parse_ab ||
           option->parse == compare_parse_keep;
}

// Whether `text`, which is that of the last option and the word behind it, is a value of it.
static bool would_do(enum command command, const struct given *last, const char *word,
                     const char *text)
{
    struct axis_values values;
    struct options scratch = {.command = command};
    if (last->axis) return !axis_parse(last->axis, text, &values);
    if (last->option->parse == parse_alg) return choice_is_algorithm(word);
    return !takes_name(last->option) && !last->option->parse(&scratch, last->option, text);
}

// A word behind an option that would do as a further value of it, and is no file: -k 64 128.
static int refuse_value(enum command command, const struct given *last, const char *word)
{
    char text[256];
    if (!last->text || strpbrk(word, "./:") || !access(word, F_OK)) return OK;
    int length = snprintf(text, sizeof text, "%s,%s", last->text, word);
    if (length >= (int)sizeof text) return OK;
    if (!would_do(command, last, word, text)) return OK;
    return fail(ERR_USAGE, "%s: no such file; for several values write -%s %s", word,
                last->axis ? last->axis->name : last->option->name, text);
}

// Given again, it adds to what is there.
static bool is_list(const struct option *option)
{
    return option->parse == parse_alg || option->parse == parse_prec ||
           option->parse == parse_setting;
}

// One value is one value: which of two is meant nobody can tell.
static int refuse_second(const char **before, const struct option *option, const char *text)
{
    const char *first = *before;
    if (is_list(option) || !text) return OK;
    *before = text;
    if (!first || !strcmp(first, text)) return OK;
    return fail(ERR_USAGE, "-%s %s: was given before as -%s %s, and it takes one value",
                option->name, text, option->name, first);
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
        return err ? err : options_add_axis(axis, text, &o->axes[place]);
    }
    if (!option || !(option->commands & BIT(command)))
        return unknown_option(command, command_name, word);
    if (option->value)
        err = value_of(option->name, option->value, word, i, argc, argv, &text);
    else if (word[length])
        err = fail(ERR_USAGE, "-%s: takes no value", option->name);
    if ((option->commands & MODEL) == MODEL) o->model_word = option->name;
    *last = (struct given){.option = option, .text = text};
    if (!err) err = refuse_second(&o->given[option - table], option, text);
    return err ? err : option->parse(o, option, text);
}

// Whether the option that was read last is for the processes that measure.
static bool is_passed(enum command command, const struct given *last)
{
    if (command != COMMAND_COMPARE && command != COMMAND_SELFTEST) return false;
    return last->axis || (last->option->commands & EACH) == EACH;
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
                          .sweep = {.timeout_ms = TIMEOUT_MS},
                          .threshold = 3,
                          .plant = 5,
                          .runs = command == COMMAND_SWEEP ? 1 : RUNS,
                          .consecutive = 2};
    for (int i = 0; axis_all(i); i++)
        o->axes[i] = (struct axis_values){.count = 1, .value = {axis_all(i)->standard}};
    o->operands = mem_alloc(argc, sizeof *o->operands);
    o->passed = mem_alloc(argc, sizeof *o->passed);
    if (!o->operands || !o->passed) return ERR_MEMORY;
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
        int first = i;
        int err = parse_option(o, command, command_name, word, &i, argc, argv, &last);
        if (err) return err;
        for (int w = first; w <= i && is_passed(command, &last); w++)
            o->passed[o->passed_count++] = argv[w];
    }
    // Without a limit of its user's: exactly so many samples, or as many as there is patience for.
    if (!o->rule.most_ms && !o->rule.reps) o->rule.limit_ms = LIMIT_MS, o->rule.most_ms = MOST_MS;
    return OK;
}

void options_free(struct options *o)
{
    mem_free(o->operands);
    mem_free(o->passed);
    mem_free(o->algs);
    o->operands = NULL;
    o->passed = NULL;
    o->algs = NULL;
}
