// What is to be known of the program beside its commands and options, for help, the manual page and
// the doctor: one list of each.
#ifndef ABOUT_H
#define ABOUT_H

#include <stdbool.h>

// Paragraphs; after the last one the kinds of synthetic matrices are listed. Ends with a NULL.
extern const char *const about_description[];

// How commands end: of one command, or, with NULL, of all that have no row of their own for it.
struct about_exit {
    const char *command;
    int status;
    const char *about; // NULL after the last
};
extern const struct about_exit about_exits[];
// Returns the i-th row of a command, by status; NULL after the last. A command without rows of its
// own has none; `command` NULL stands for all such commands.
const struct about_exit *about_exit_of(const char *command, int i);

struct about_file {
    const char *path, *about;
};
extern const struct about_file about_files[];

// Command lines that show the use of it, and what they do.
struct about_example {
    const char *line, *about;
};
extern const struct about_example about_examples[];

#endif
