// List of commands, for help, completion, the manual page and messages.
#ifndef COMMANDS_H
#define COMMANDS_H

#include <stdbool.h>

// about the whole program
#define COMMAND_LINE "measures sparse matrix multiplication on GPUs and CPUs"
#define HELP_COLUMNS "columns" // a help topic, not a command

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
    COMMAND_SWEEP,
    COMMAND_ADVISE,
    COMMAND_CONFORM,
    COMMAND_NEW_KERNEL,
    COMMAND_WORKER, // worker process of a sweep, with the sweep's options
    COMMAND_HELP,
};

struct command_info {
    enum command id;
    const char *name, *operands, *about; // about NULL: an internal command, not shown
    int least, most;                     // number of operands
    const char *takes; // word for an operand that is a matrix; NULL: operands are no matrices
    const char *forms, *notes; // help before and after the description of matrices; NULL: none
    bool records;              // writes records: an error if the reader of stdout exits
};

// Returns shown command i; NULL after the last.
const struct command_info *command_shown(int i);
// Returns the command of this name; NULL: none.
const struct command_info *command_find(const char *name);

#endif
