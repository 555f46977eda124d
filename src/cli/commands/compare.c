// spbench compare: compares two files, two programs, or a history, and sets the exit status.
#include "cli/commands/request.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/child.h"
#include "base/words.h"
#include "cli/commands/ab_run.h"
#include "compare/verdict_text.h"

static struct compare_rule rule_of(const struct options *o)
{
    return (struct compare_rule){.threshold = o->compare.threshold / 100,
                                 .consecutive = o->compare.consecutive,
                                 .kind = o->kind};
}

static int compare_files(const struct options *o, struct comparison *c)
{
    struct compare_rule rule = rule_of(o);
    if (o->operand_count != 2)
        return fail(ERR_USAGE,
                    "compare takes two files of records, OLD and NEW, not %d; for -ab and -history "
                    "see 'spbench help compare'",
                    o->operand_count);
    return comparison_files(c, o->operands[0], o->operands[1], &rule);
}

static int compare_programs(const struct options *o, struct comparison *c)
{
    char self[PATH_MAX];
    struct compare_rule rule = rule_of(o);
    if (!o->operand_count)
        return fail(ERR_USAGE,
                    "no matrix is given: spbench compare -ab PROGRAM [OPTIONS] MATRIX...");
    int err = child_self(self);
    if (err) return err;
    struct ab_run run = {.o = o,
                         .program = {o->compare.ab, self},
                         .matrices = o->operands,
                         .matrix_count = o->operand_count};
    err = ab_run_measure(&run, &rule);
    if (run.broken[0]) rule.broken = run.broken;
    if (!err) err = comparison_files(c, run.path[SIDE_OLD], run.path[SIDE_NEW], &rule);
    if (!err && !o->compare.keep)
        for (int side = 0; side < SIDES; side++)
            snprintf(c->name[side], sizeof c->name[side], "%s", run.program[side]);
    c->rule.broken = NULL; // the text is part of run
    ab_run_close(&run);
    return err;
}

static int is_records(const struct dirent *entry)
{
    return ends_with(entry->d_name, ".jsonl") || ends_with(entry->d_name, ".jsonl.gz");
}

// Adds the paths of the files of records in a folder.
static int add_folder(struct texts *files, const char *folder)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, is_records, alphasort), err = OK;
    if (n < 0) return fail(ERR_INPUT, "%s: cannot be read: %s", folder, strerror(errno));
    for (int i = 0; i < n; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (!err) err = texts_add(files, path);
        free(entries[i]);
    }
    free(entries);
    return err;
}

static int compare_history(const struct options *o, struct comparison *c)
{
    struct texts files = {0};
    struct compare_rule rule = rule_of(o);
    int err = OK;
    if (!o->operand_count)
        err = fail(ERR_USAGE, "-history: no file or folder is given: spbench compare -history "
                              "[OPTIONS] FILES|FOLDER");
    for (int i = 0; i < o->operand_count && !err; i++) {
        struct stat facts;
        bool folder = !stat(o->operands[i], &facts) && S_ISDIR(facts.st_mode);
        err = folder ? add_folder(&files, o->operands[i]) : texts_add(&files, o->operands[i]);
    }
    if (!err) err = comparison_history(c, files.list, (int)files.count, &rule);
    texts_free(&files);
    return err;
}

struct report {
    const struct verdict_format *format;
    const struct comparison *c;
};

static int write_format(FILE *out, const void *arg)
{
    const struct report *report = arg;
    return report->format->write(out, report->c);
}

static int write_report(const struct options *o, const struct comparison *c)
{
    struct report report = {verdict_formats, c};
    if (o->quiet && !o->format && !o->output) return OK;
    while (o->format && strcmp(report.format->name, o->format)) report.format++;
    return cli_write_report(o, write_format, &report);
}

static int check_options(const struct options *o)
{
    if (o->compare.ab && o->compare.history)
        return fail(ERR_USAGE, "-ab and -history exclude each other");
    if (o->passed_count && !o->compare.ab)
        return fail(ERR_USAGE, "%s: needs -ab PROGRAM, because only -ab measures", o->passed[0]);
    const char *of_ab = o->compare.keep    ? "keep"
                        : o->runs          ? "runs"
                        : o->budget_ms > 0 ? "budget"
                                           : NULL;
    if (of_ab && !o->compare.ab)
        return fail(ERR_USAGE, "-%s: needs -ab PROGRAM, because only -ab measures", of_ab);
    return cli_check_report(o);
}

int cli_compare(const struct request *q)
{
    const struct options *o = q->o;
    struct comparison c = {0};
    int err = check_options(o);
    if (err) return err;
    q->outcome->conclusion = CONCLUSION_CANNOT_TELL;
    err = o->compare.ab        ? compare_programs(o, &c)
          : o->compare.history ? compare_history(o, &c)
                               : compare_files(o, &c);
    if (!err) err = write_report(o, &c);
    if (!err) q->outcome->conclusion = comparison_conclude(&c);
    comparison_free(&c);
    return err;
}
