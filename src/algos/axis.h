// An axis: what tells the cases of an operation apart besides the precision, such as the columns of
// its dense operands. It is an option of the command line, a field of each record, and a column of
// the table. Values are whole numbers: numbers themselves, or places in a list of words.
#ifndef AXIS_H
#define AXIS_H

#include "base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct axis {
    const char *name;         // as in the option -name, and in records
    const char *values;       // for the help: NUMBERS, NAMES; NULL: one value, which is no range
    const char *about;        // for the help, no default, no full stop
    const char *const *words; // NULL: numbers; ends with NULL
    int64_t min, max;         // of numbers
    int64_t standard;         // where the option is not given
    bool quiet;               // the table has no column for it while it is the standard
    const int64_t *tried;     // by the tests, ends with -1; of numbers. Words are all tried
};

// "64", "row".
const char *axis_text(const struct axis *axis, int64_t value, char text[32]);
// The place of a word, or -1.
int64_t axis_word(const struct axis *axis, const char *word);
// The next value that the tests try after the first `done` ones; false if there is none.
bool axis_try(const struct axis *axis, int done, int64_t *value);

// The values that the option of an axis gives: a list, each once.
#define AXIS_VALUES_MAX 64
struct axis_values {
    const char *text; // as given; NULL: not given
    int count;
    int64_t value[AXIS_VALUES_MAX];
};
// Adds a value that is not there. ERR_USAGE if there is no room.
int axis_values_add(struct axis_values *v, const struct axis *axis, int64_t value);
// Parses a comma-separated list. An item of a list of numbers is a number or a range:
// FIRST:LAST:STEP adds STEP, FIRST:LAST:*FACTOR multiplies, up to LAST at most. ERR_USAGE says what
// is wrong with the list.
int axis_parse(const struct axis *axis, const char *text, struct axis_values *out);

#ifdef __cplusplus
}
#endif
#endif
