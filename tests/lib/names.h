// Texts of lists: of operations, axes, algorithms and options.
#ifndef NAMES_H
#define NAMES_H

#include <stdbool.h>
#include <string.h>

// A word that is typed after a dash or in -opt, and is a name in records.
static bool is_name(const char *name)
{
    size_t length = name ? strlen(name) : 0;
    return length && length < 24 && name[0] >= 'a' && name[0] <= 'z' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") == length;
}

static bool is_line(const char *text)
{
    return text && text[0] && !strchr(text, '\n') && text[strlen(text) - 1] != '.';
}

#endif
