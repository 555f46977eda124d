// Whole-number expressions of a kernel's description: sizes of grids and arguments.
//
//     (m * k + 255) / 256
//
// Operators are + - * / % and parentheses. / and % round towards 0. A name begins with a letter.
// Letters, digits and _ follow.
#ifndef EXPRESSION_H
#define EXPRESSION_H

#include "base/base.h"

struct expression_name {
    const char *name; // NULL ends a list
    int64_t value;
};
// Returns true if the text can be a name.
bool expression_is_name(const char *text);
// Computes the text. ERR_USAGE: the text is no expression, has an unknown name, divides by 0 or -1,
// or a value does not fit in 64 bits.
int expression_value(const char *text, const struct expression_name *names, int64_t *value);

#endif
