// Functions that several commands use.
#include "cli/commands/request.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/utf8.h"
#include "base/whole_file.h"

int cli_load_failed(int err, struct outcome *outcome)
{
    if (err == ERR_INTERRUPTED) return err;
    fprintf(stderr, "%s\n", fail_text());
    if (err == ERR_USAGE)
        outcome->bad_spec = true;
    else
        outcome->bad_matrix = true;
    return OK;
}

bool cli_stdout_is_apart(void)
{
    struct stat out, err;
    if (isatty(STDOUT_FILENO)) return false;
    if (fstat(STDOUT_FILENO, &out) || fstat(STDERR_FILENO, &err)) return true;
    return out.st_dev != err.st_dev || out.st_ino != err.st_ino;
}

void cli_print_device(const struct bench_setup *c, const struct options *o)
{
    if (c->fallback[0] && !o->quiet) fprintf(stderr, "running on the CPU: %s\n", c->fallback);
}

int cli_check_measured(int64_t cases, int64_t unsupported, const char *first)
{
    char all[64] = "the case is unsupported";
    if (!cases || unsupported < cases) return OK;
    if (cases > 1) snprintf(all, sizeof all, "all %lld cases are unsupported", (long long)cases);
    return fail(ERR_UNSUPPORTED, "nothing was measured: %s%s%s", all,
                !first      ? "; the records have the reasons"
                : cases > 1 ? ", the first: "
                            : ": ",
                first ? first : "");
}

void cli_print_replaced(const struct record_file *out, const struct options *o)
{
    char name[FAIL_TEXT_MAX];
    if (o->quiet || (!out->replaced && !out->cut)) return;
    utf8_visible(o->output, name, sizeof name);
    if (out->replaced)
        fprintf(stderr, "replacing %s: %lld record%s; -append adds to them\n", name,
                (long long)out->replaced, out->replaced == 1 ? "" : "s");
    if (out->cut)
        fprintf(stderr, "%s: an incomplete record at the end, %lld bytes, is removed\n", name,
                (long long)out->cut);
}

// Learns of a file from a worker of its own, so that an error has the name of the file. Sets *text
// to the description.
static int learn(const char *file, char **text)
{
    char option[] = "-plugin", *words[] = {option, (char *)file};
    const struct worker_config config = {.words = words, .word_count = 2, .device = "cpu"};
    const struct worker_args args = {.describe = true, .run = ""};
    const struct algo_plugin *facts;
    struct survey s;
    int err = survey_make(&config, &args, &s);
    if (err == ERR_DEVICE) return fail(ERR_USAGE, "-plugin %s: %s", file, fail_text());
    if (err) return err;
    err = s.plugin ? plugin_learn(s.plugin, &facts)
                   : fail(ERR_USAGE, "-plugin %s: has no description", file);
    *text = s.plugin;
    s.plugin = NULL;
    survey_free(&s);
    return err;
}

int cli_learn_plugins(struct options *o)
{
    int err = OK;
    for (int i = 0; i < o->plugin_count && !err; i++)
        err = learn(o->plugins[i], &o->plugin_texts[i]);
    return err;
}

int cli_add_libraries(const char *option, const char *list, bool preload, struct texts *out)
{
    int err = OK;
    for (const char *rest = list; rest && *rest && !err; rest += *rest == ',') {
        char path[PATH_MAX];
        const int length = (int)strcspn(rest, ",");
        if (out->count == LIBRARIES_MAX)
            return fail(ERR_USAGE, "-%s: more than %d files", option, LIBRARIES_MAX);
        if (snprintf(path, sizeof path, "%.*s", length, rest) >= (int)sizeof path)
            return fail(ERR_USAGE, "-%s %s: the path is too long", option, rest);
        char *full = realpath(path, NULL);
        if (!full) return fail(ERR_USAGE, "-%s %s: %s", option, path, strerror(errno));
        if (preload && strpbrk(full, " :")) // the loader takes them for the ends of names
            err = fail(ERR_USAGE,
                       "-%s %s: the path has a blank or a colon, which LD_PRELOAD does not allow",
                       option, full);
        else
            err = texts_add(out, full);
        free(full);
        rest += length;
    }
    return err;
}

static bool is_stdout(const struct options *o) { return !o->output || !strcmp(o->output, "-"); }

// Refuses to replace a file of records by a report: input files, files of a history's folder, files
// of -keep, and others. Records cost hours of measuring.
static int refuse_records(const struct options *o)
{
    struct stat facts;
    int64_t when;
    if (!o->output || stat(o->output, &facts) || !S_ISREG(facts.st_mode)) return OK;
    if (observations_date(o->output, &when)) return fail_drop();
    if (!when) return OK;
    return fail(ERR_USAGE, "-o %s: holds records, which a report would replace", o->output);
}

int cli_check_report(const struct options *o)
{
    struct stat out, in;
    if (is_stdout(o) || stat(o->output, &out)) return OK;
    for (int i = 0; i < o->operand_count; i++)
        if (!stat(o->operands[i], &in) && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
            return fail(ERR_USAGE, "-o %s: is an input file", o->output);
    return refuse_records(o);
}

int cli_write_report(const struct options *o, int (*write)(FILE *out, const void *arg),
                     const void *arg)
{
    int err = refuse_records(o); // the file may have changed since the first check
    if (err) return err;
    if (is_stdout(o)) {
        err = write(stdout, arg);
        bool lost = fflush(stdout) || ferror(stdout); // checked here, so that a write error is no
                                                      // regression
        return err    ? err
               : lost ? fail(ERR_OUTPUT, "stdout: cannot be written: %s", strerror(errno))
                      : OK;
    }
    struct whole_file file;
    err = whole_file_open(&file, o->output);
    return err ? err : whole_file_close(&file, write(file.stream, arg));
}
