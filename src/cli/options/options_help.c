// Help text of the options, and words for completion.
#include <stdio.h>
#include <string.h>

#include "cli/options/option_values.h"
#include "compare/verdict_text.h"
#include "exact/traps.h"

// Descriptions of options that differ between commands. The first that fits counts.
static const struct {
    const char *name;
    unsigned commands;
    const char *about;
} abouts[] = {
    {"op", CONFORM, "operation (default: all)"},
    {"alg", CONFORM, "algorithms: names, patterns, or all (default: of plug-ins, else of vendors)"},
    {"prec", CONFORM, "types, as for run (default: all of the algorithm)"},
    {"device", CONFORM, "cpu, cuda or cuda:N (default: the devices of the algorithms)"},
    {"device", BIT(COMMAND_SWEEP),
     "as for run; several (cuda:0,1,2), or all GPUs, share the matrices"},
    {"timeout", CONFORM, "end a case after this time (default 120)"},
    {"q", COMPARE, "no table, no progress; -format and -o still write"},
    {"q", CONFORM, "no progress"},
    {"q", DOCTOR | ADVISE, "only the advice"},
    {"q", ALL, "no table, no progress; only errors"},
    {"time-limit", COMPARE,
     "stop timing a case after this time; fewer than 6 samples: after up to twice this time plus "
     "1 s (default: 0.1 s, none with -reps)"},
    {"time-limit", ALL,
     "stop timing a case after this time; fewer than 6 samples: after up to twice this time plus "
     "1 s (default: 2 s with 10 samples, else 20 s)"},
    {"runs", COMPARE,
     "processes per case, spread over the measurement (default: until no case is unclear)"},
    {"runs", ALL, "processes per case, spread over the measurement (default 1)"},
    {"o", DOCTOR, "file for a record of the findings (JSON Lines)"},
    {"o", REPORT, "output file (default: stdout); .csv, .md and .json set the format"},
    {"o", RUN, "file of records (default: stdout, if it is redirected)"},
    {"o", ALL, "output file (default: stdout)"},
    {"format", REPORT, "table (default), markdown, csv, json"},
    {"format", ADVISE | CONFORM, "text (default), json"},
    {"format", ALL, "table (default), json, markdown, junit"},
    {"budget", ADVISE, "time limit of the measurement (default 10 for each matrix)"},
    {"budget", ALL, "time limit of the measurement (default 300; none with -runs)"},
};

static const char *find_about(enum command command, const struct option *option)
{
    for (int i = 0; i < COUNT(abouts); i++)
        if (abouts[i].commands & BIT(command) && !strcmp(abouts[i].name, option->name))
            return abouts[i].about;
    return option->about;
}

static void show_option(enum command command, const struct option *option, struct option_shown *s)
{
    const char *about = find_about(command, option);
    *s = (struct option_shown){.name = option->name, .value = option->value};
    if (about)
        snprintf(s->about, sizeof s->about, "%s", about);
    else if (!strcmp(option->name, "op"))
        snprintf(s->about, sizeof s->about,
                 "operation (default: that of the algorithms, %s if several match)", ops[0]->name);
    else
        snprintf(s->about, sizeof s->about,
                 "one of %s; auto (default): the first GPU, else the CPU", device_names());
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
