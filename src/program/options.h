// The command line. One table of options, and the axes of the operations, make the parser, `spbench
// help`, and the tests' check that the README names every option.
#ifndef OPTIONS_H
#define OPTIONS_H

#include "base/words.h"
#include "run/plan.h"

enum command {
    COMMAND_RUN,
    COMMAND_LIST,
    COMMAND_INFO,
    COMMAND_GEN,
    COMMAND_ROOF,
    COMMAND_SWEEP,
    COMMAND_WORKER, // of a sweep: its options are the sweep's
    COMMAND_HELP,
};

// What a sweep does beside what a run does.
struct sweep_options {
    double timeout_ms;     // for a case, or for reading a matrix
    int64_t memory_bytes;  // of the host, for a worker; 0: not given
    int runs;              // each case so many times
    int shard, shards;     // this part, from 1, of so many; 0: not given
    const char *sets;      // of a list, comma-separated; NULL: all
    const char *folder;    // of a list's matrices; NULL: not given
    const char *libraries; // files of cuSPARSE, comma-separated; NULL: none
    bool skip_missing, fresh, resume, retry, plan_only;
};

#define SETTINGS_MAX 32
#define AXES_ALL_MAX 8 // of all operations together

// What the command line asked for. Text points into argv.
struct options {
    enum command command;
    const char *op;                        // name, NULL: not given
    const char *alg;                       // names and patterns, comma-separated
    const char *device;                    // auto, cpu, cuda, cuda:N; of a sweep as in places.h
    const char *output;                    // NULL: not given
    struct axis_values axes[AXES_ALL_MAX]; // by axis_all()
    enum prec precs[2];
    int prec_count;
    struct timing_rule rule;
    enum check_mode check;
    struct option_setting settings[SETTINGS_MAX];
    char setting_names[SETTINGS_MAX][WORD_MAX]; // what settings[].name points to
    int setting_count;
    int threads; // 0: not given
    uint64_t seed;
    bool append, quiet, verbose, model, counters, profile, help, version;
    struct sweep_options sweep;
    const char *model_word; // the last option that info takes for its models alone; NULL: none
    char **operands;        // what is no option, size operand_count
    int operand_count;
};

// Parses argv[0 .. argc), the words after the command. ERR_USAGE names the mistake.
int options_parse(struct options *o, enum command command, const char *command_name, int argc,
                  char **argv);
void options_free(struct options *o);
// One line for each option of a command, for its help. False if it has none.
bool options_help(enum command command);

// The i-th axis of all that operations have, each once; NULL after the last.
const struct axis *axis_all(int i);
// "spmm and sddmm": the operations that have an axis.
const char *axis_ops(const struct axis *axis, char text[64]);

#endif
