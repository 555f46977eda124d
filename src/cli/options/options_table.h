// Table of options, and its users:
//   options.c        the table
//   options_parse.c  parser of the command line
//   option_values.c  parsers of values
//   options_help.c   help, completion, manual page
#ifndef OPTIONS_TABLE_H
#define OPTIONS_TABLE_H

#include "cli/options/options.h"

#define RUN    (BIT(COMMAND_RUN) | SWEEP)
#define ALONE  BIT(COMMAND_RUN) // not of a sweep's workers
#define PASSED BIT(30)          // passed on to measuring processes
#define SWEEP  (BIT(COMMAND_SWEEP) | BIT(COMMAND_WORKER))
#define INFO   BIT(COMMAND_INFO)
#define LIST   BIT(COMMAND_LIST)
#define ADVISE BIT(COMMAND_ADVISE)
#define NEW    BIT(COMMAND_NEW_KERNEL)
#define GEN    BIT(COMMAND_GEN)
#define ROOF   BIT(COMMAND_ROOF)
#define DOCTOR BIT(COMMAND_DOCTOR)
#define ALL    ~0u
#define MODEL  (INFO | BIT(31)) // options that only models of info use

#define CONFORM BIT(COMMAND_CONFORM)
#define COMPARE BIT(COMMAND_COMPARE)
#define REPORT  BIT(COMMAND_REPORT)
#define EACH    (RUN | COMPARE | PASSED)

enum option_kind {
    OPTION_VALUE, // a single value
    OPTION_NAME,  // any text, never a list
    OPTION_LIST,  // a further value is added
};

struct option {
    const char *name;  // without its dash
    const char *value; // value in the help; NULL: a flag
    const char *about; // description with the default, a line
    unsigned commands; // commands that take the option, see the bits above
    int (*parse)(struct options *o, const struct option *self, const char *text); // NULL: a flag
    size_t field;             // offset of the value in struct options, if parse() needs it
    int64_t least, most;      // limits of a number
    const char *const *words; // words that the option accepts, ended by NULL; NULL: not a list
    enum option_kind kind;
    bool (*known)(const char *word); // returns true if a word may be a value; NULL: parse() decides
};

// Returns row i; NULL after the last.
const struct option *option_at(int i);
extern const int option_count; // number of rows
bool takes_axis(enum command command, const struct axis *axis);

#endif
