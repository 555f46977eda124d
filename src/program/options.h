// The command line. One table of options makes the parser, `spbench help`, and the tests' check
// that the README names every option.
#ifndef OPTIONS_H
#define OPTIONS_H

#include "run/bench.h"

enum command {
    COMMAND_RUN,
    COMMAND_LIST,
    COMMAND_INFO,
    COMMAND_GEN,
    COMMAND_ROOF,
    COMMAND_HELP,
};

#define KS_MAX       64
#define SETTINGS_MAX 32

// What the command line asked for. Text points into argv.
struct options {
    const char *op;         // name, NULL: not given
    const char *alg;        // names and patterns, comma-separated
    const char *mul;        // NULL: not given
    const char *k, *layout; // as given, NULL: not given
    const char *device;     // auto, cpu, cuda, cuda:N
    const char *output;     // NULL: not given
    int64_t ks[KS_MAX];
    int k_count;
    enum prec precs[2];
    int prec_count;
    enum layout layouts[2];
    int layout_count;
    struct timing_rule rule;
    enum check_mode check;
    struct option_setting settings[SETTINGS_MAX];
    char setting_names[SETTINGS_MAX][64]; // what settings[].name points to
    int setting_count;
    int threads; // 0: not given
    uint64_t seed;
    bool append, quiet, verbose, help, version;
    char **operands; // what is no option, size operand_count
    int operand_count;
};

// Parses argv[0 .. argc), the words after the command. ERR_USAGE names the mistake.
int options_parse(struct options *o, enum command command, const char *command_name, int argc,
                  char **argv);
void options_free(struct options *o);
// One line for each option of a command, for its help. False if it has none.
bool options_help(enum command command);

// The next item of the comma-separated list at *rest, which moves past it. 1: there is one, 0: the
// list is at its end, -1: the item is empty or longer than any name.
int list_next(const char **rest, char item[64]);

#endif
