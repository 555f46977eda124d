#include "cli/cli.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/suggest.h"
#include "base/utf8.h"
#include "base/words.h"
#include "cli/commands/about.h"
#include "report/columns.h"
#include "cli/options/threads.h"
#include "data/cache.h"
#include "data/gen.h"
#include "exact/traps.h"
#include "records/record.h"
#include "worker/worker_main.h"

#define HELP_WIDTH 80 // width of wrapped text

static int cli_help(const struct request *q);

// Sets the error for an unknown command. `also`: another valid word to suggest; NULL: none.
static int no_such_command(const char *name, const char *what, const char *also)
{
    struct suggestion s;
    char guess[64];
    suggest_start(&s, name);
    for (int i = 0; command_shown(i); i++) suggest_offer(&s, command_shown(i)->name);
    if (also) suggest_offer(&s, also);
    for (int i = 0; suggest_no_commands[i]; i++) suggest_offer(&s, suggest_no_commands[i]);
    return fail(ERR_USAGE, "%s: no such %s; %s'spbench help' lists the commands", name, what,
                suggest_text(&s, guess));
}

static void help_matrices(void)
{
    printf("\nA MATRIX is a Matrix Market file (.mtx, .mtx.gz, NAME.tar.gz), - for stdin, or "
           "gen:SPEC.\n"
           "A SPEC is one of:\n");
    for (const struct gen_kind *g = gen_help; g->name; g++)
        printf("  %-19s %s\n", g->form, g->about);
}

static void help_all(void)
{
    const struct command_info *c;
    int names = 0, operands = 0;
    for (int i = 0; (c = command_shown(i)); i++) {
        names = (int)max64(names, (int64_t)strlen(c->name));
        operands = (int)max64(operands, (int64_t)strlen(c->operands));
    }
    printf("spbench " COMMAND_LINE ".\n\nusage:\n");
    for (int i = 0; (c = command_shown(i)); i++)
        printf("  spbench %-*s %-*s  %s\n", names, c->name, operands, c->operands, c->about);
    printf("  spbench --version\n\n"
           "'spbench help COMMAND' shows the options of a command. A first try:\n"
           "  spbench -alg merge,rowsplit -k 64 gen:rmat:14:16\n");
}

// Prints words from `column` on, wrapped at HELP_WIDTH. Lines after the first are indented. Returns
// the column behind the last word.
static int print_words(const char *text, int column, int indent)
{
    for (const char *p = text + strspn(text, " "); *p; p += strspn(p, " ")) {
        int length = (int)strcspn(p, " ");
        if (column > indent && column + 1 + length > HELP_WIDTH) column = 0, putchar('\n');
        column +=
            printf("%*s%.*s", column < indent ? indent - column : column > indent, "", length, p);
        p += length;
    }
    return column;
}

// Prints the exit statuses of a command if they differ from the usual ones.
static void help_exits(const struct command_info *c)
{
    const struct about_exit *e;
    char text[256];
    int column = 0;
    for (int i = 0; (e = about_exit_of(c->name, i)); i++) {
        snprintf(text, sizeof text, "%s%d %s%s", i ? "" : "Exit status: ", e->status, e->about,
                 about_exit_of(c->name, i + 1) ? "," : ".");
        if (!i) putchar('\n');
        column = print_words(text, column, 0);
    }
    if (column) putchar('\n');
}

static void help_heading(const char *title)
{
    static bool any;
    printf("%s%s:\n", any ? "\n" : "", title);
    any = true;
}

static void help_column_text(const char *before, const char *text, int column)
{
    const int indent = 18;
    if (!text) return;
    print_words(text, print_words(before, column, indent), indent);
    putchar('\n');
}

static void help_column(const struct column_help *s)
{
    char head[64];
    int width = snprintf(head, sizeof head, "  %s", s->head);
    fputs(head, stdout);
    if (width > 16) putchar('\n'), width = 0;
    help_column_text("", s->about, width);
    help_column_text("=", s->formula, 0);
    help_column_text("Good:", s->good, 0);
    help_column_text("CSV, JSON:", s->name, 0);
}

static void help_command(const struct command_info *c)
{
    printf("usage: spbench %s%s%s\n       %s\n", c->name, *c->operands ? " " : "", c->operands,
           c->about);
    options_help(c->id);
    if (c->forms) fputs(c->forms, stdout);
    if (c->takes) help_matrices();
    if (c->notes) fputs(c->notes, stdout);
    for (int i = 0; c->id == COMMAND_CONFORM && i < trap_count; i++)
        printf("  %-19s %s\n", traps[i].name, traps[i].about);
    help_exits(c);
}

static int cli_help(const struct request *q)
{
    if (!q->o->operand_count) {
        help_all();
        return OK;
    }
    if (!strcmp(q->o->operands[0], HELP_COLUMNS)) {
        columns_each(help_heading, help_column);
        return OK;
    }
    const struct command_info *c = command_find(q->o->operands[0]);
    if (!c || !c->about) return no_such_command(q->o->operands[0], "command", HELP_COLUMNS);
    help_command(c);
    return OK;
}

// Returns true for a word that is neither a file nor a path and has no extension.
static bool is_bare(const char *word)
{
    return word[0] && word[0] != '-' && !strpbrk(word, "./:") && access(word, F_OK);
}

