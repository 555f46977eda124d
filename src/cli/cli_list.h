// Descriptions of `spbench list NAME`.
#ifndef CLI_LIST_H
#define CLI_LIST_H

#include "base/suggest.h"
#include "cli/cli.h"

// Prints the algorithms and formats of this name or pattern; false if there are none.
bool list_one(const char *wanted);
// Offers all valid names as suggestions.
void list_offer(struct suggestion *s);

#endif
