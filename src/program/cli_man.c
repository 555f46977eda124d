// spbench man: the manual page, made from the tables of commands and options and from about.c.
#include "program/cli.h"

#include <stdio.h>
#include <string.h>

#include "data/gen.h"
#include "program/about.h"
#include "run/record.h"

// Text of a line, as roff takes it literally: what it would change or obey is escaped.
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

// An item: its name in bold, what follows in italics, and, below, what it is.
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
    for (int i = 0; (c = cli_command(i)); i++) {
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
    for (const char *const *p = about_description; *p; p++) {
        if (p != about_description) puts(".PP");
        put_line(*p);
    }
    for (const struct gen_kind *g = gen_help; g->name; g++) {
        char spec[64];
        snprintf(spec, sizeof spec, "gen:%s", g->form);
        item(spec, NULL, g->about);
    }
}

// "(run, info)": the commands that take an option; nothing if all do.
static void put_takers(const char *name)
{
    const struct command_info *c;
    struct option_shown s;
    char text[256] = "";
    int takers = 0, commands = 0;
    for (int i = 0; (c = cli_command(i)); i++, commands++)
        for (int k = 0; option_show(c->id, k, &s); k++) {
            if (strcmp(s.name, name)) continue;
            takers++;
            words_add(text, sizeof text, ", ", c->name);
        }
    if (takers == commands) return;
    put_text("(");
    put_font('I', text);
    put_line(")");
}

static void put_options(void)
{
    const struct command_info *c;
    struct option_shown s;
    section("OPTIONS");
    put_line("One dash or two; -k 64 or -k=64; lists by commas. Behind each the commands that take "
             "it, if not all do.");
    for (int i = 0; (c = cli_command(i)); i++)
        for (int k = 0; option_show(c->id, k, &s); k++) {
            char name[64];
            if (cli_option_before(i, s.name)) continue;
            snprintf(name, sizeof name, "-%s", s.name);
            item(name, s.value, s.about);
            put_takers(s.name);
        }
}

static void put_exits(void)
{
    section("EXIT STATUS");
    for (const struct about_exit *e = about_exits; e->about; e++) {
        char status[16], about[256];
        snprintf(status, sizeof status, "%d", e->status);
        snprintf(about, sizeof about, "%s%s%s", e->command ? e->command : "",
                 e->command ? ": " : "", e->about);
        item(status, NULL, about);
    }
}

static void put_examples(void)
{
    section("EXAMPLES");
    for (const struct about_example *e = about_examples; e->line; e++)
        item(e->line, NULL, e->about);
}

// No date: the same program prints the same page.
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
    for (int i = 0; (c = cli_command(i)); i++) item(c->name, c->operands, c->about);
    put_options();
    put_exits();
    section("ENVIRONMENT");
    for (const struct about_variable *v = about_variables; v->name; v++)
        item(v->name, NULL, v->about);
    section("FILES");
    for (const struct about_file *f = about_files; f->path; f++) item(f->path, NULL, f->about);
    put_examples();
    return OK;
}
