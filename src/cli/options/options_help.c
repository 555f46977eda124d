// Help text of the options, and words for completion.
#include <stdio.h>
#include <string.h>

#include "cli/options/option_values.h"
#include "compare/verdict_text.h"
#include "exact/traps.h"

// Returns the description of -q: output that stays.
static const char *about_quiet(enum command command)
{
    switch (command) {
    case COMMAND_COMPARE: return "no table, no progress; -format and -o still write";
    case COMMAND_CONFORM: return "no progress";
    case COMMAND_DOCTOR:
    case COMMAND_ADVISE: return "only the advice";
    default: return "no table, no progress; only errors";
    }
}

// Describes an option without a text of its own.
static void about_names(enum command command, const struct option *option, char text[256])
{
    if (!strcmp(option->name, "op"))
        snprintf(text, 256, "operation (default: that of the algorithms, %s if several match)",
                 ops[0]->name);
    else if (!strcmp(option->name, "q"))
        snprintf(text, 256, "%s", about_quiet(command));
    else if (!strcmp(option->name, "time-limit"))
        snprintf(text, 256, "stop timing a case after this time (default: %s)",
                 command == COMMAND_COMPARE ? "0.1 s, none with -reps"
                                            : "2 s with 10 samples, else 20 s");
    else if (!strcmp(option->name, "runs"))
        snprintf(text, 256, "processes per case, spread over the measurement (%s)",
                 command == COMMAND_COMPARE ? "default: until no case is unclear" : "default 1");
    else if (!strcmp(option->name, "o"))
        snprintf(text, 256, "%s",
                 command == COMMAND_DOCTOR ? "file for a record of the findings (JSON Lines)"
                 : command == COMMAND_REPORT
                     ? "output file (default: stdout); .csv, .md and .json set the format"
                 : command == COMMAND_SWEEP || command == COMMAND_RUN
                     ? "file of records (default: stdout, if it is redirected)"
                     : "output file (default: stdout)");
    else if (!strcmp(option->name, "format"))
        snprintf(text, 256, "%s",
                 command == COMMAND_REPORT ? "table (default), markdown, csv, json"
                 : command == COMMAND_ADVISE || command == COMMAND_CONFORM
                     ? "text (default), json"
                     : "table (default), json, markdown, junit");
    else if (!strcmp(option->name, "budget"))
        snprintf(text, 256, "time limit of the measurement (default %s)",
                 command == COMMAND_ADVISE ? "10 for each matrix" : "300; none with -runs");
    else if (command == COMMAND_SWEEP)
        snprintf(text, 256, "as for run; several (cuda:0,1,2), or all GPUs, share the matrices");
    else
        snprintf(text, 256, "one of %s; auto (default): the first GPU, else the CPU",
                 device_names());
}

// Descriptions of options whose defaults differ for a command.
static const struct {
    enum command command;
    const char *name, *about;
} special[] = {
    {COMMAND_CONFORM, "op", "operation (default: all)"},
    {COMMAND_CONFORM, "alg",
     "algorithms: names, patterns, or all (default: of plug-ins, else of vendors)"},
    {COMMAND_CONFORM, "prec", "types, as for run (default: all of the algorithm)"},
    {COMMAND_CONFORM, "device", "cpu, cuda or cuda:N (default: the devices of the algorithms)"},
    {COMMAND_CONFORM, "timeout", "end a case after this time (default 120)"},
};

static const char *about_special(enum command command, const char *name)
{
    for (int i = 0; i < COUNT(special); i++)
        if (special[i].command == command && !strcmp(special[i].name, name))
            return special[i].about;
    return NULL;
}

static void show_option(enum command command, const struct option *option, struct option_shown *s)
{
    const char *about = about_special(command, option->name);
    *s = (struct option_shown){.name = option->name, .value = option->value};
    if (about)
        snprintf(s->about, sizeof s->about, "%s", about);
    else if (option->about)
        snprintf(s->about, sizeof s->about, "%s", option->about);
    else
        about_names(command, option, s->about);
}

static void show_axis(const struct axis *axis, struct option_shown *s)
{
    char names[64], standard[32];
    *s = (struct option_shown){.name = axis->name, .value = axis->values, .axis = axis};
    snprintf(s->about, sizeof s->about, "%s only: %s%s (default %s)", axis_ops(axis, names),
             axis->about, axis->words ? "" : "; ranges: 16:64:16, 1:64:*2",
             axis_text(axis, axis->standard, standard));
}

