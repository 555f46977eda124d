#include "cli/commands/report_output.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/whole_file.h"
#include "compare/compare.h"

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

int report_output_check(const struct options *o)
{
    struct stat out, in;
    if (is_stdout(o) || stat(o->output, &out)) return OK;
    for (int i = 0; i < o->operand_count; i++)
        if (!stat(o->operands[i], &in) && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
            return fail(ERR_USAGE, "-o %s: is an input file", o->output);
    return refuse_records(o);
}

int report_output_write(const struct options *o, int (*write)(FILE *out, const void *arg),
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
