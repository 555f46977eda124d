#include "compare/report.h"

#include <stddef.h>

const struct report_format report_formats[] = {
    {"table", report_table}, {"json", report_json}, {"markdown", report_markdown},
    {"junit", report_junit}, {NULL, NULL},
};
