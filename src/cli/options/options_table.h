// The table of options and what goes by it:
//
//   options.c           the table
//   options_parse.c     parses a command line, word by word
//   option_values.c     parses the value of each option
//   options_help.c      text of options for help, completion and the manual page
#ifndef OPTIONS_TABLE_H
#define OPTIONS_TABLE_H

#include "cli/options/options.h"

#define RUN    (BIT(COMMAND_RUN) | SWEEP)
#define ALONE  BIT(COMMAND_RUN) // not of its workers
#define SWEEP  (BIT(COMMAND_SWEEP) | BIT(COMMAND_WORKER))
#define INFO   BIT(COMMAND_INFO)
#define GEN    BIT(COMMAND_GEN)
#define ROOF   BIT(COMMAND_ROOF)
#define DOCTOR BIT(COMMAND_DOCTOR)
#define ALL    ~0u
#define MODEL  (INFO | BIT(31)) // of info, for its models alone

// Options of run, which are passed on to the processes that run, have BIT(30).
#define COMPARE  BIT(COMMAND_COMPARE)
#define SELFTEST BIT(COMMAND_SELFTEST)
#define REPORT   BIT(COMMAND_REPORT)
#define EACH     (RUN | COMPARE | SELFTEST | BIT(30))

enum option_kind {
    OPTION_VALUE, // one value
    OPTION_NAME,  // any text, and no list
    OPTION_LIST,  // given again, it adds to what is there
};

struct option {
    const char *name;  // without its dash
    const char *value; // what follows it, for the help; NULL: nothing does, it is a flag
    const char *about; // a line, with the default
    unsigned commands; // who takes it, of the bits above
    int (*parse)(struct options *o, const struct option *self, const char *text); // NULL: a flag
    size_t flag; // of a flag: where its bool is in struct options
    enum option_kind kind;
    bool (*known)(const char *word); // whether a word may be a value; NULL: parse() says
};

// The i-th row; NULL after the last.
const struct option *option_at(int i);
extern const int option_count; // rows
bool takes_axis(enum command command, const struct axis *axis);
// What options take that are no axes: words, ended by a NULL.
extern const char *const cache_words[], *const launch_words[], *const check_words[],
                                                                   *const missing_words[],
    *const until_words[];

// For functions of rows: one whole number, one of some words, and a time, from text in seconds.
int parse_whole(const struct option *self, const char *text, int64_t least, int64_t most,
                int64_t *value);
int parse_word(const struct option *self, const char *text, const char *const *words,
               int64_t *place);
int parse_seconds(const struct option *self, const char *text, double *ms);

#endif
