// The list of commands: what help, completion, the manual page and messages say about each.
#ifndef COMMANDS_H
#define COMMANDS_H

#include <stdbool.h>

#define COMMAND_LINE "measures sparse matrix multiplication on GPUs and CPUs" // the whole program
#define HELP_COLUMNS "columns" // a topic of help that is no command

enum command {
    COMMAND_RUN,
    COMMAND_LIST,
    COMMAND_INFO,
    COMMAND_GEN,
    COMMAND_ROOF,
    COMMAND_DOCTOR,
    COMMAND_COMPLETION,
    COMMAND_MAN,
    COMMAND_COMPARE,
    COMMAND_REPORT,
    COMMAND_SELFTEST,
    COMMAND_SWEEP,
    COMMAND_WORKER, // of a sweep: its options are the sweep's
    COMMAND_HELP,
};

struct command_info {
    enum command id;
    const char *name, *operands, *about; // about: NULL: not shown, for the program itself
    int least, most;                     // number of operands
    const char *takes; // the word for an operand that is a matrix; NULL: operands are no matrices
    const char *forms, *notes; // help text before and after the description of matrices; NULL: none
    bool records;              // the output is records: an error if nobody reads them
};

// Returns the i-th command in the order of the list; NULL after the last.
const struct command_info *command_at(int i);
// Returns the i-th command that help shows; NULL after the last.
const struct command_info *command_shown(int i);
// Returns the command of this name; NULL: there is none.
const struct command_info *command_find(const char *name);

#endif
