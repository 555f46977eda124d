#include "algos/renamed.h"

#include <string.h>

#include "base/base.h"

static const struct {
    const char *op, *algo, *before, *name;
} list[] = {
#define OPTION(op, algo, before, name) {#op, algo, before, name},
#define FIGURE(op, algo, before, name)
#include "algos/renamed.def"
#undef OPTION
#undef FIGURE
};

const char *renamed_option(const char *op, const char *algo, const char *name)
{
    for (int i = 0; i < COUNT(list); i++)
        if (!strcmp(list[i].before, name) && !strcmp(list[i].algo, algo) && !strcmp(list[i].op, op))
            return list[i].name;
    return name;
}
