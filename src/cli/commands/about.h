// Exit statuses of the commands, for help and the manual page.
#ifndef ABOUT_H
#define ABOUT_H

// Exit status of a command. `command` NULL: of all commands without a row for this status.
struct about_exit {
    const char *command;
    int status;
    const char *about; // NULL ends the table
};
// Returns row i of a command, sorted by status; NULL after the last. `command` NULL selects the
// commands without rows of their own.
const struct about_exit *about_exit_of(const char *command, int i);

#endif
