// Texts about the whole program for help, the manual page and the doctor.
#ifndef ABOUT_H
#define ABOUT_H

#include <stdbool.h>

// Paragraphs of the description, ended by NULL. Help appends the kinds of synthetic matrices.
extern const char *const about_description[];

// Exit status of a command. `command` NULL: of all commands without a row for this status.
struct about_exit {
    const char *command;
    int status;
    const char *about; // NULL ends the table
};
extern const struct about_exit about_exits[];
// Returns row i of a command, sorted by status; NULL after the last. `command` NULL selects the
// commands without rows of their own.
const struct about_exit *about_exit_of(const char *command, int i);

struct about_file {
    const char *path, *about;
};
extern const struct about_file about_files[];

// Examples of command lines, each with a description.
struct about_example {
    const char *line, *about;
};
extern const struct about_example about_examples[];

#endif