// Sets the error for a first word that is neither a command nor a matrix.
static int refuse_first(const char *word)
{
    for (const struct gen_kind *k = gen_help; k->name; k++)
        if (!strcmp(k->name, word))
            return fail(ERR_USAGE, "%s: no such command or matrix; did you mean gen:%s?", word,
                        k->form);
    if (bench_setup_is_algorithm(word))
        return fail(ERR_USAGE, "%s: is an algorithm: spbench -alg %s MATRIX, or spbench list %s",
                    word, word, word);
    return no_such_command(word, "command or matrix", NULL);
}

// Sets *command to the command of the first word. Any other word is a matrix for `run`. A word that
// cannot be a matrix is an error.
static int choose_command(int argc, char **argv, const struct command_info **command)
{
    const char *word = argc > 1 ? argv[1] : "-";
    *command = command_find(word);
    if (*command) return OK;
    *command = command_find("run");
    return is_bare(word) ? refuse_first(word) : OK;
}

// Sets an error if a command follows options of an implied `run`: "-device cpu roof".
static int refuse_late_command(const struct options *o, int argc, char **argv)
{
    char rest[256] = "";
    const char *late = NULL;
    for (int i = 0; i < o->operand_count && !late; i++)
        if (is_bare(o->operands[i]) && command_find(o->operands[i])) late = o->operands[i];
    if (!late) return OK;
    for (int i = 1; i < argc; i++)
        if (argv[i] != late) words_add(rest, sizeof rest, " ", argv[i]);
    return fail(ERR_USAGE, "%s: no such file; the command comes first: spbench %s %s", late, late,
                rest);
}

static int cli_worker(const struct request *q)
{
    int err = worker_main(q->o);
    q->outcome->exit_now = !err;
    return err;
}

static int (*const runs[])(const struct request *q) = {
    [COMMAND_RUN] = cli_run,         [COMMAND_LIST] = cli_list,
    [COMMAND_ADVISE] = cli_advise,   [COMMAND_INFO] = cli_info,
    [COMMAND_GEN] = cli_gen,         [COMMAND_ROOF] = cli_roof,
    [COMMAND_DOCTOR] = cli_doctor,   [COMMAND_COMPLETION] = cli_completion,
    [COMMAND_MAN] = cli_man,         [COMMAND_COMPARE] = cli_compare,
    [COMMAND_REPORT] = cli_report,   [COMMAND_SWEEP] = cli_sweep,
    [COMMAND_CONFORM] = cli_conform, [COMMAND_NEW_KERNEL] = cli_new_kernel,
    [COMMAND_WORKER] = cli_worker,   [COMMAND_HELP] = cli_help,
};

static void show_version(void)
{
    struct build_fact facts[BUILD_FACTS];
    record_build(facts);
    printf("spbench %s\n", record_version());
    for (int i = 0; i < BUILD_FACTS; i++)
        printf("%-8s  %s%s\n", facts[i].label, facts[i].value ? "" : "built without ",
               facts[i].value ? facts[i].value : facts[i].label);
    printf("%-8s  %s\n", "records", RECORD_SCHEMA);
}

static int dispatch(const struct command_info *c, const struct request *q)
{
    if (q->o->help && c->about) {
        if (q->named)
            help_command(c);
        else
            help_all();
        return OK;
    }
    if (q->o->version) {
        show_version();
        return OK;
    }
    if (q->argc <= 1) {
        help_all();
        return fail(ERR_USAGE, "no command and no matrix is given");
    }
    if (q->o->operand_count < c->least && !c->takes)
        return fail(ERR_USAGE, "too few words for %s: spbench %s %s; 'spbench help %s' shows more",
                    c->name, c->name, c->operands, c->name);
    if (q->o->operand_count < c->least)
        return fail(ERR_USAGE, "no %s is given: spbench %s %s; 'spbench help %s' shows more",
                    c->takes, c->name, c->operands, c->name);
    if (q->o->operand_count > c->most)
        return fail(ERR_USAGE, "%s: one word too many for %s: spbench %s%s%s",
                    q->o->operands[c->most], c->name, c->name, *c->operands ? " " : "",
                    c->operands);
    int err = c->id == COMMAND_HELP ? OK : threads_use(q->o->threads);
    return err ? err : runs[c->id](q);
}

// Returns true if stdout is a pipe whose reader has exited.
static bool reader_left(void)
{
    struct stat facts;
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return !fstat(STDOUT_FILENO, &facts) && S_ISFIFO(facts.st_mode) && poll(&out, 1, 0) == 1 &&
           out.revents & POLLERR;
}

// Flushes stdout. A reader such as `head` may leave early without an error. Lost records are an
// error.
static int close_stdout(const struct command_info *c, int err)
{
    bool failed = fflush(stdout) || ferror(stdout);
    int write_error = errno;
    if (!failed) return err;
    if (!c->records && reader_left()) return err == ERR_OUTPUT ? fail_drop() : err;
    if (err) return err;
    return fail(ERR_OUTPUT, "stdout: cannot be written: %s", strerror(write_error));
}

int cli_main(int argc, char **argv, struct outcome *outcome)
{
    const struct command_info *c;
    struct options o = {0};
    int err = choose_command(argc, argv, &c);
    if (err) return err;
    bool named = argc > 1 && command_find(argv[1]);
    int skip = named ? 2 : 1;
    err = options_parse(&o, c->id, c->name, argc > skip ? argc - skip : 0, argv + skip);
    if (!err && !named) err = refuse_late_command(&o, argc, argv);
    cache_use(o.run.no_cache ? NULL : &cache_standard);
    if (!err && c->id != COMMAND_WORKER) err = cli_learn_plugins(&o);
    if (!err) err = dispatch(c, &(struct request){&o, argc, argv, named, outcome});
    options_free(&o);
    return close_stdout(c, err);
}
