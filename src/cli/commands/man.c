// spbench man: prints the manual page from the tables of commands and options, about.c and
// columns.c.
#include "cli/commands/request.h"

#include <stdio.h>
#include <string.h>

#include "base/variables.h"
#include "cli/commands/about.h"
#include "report/columns.h"
#include "data/gen.h"
#include "records/record.h"

// Paragraphs of the description. The kinds of synthetic matrices follow.
static const char *const description[] = {
    "spbench runs sparse algorithms of published papers and of vendors on matrices. Every result "
    "is checked. Each time is compared with the limits of the device.",
    "The table goes to stderr. Each case is also a record, a line of JSON. Records go to the file "
    "of -o. Without -o, records go to stdout if stdout is neither a terminal nor the file of "
    "stderr, or with -q. The word run may be omitted.",
    "A MATRIX is a Matrix Market file (.mtx, .mtx.gz, NAME.tar.gz), - for stdin, or gen:SPEC, a "
    "synthetic matrix of one of these kinds:",
};

static const char *const files[][2] = {
    {"~/.cache/spbench/roof.tsv", "measured ceilings of devices"},
    {"PREFIX/share/spbench", "fetch_suitesparse.sh with matrices.txt, and the scripts of plots/"},
};

// Command lines.
static const char *const examples[][2] = {
    {"spbench -alg merge,rowsplit -k 64 gen:rmat:14:16",
     "two algorithms of SpMM on a synthetic graph"},
    {"spbench -alg all -k 32,128 -prec f32,f64 -o results.jsonl web.mtx",
     "all algorithms on a file, with records"},
    {"spbench -op spgemm -mul aa,aat -device cpu web.mtx", "A*A and A*A^T on the CPU"},
    {"spbench info -model web.mtx", "facts about a matrix, and predictions"},
    {"spbench sweep -k 64 -o results.jsonl matrices.txt",
     "all matrices of a list; the same command resumes the sweep"},
    {"spbench report -sort speedup -o results.csv results.jsonl",
     "the measured times and speed-ups as CSV"},
    {"spbench compare -ab base/spbench -alg merge -k 64 web.mtx",
     "compare this program with another build"},
    {"spbench doctor && spbench roof", "check the machine and measure its ceilings"},
};

// Prints text for roff, with special characters escaped.
static void put_text(const char *text)
{
    static const struct {
        char letter;
        const char *roff;
    } escapes[] = {{'\\', "\\e"},  {'-', "\\-"},   {'\'', "\\(aq"}, {'`', "\\(ga"},
                   {'^', "\\(ha"}, {'~', "\\(ti"}, {'"', "\\(dq"}};
    if (text[0] == '.') fputs("\\&", stdout);
    for (const char *p = text; *p; p++) {
        const char *roff = NULL;
        for (int i = 0; i < COUNT(escapes); i++)
            if (escapes[i].letter == *p) roff = escapes[i].roff;
        if (roff)
            fputs(roff, stdout);
        else
            putchar(*p);
    }
}

static void put_line(const char *text)
{
    put_text(text);
    putchar('\n');
}

static void put_font(char font, const char *text)
{
    printf("\\f%c", font);
    put_text(text);
    fputs("\\fR", stdout);
}

static void section(const char *name) { printf(".SH %s\n", name); }

static void subsection(const char *name)
{
    fputs(".SS ", stdout);
    put_line(name);
}

// Prints an item: name in bold, the rest in italics, the description below.
static void item(const char *name, const char *rest, const char *about)
{
    puts(".TP");
    put_font('B', name);
    if (rest && *rest) putchar(' '), put_font('I', rest);
    putchar('\n');
    put_line(about);
}

static void put_synopsis(void)
{
    const struct command_info *c;
    section("SYNOPSIS");
    for (int i = 0; (c = command_shown(i)); i++) {
        if (i) puts(".br");
        put_font('B', "spbench");
        putchar(' ');
        put_font('B', c->name);
        putchar(' ');
        put_line(c->operands);
    }
}

static void put_description(void)
{
    section("DESCRIPTION");
    for (int i = 0; i < COUNT(description); i++) {
        if (i) puts(".PP");
        put_line(description[i]);
    }
    for (const struct gen_kind *g = gen_help; g->name; g++) {
        char spec[64];
        snprintf(spec, sizeof spec, "gen:%s", g->form);
        item(spec, NULL, g->about);
    }
}

