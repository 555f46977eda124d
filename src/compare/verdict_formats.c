#include "compare/verdict_text.h"

#include <stddef.h>

const struct verdict_format verdict_formats[] = {
    {"table", verdict_table}, {"json", verdict_json}, {"markdown", verdict_markdown},
    {"junit", verdict_junit}, {NULL, NULL},
};
