// Axes. An axis is a number or word that tells cases of an operation apart, such as the columns of
// the dense operands. Each axis is an option of the command line, a field of each record, and a
// column of the table. Values are whole numbers, or indices into a list of words.
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
    int64_t min, max;         // limits of numbers
    int64_t standard;         // value if the option is not given
    bool quiet;               // the table has no column for the standard value
    bool optional;            // keys and records have no field for the standard value
    const int64_t *products;  // by word: the first word with the same result; NULL: all differ
    const int64_t *tried;     // numbers that tests try, ends with -1; tests try all words
};

// Returns the value as text, "64" or "row".
const char *axis_text(const struct axis *axis, int64_t value, char text[32]);
// Returns the index of a word, or -1.
int64_t axis_word(const struct axis *axis, const char *word);
// Returns the first value that gives the same product as `value`.
int64_t axis_product(const struct axis *axis, int64_t value);
// Writes the values that give the same result as `value`: "flag,copy", "no", "64".
#define AXIS_PRODUCT_TEXT 64
const char *axis_product_text(const struct axis *axis, int64_t value, char text[AXIS_PRODUCT_TEXT]);
// Returns true if another value gives the same result.
bool axis_has_ways(const struct axis *axis, int64_t value);
// Returns true if keys and records have a field for the value.
bool axis_is_written(const struct axis *axis, int64_t value);
// Sets *value to value number `done` that tests try. Returns false after the last.
bool axis_try(const struct axis *axis, int done, int64_t *value);

// Values of an axis from the command line, without duplicates.
#define AXIS_VALUES_MAX 64
struct axis_values {
    const char *text; // as given; NULL: not given
    int count;
    int64_t value[AXIS_VALUES_MAX];
};
// Adds a value unless the list has it. Returns ERR_USAGE if the list is full.
int axis_values_add(struct axis_values *v, const struct axis *axis, int64_t value);
// Parses a comma-separated list. An item of a list of numbers is a number or a range:
// FIRST:LAST:STEP adds STEP, FIRST:LAST:*FACTOR multiplies, up to LAST. Returns ERR_USAGE, with the
// reason, if the list is wrong.
int axis_parse(const struct axis *axis, const char *text, struct axis_values *out);

#ifdef __cplusplus
}
#endif
#endif