// Returns the number of earlier commands with the same option and description.
static int takers_before(int command, const struct option_shown *s)
{
    const struct command_info *c;
    struct option_shown other;
    int takers = 0;
    for (int k = 0; k < command && (c = command_shown(k)); k++)
        for (int o = 0; option_show(c->id, o, &other); o++)
            takers += !strcmp(other.name, s->name) && !strcmp(other.about, s->about);
    return takers;
}

static int command_count(void)
{
    int count = 0;
    while (command_shown(count)) count++;
    return count;
}

static bool all_take(const struct option_shown *s)
{
    return takers_before(command_count(), s) == command_count();
}

// Prints the options of a command that no earlier command has. `of_all` selects the options of all
// commands, or the others.
static void put_new_options(int command, bool of_all)
{
    struct option_shown s;
    char name[64];
    for (int k = 0; option_show(command_shown(command)->id, k, &s); k++) {
        if (takers_before(command, &s) || all_take(&s) != of_all) continue;
        snprintf(name, sizeof name, "-%s", s.name);
        item(name, s.value, s.about);
    }
}

// Prints the options described by an earlier command: "As above: -k, -prec."
static void put_old_options(int command)
{
    struct option_shown s;
    char text[512] = "", name[64];
    for (int k = 0; option_show(command_shown(command)->id, k, &s); k++) {
        snprintf(name, sizeof name, "-%s", s.name);
        if (takers_before(command, &s) && !all_take(&s)) words_add(text, sizeof text, ", ", name);
    }
    if (!text[0]) return;
    words_add(text, sizeof text, "", ".");
    fputs("As above: ", stdout);
    put_line(text);
}

// Returns true if a command has an option that some other command lacks.
static bool has_options(int command)
{
    struct option_shown s;
    for (int k = 0; option_show(command_shown(command)->id, k, &s); k++)
        if (!all_take(&s)) return true;
    return false;
}

static void put_options(void)
{
    section("OPTIONS");
    put_line("One dash or two; -k 64 or -k=64; lists by commas.");
    subsection("All commands");
    put_new_options(0, true);
    for (int i = 0; i < command_count(); i++) {
        if (!has_options(i)) continue;
        subsection(command_shown(i)->name);
        put_old_options(i);
        put_new_options(i, false);
    }
}

static void put_column(const struct column_help *s)
{
    item(s->head, NULL, s->about);
    if (s->formula) {
        puts(".br");
        fputs("= ", stdout);
        put_line(s->formula);
    }
    if (s->good) {
        puts(".br");
        fputs("Good: ", stdout);
        put_line(s->good);
    }
    if (s->name) {
        puts(".br");
        fputs("CSV, JSON: ", stdout);
        put_line(s->name);
    }
}

static void put_exits_of(const char *heading, const char *command)
{
    const struct about_exit *e;
    subsection(heading);
    for (int i = 0; (e = about_exit_of(command, i)); i++) {
        char status[16];
        snprintf(status, sizeof status, "%d", e->status);
        item(status, NULL, e->about);
    }
}

static void put_exits(void)
{
    const struct command_info *c;
    char others[256] = "";
    section("EXIT STATUS");
    for (int i = 0; (c = command_shown(i)); i++)
        if (about_exit_of(c->name, 0))
            put_exits_of(c->name, c->name);
        else
            words_add(others, sizeof others, ", ", c->name);
    put_exits_of(others, NULL);
}

static void put_examples(void)
{
    section("EXAMPLES");
    for (int i = 0; i < COUNT(examples); i++) item(examples[i][0], NULL, examples[i][1]);
}

// The page has no date, so that the same program prints the same page.
int cli_man(const struct request *q)
{
    const struct command_info *c;
    (void)q;
    printf(".TH SPBENCH 1 \"\" \"spbench ");
    put_text(record_version());
    printf("\" \"User Commands\"\n");
    section("NAME");
    put_line("spbench - " COMMAND_LINE);
    put_synopsis();
    put_description();
    section("COMMANDS");
    for (int i = 0; (c = command_shown(i)); i++) item(c->name, c->operands, c->about);
    put_options();
    section("COLUMNS");
    columns_each(subsection, put_column);
    put_exits();
    section("ENVIRONMENT");
    for (const struct variable *v = variables; v->name; v++) item(v->name, NULL, v->about);
    section("FILES");
    for (int i = 0; i < COUNT(files); i++) item(files[i][0], NULL, files[i][1]);
    put_examples();
    return OK;
}
