// Parses a command line word by word.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/suggest.h"
#include "cli/options/commands.h"
#include "cli/options/option_values.h"
#include "cli/options/options_table.h"

#define LIMIT_MS         2000.0   // time of a case's samples, with 10 samples by then
#define MOST_MS          20000.0  // time with fewer samples
#define TIMEOUT_MS       600000.0 // limit of a case in a sweep
#define EXACT_TIMEOUT_MS 120000.0 // limit of an exact case, or of a trap

// Returns the index of an axis by option name in axis_all(), or -1.
static int axis_find(const char *name, size_t length)
{
    const struct axis *axis;
    for (int i = 0; (axis = axis_all(i)); i++)
        if (strlen(axis->name) == length && !memcmp(axis->name, name, length)) return i;
    return -1;
}

// Returns the index of an option in the table, or -1.
static int option_find(const char *name, size_t length)
{
    const struct option *option;
    for (int i = 0; (option = option_at(i)); i++)
        if (strlen(option->name) == length && !memcmp(option->name, name, length)) return i;
    return -1;
}

// Returns name i of all options, then axes. *takes: the command takes it. NULL after the last.
static const char *name_at(enum command command, int i, bool *takes)
{
    const struct option *option = option_at(i);
    const struct axis *axis = option ? NULL : axis_all(i - option_count);
    *takes = option ? (option->commands & BIT(command)) != 0 : axis && takes_axis(command, axis);
    return option ? option->name : axis ? axis->name : NULL;
}

// Lists the options of a command that begin with the word: "-cache, -check". Returns false if there
// are none or too many.
static bool list_begun_options(enum command command, const char *word, char list[64])
{
    const char *name;
    char dashed[64];
    bool takes;
    size_t length = strlen(word), used = 0;
    list[0] = 0;
    for (int i = 0; length && (name = name_at(command, i, &takes)); i++) {
        if (!takes || strncmp(name, word, length)) continue;
        snprintf(dashed, sizeof dashed, "-%s", name);
        used += strlen(dashed) + 4;
        if (used > 63) return false;
        words_or(list, 64, dashed);
    }
    return list[0];
}

// Lists the shown commands that take the option or axis: "compare and sweep".
static void list_takers(const char *name, char list[128])
{
    const struct command_info *c;
    int row = option_find(name, strlen(name)), place = axis_find(name, strlen(name));
    list[0] = 0;
    for (int i = 0; (c = command_shown(i)); i++)
        if ((row >= 0 && option_at(row)->commands & BIT(c->id)) ||
            (place >= 0 && takes_axis(c->id, axis_all(place))))
            words_and(list, 128, c->name);
}

