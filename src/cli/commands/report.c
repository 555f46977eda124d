// spbench report: prints tables and summaries from records.
#include "cli/commands/request.h"

#include <string.h>

#include "cli/options/option_values.h"
#include "report/view.h"

struct view_format {
    const char *ending; // extension of files in this format
    int (*write)(FILE *out, const struct report_view *v);
};
// By enum view.
static const struct view_format view_formats[VIEW_FORMATS] = {
    [VIEW_TABLE] = {".txt", view_table},
    [VIEW_MARKDOWN] = {".md", view_markdown},
    [VIEW_CSV] = {".csv", view_csv},
    [VIEW_JSON] = {".json", view_json},
};

// Returns the format named by -format, or by the file extension of -o.
static const struct view_format *choose_format(const struct options *o)
{
    size_t length = o->output ? strlen(o->output) : 0;
    for (int i = 0; i < VIEW_FORMATS; i++) {
        const struct view_format *f = &view_formats[i];
        size_t tail = strlen(f->ending);
        bool ends = length > tail && !strcmp(o->output + length - tail, f->ending);
        if (o->format ? !strcmp(o->format, view_names[i]) : ends) return f;
    }
    return view_formats;
}

struct report {
    const struct view_format *format;
    struct report_view view;
};

static int write_report(FILE *out, const void *arg)
{
    const struct report *report = arg;
    return report->format->write(out, &report->view);
}

int cli_report(const struct request *q)
{
    const struct options *o = q->o;
    struct report report = {.format = choose_format(o)};
    struct summary_rule rule = {
        .algs = o->algs, .baseline = o->report.baseline, .sort = o->report.sort};
    int err = cli_check_report(o);
    for (int i = 0; i < o->operand_count && !err; i++)
        err = collect_file(&report.view.c, o->operands[i]);
    if (!err) err = view_make(&report.view, o->report.matrix, &rule);
    if (!err) err = cli_write_report(o, write_report, &report);
    view_free(&report.view);
    return err;
}
