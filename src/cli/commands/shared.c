// Functions that several commands use.
#include "cli/commands/request.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/utf8.h"

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