bool option_show(enum command command, int i, struct option_shown *s)
{
    const struct option *option;
    const struct axis *axis;
    for (int r = 0; (option = option_at(r)); r++) {
        if (!(option->commands & BIT(command))) continue;
        if (!i--) return show_option(command, option, s), true;
        // Axes follow the precision.
        for (int a = 0; !strcmp(option->name, "prec") && (axis = axis_all(a)); a++)
            if (takes_axis(command, axis) && !i--) return show_axis(axis, s), true;
    }
    return false;
}

bool option_shown_before(int command, const char *name)
{
    struct option_shown s;
    for (int i = 0; i < command; i++)
        for (int k = 0; option_show(command_shown(i)->id, k, &s); k++)
            if (!strcmp(s.name, name)) return true;
    return false;
}

void options_help(enum command command)
{
    struct option_shown s;
    char left[32];
    for (int i = 0; option_show(command, i, &s); i++) {
        if (!i) printf("\noptions (one dash or two; -k 64 or -k=64; lists by commas):\n");
        snprintf(left, sizeof left, "-%s %s", s.name, s.value ? s.value : "");
        printf("  %-19s %s\n", left, s.about);
    }
}

typedef void add_word(void *to, const char *word);

static void add_ops(add_word *add, void *to)
{
    for (int i = 0; i < op_count; i++) add(to, ops[i]->name);
}

// An algorithm has a row per operation and device.
void algorithm_words(const struct op *op, add_word *add, void *to)
{
    add(to, "all");
    for (int i = 0; i < algo_count; i++) {
        bool known = op && algos[i].op != op;
        for (int k = 0; k < i && !known; k++)
            known = (!op || algos[k].op == op) && !strcmp(algos[k].name, algos[i].name);
        if (!known) add(to, algos[i].name);
    }
}

static void add_algorithms(add_word *add, void *to) { algorithm_words(NULL, add, to); }

static void add_precisions(add_word *add, void *to)
{
    for (int p = 0; p < PRECS; p++) add(to, prec_name((enum prec)p));
}

static void add_devices(add_word *add, void *to)
{
    add(to, "auto");
    for (int k = 0; k < DEVICE_KINDS; k++) add(to, device_list[k].name);
}

// Returns true if an earlier algorithm, or an earlier place of this one, has the option.
static bool option_known(int algo, int place, const char *name)
{
    for (int i = 0; i <= algo; i++) {
        const struct algo_option *p;
        for (int k = 0; (p = algo_option_at(algos[i].algo, k)); k++)
            if ((i < algo || k < place) && !strcmp(p->name, name)) return true;
    }
    return false;
}

static void add_algo_options(add_word *add, void *to)
{
    const struct algo_option *p;
    char word[64];
    for (int i = 0; i < algo_count; i++)
        for (int k = 0; (p = algo_option_at(algos[i].algo, k)); k++) {
            snprintf(word, sizeof word, "%s=", p->name);
            if (!option_known(i, k, p->name)) add(to, word);
        }
}

static void add_formats(add_word *add, void *to)
{
    for (const struct verdict_format *f = verdict_formats; f->name; f++) add(to, f->name);
    for (int i = 0; view_names[i]; i++) {
        bool known = false;
        for (const struct verdict_format *k = verdict_formats; k->name; k++)
            known |= !strcmp(k->name, view_names[i]);
        if (!known) add(to, view_names[i]);
    }
}

static void add_traps(add_word *add, void *to)
{
    add(to, "exact");
    for (int i = 0; i < trap_count; i++) add(to, traps[i].name);
}

// Options whose words are names from other lists.
static const struct {
    const char *name;
    void (*all)(add_word *add, void *to);
} sources[] = {
    {"op", add_ops},         {"alg", add_algorithms},      {"prec", add_precisions},
    {"device", add_devices}, {"opt", add_algo_options},    {"format", add_formats},
    {"trap", add_traps},     {"baseline", add_algorithms},
};

static void add_list(const char *const *words, add_word *add, void *to)
{
    for (int i = 0; words && words[i]; i++) add(to, words[i]);
}

void option_words(const struct option_shown *s, add_word *add, void *to)
{
    if (s->axis) {
        add_list(s->axis->words, add, to);
        return;
    }
    for (int i = 0; i < COUNT(sources); i++)
        if (!strcmp(sources[i].name, s->name)) sources[i].all(add, to);
    for (int i = 0; i < option_count; i++)
        if (!strcmp(option_at(i)->name, s->name)) add_list(option_at(i)->words, add, to);
}