static int unknown_option(enum command command, const char *command_name, const char *word)
{
    struct suggestion s;
    const char *known;
    bool takes;
    char guess[64], name[64], dashed[64] = "", begun[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    size_t length = strlen(name);
    bool elsewhere = option_find(name, length) >= 0 || axis_find(name, length) >= 0;
    suggest_start(&s, name);
    for (int i = 0; (known = name_at(command, i, &takes)); i++)
        if (takes) suggest_offer(&s, known);
    if (elsewhere && !s.synonym) { // a similar spelling is not meant
        s.best = NULL;
    } else if (!s.synonym && list_begun_options(command, name, begun)) {
        s.best = begun;
    } else if (s.best) {
        snprintf(dashed, sizeof dashed, "-%s", s.best), s.best = dashed;
    }
    char takers[128];
    list_takers(name, takers);
    if (elsewhere && !s.best)
        return fail(
            ERR_USAGE,
            "-%s: %s does not take this option, only %s; 'spbench help %s' lists its options", name,
            command_name, takers, command_name);
    if (elsewhere)
        return fail(ERR_USAGE,
                    "-%s: %s does not take this option; %s'spbench help %s' lists its options",
                    name, command_name, suggest_text(&s, guess), command_name);
    return fail(ERR_USAGE, "-%s: no such option of %s; %s'spbench help %s' shows all", name,
                command_name, suggest_text(&s, guess), command_name);
}

// Sets the value of an option: after "=", or the next word.
static int value_of(const char *name, const char *values, const char *word, int *i, int argc,
                    char **argv, const char **text)
{
    *text = strchr(word, '=');
    if (*text) return ++*text, OK;
    if (*i + 1 == argc)
        return fail(ERR_USAGE, "-%s: the value is missing: -%s %s", name, name, values);
    *text = argv[++*i];
    return OK;
}

// Last option and its value. Neither option nor axis: operands followed.
struct given {
    const struct option *option;
    const struct axis *axis; // instead of an option
    const char *text;
};

// Returns true if `word` could be a further value of the last option.
static bool could_be_value(enum command command, const struct given *last, const char *word,
                           const char *text)
{
    struct axis_values values;
    struct options scratch = {.command = command};
    if (last->axis) return !axis_parse(last->axis, text, &values);
    if (last->option->known) return last->option->known(word);
    return last->option->kind != OPTION_NAME && !last->option->parse(&scratch, last->option, text);
}

// Refuses a word that could be a further value of the option and is no file: -k 64 128.
static int refuse_value(enum command command, const struct given *last, const char *word)
{
    char text[256];
    if (!last->text || strpbrk(word, "./") || !access(word, F_OK)) return OK;
    int length = snprintf(text, sizeof text, "%s,%s", last->text, word);
    if (length >= (int)sizeof text) return OK;
    if (!could_be_value(command, last, word, text)) return fail_drop();
    return fail(ERR_USAGE, "%s: no such file; for several values write -%s %s", word,
                last->axis ? last->axis->name : last->option->name, text);
}

// Refuses a second value for an option that takes one.
static int refuse_second(const char **before, const struct option *option, const char *text)
{
    const char *first = *before;
    if (option->kind == OPTION_LIST || !text) return OK;
    *before = text;
    if (!first || !strcmp(first, text)) return OK;
    return fail(ERR_USAGE, "-%s %s: already given as -%s %s; the option takes one value",
                option->name, text, option->name, first);
}

// Parses a word that begins with a dash, and its value.
static int parse_option(struct options *o, enum command command, const char *command_name,
                        const char *word, int *i, int argc, char **argv, struct given *last)
{
    size_t length = strcspn(word, "=");
    int row = option_find(word, length), place = axis_find(word, length), err = OK;
    const struct option *option = row < 0 ? NULL : option_at(row);
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
    if (!err) err = refuse_second(&o->given[row], option, text);
    if (err || option->parse) return err ? err : option->parse(o, option, text);
    *(bool *)((char *)o + option->field) = true;
    return OK;
}

// Returns true if the last option is passed on to measuring processes.
static bool is_passed(enum command command, const struct given *last)
{
    bool pair = command == COMMAND_COMPARE, conform = command == COMMAND_CONFORM;
    if (!pair && !conform && command != COMMAND_RUN && command != COMMAND_SWEEP) return false;
    unsigned bits = pair ? EACH : conform ? CONFORM | BIT(COMMAND_WORKER) : PASSED;
    return last->axis || (last->option->commands & bits) == bits;
}

int options_parse(struct options *o, enum command command, const char *command_name, int argc,
                  char **argv)
{
    *o = (struct options){.command = command,
                          .alg = command == COMMAND_CONFORM ? NULL : "all",
                          .device = "auto",
                          .precs = {F32},
                          .prec_count = 1,
                          .seed = 1,
                          .compare = {.threshold = 3, .consecutive = 2},
                          .runs = command == COMMAND_SWEEP};
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
            return fail(ERR_USAGE, "an argument is empty (''); is a shell variable unset?");
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
        if (!strcmp(word, "h")) word = (char *)"help";
        int first = i;
        int err = parse_option(o, command, command_name, word, &i, argc, argv, &last);
        if (err) return err;
        for (int w = first; w <= i && is_passed(command, &last); w++)
            o->passed[o->passed_count++] = argv[w];
    }
    if (!o->sweep.timeout_ms && (command != COMMAND_RUN || o->plugin_count))
        o->sweep.timeout_ms = command == COMMAND_CONFORM ? EXACT_TIMEOUT_MS : TIMEOUT_MS;
    // Without -time-limit and -reps, the default limits apply.
    if (!o->rule.most_ms && !o->rule.reps) o->rule.limit_ms = LIMIT_MS, o->rule.most_ms = MOST_MS;
    return OK;
}

void options_free(struct options *o)
{
    for (int i = 0; i < o->plugin_count; i++) mem_free(o->plugins[i]), mem_free(o->plugin_texts[i]);
    o->plugin_count = 0;
    mem_free(o->operands);
    mem_free(o->passed);
    mem_free(o->algs);
    o->operands = NULL;
    o->passed = NULL;
    o->algs = NULL;
}
