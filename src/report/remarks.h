// Remarks of a table: the text of the column check, words in place of numbers, and lines below the
// table.
#ifndef REMARKS_H
#define REMARKS_H

#include "report/columns.h"

// Returns the remark for a text stat of an algorithm: "aspt_refused" with "no memory" gives "aspt
// refused: no memory".
#define REMARK_TEXT_MAX 96
const char *remark_stat(const char *name, const char *value, char text[REMARK_TEXT_MAX]);

// Returns the check with its remarks, or the status with its reason, in x->room.
const char *remarks_text(struct table_row *x);
// Calls group() and show() for the remarks, as columns_each() does for the columns.
void remarks_each(void (*group)(const char *title), void (*show)(const struct column_help *s));

#endif
