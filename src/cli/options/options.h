// The command line. One table of options, and the axes of the operations, make the parser, `spbench
// help`, and the tests' check that the README names every option.
#ifndef OPTIONS_H
#define OPTIONS_H

#include "base/words.h"
#include "bench/plan.h"
#include "cli/options/commands.h"
#include "compare/summary.h"

// What a sweep does beside what a run does.
struct sweep_options {
    double timeout_ms;     // for a case, or for reading a matrix
    int64_t memory_bytes;  // of the host, for a worker; 0: not given
    int shard, shards;     // this part, from 1, of so many; 0: not given
    const char *sets;      // of a list, comma-separated; NULL: all
    const char *folder;    // of a list's matrices; NULL: not given
    const char *libraries; // files of cuSPARSE, comma-separated; NULL: none
    bool skip_missing, fresh, resume, retry, plan_only;
};

#define OPTIONS_MAX  64 // of all commands together
#define SETTINGS_MAX 64 // values of -opt
#define AXES_ALL_MAX 8  // of all operations together

// What the command line asked for. Text points into argv.
struct options {
    enum command command;
    const char *op;                        // name, NULL: not given
    const char *alg;                       // names and patterns, comma-separated
    char *algs;                            // owned: what several -alg come to; NULL: none was given
    const char *device;                    // auto, cpu, cuda, cuda:N; of a sweep as in places.h
    const char *output;                    // NULL: not given
    struct axis_values axes[AXES_ALL_MAX]; // by axis_all()
    struct axis_values prec_values;        // of -prec, as given
    enum prec precs[2];
    int prec_count;
    struct timing_rule rule;
    enum check_mode check;
    struct option_setting settings[SETTINGS_MAX]; // a name with several values comes several times
    char setting_names[SETTINGS_MAX][WORD_MAX];   // what settings[].name points to
    int setting_count;
    int threads; // 0: not given
    uint64_t seed;
    bool no_cache; // of parsed matrices
    bool append, quiet, verbose, model, counters, profile, help, version;
    struct sweep_options sweep;
    // Options of compare and selftest; `runs` of a sweep as well, `format` of report.
    const char *format, *ab, *keep; // NULL: not given
    enum timing_kind kind;          // of the times that are compared; a column of a run's table
    double threshold, plant;        // percent
    int runs, consecutive;          // runs 0: until no case is unclear
    double budget_ms;               // 0: not given
    bool history, until_decided;
    const char *matrix, *baseline; // of report; NULL: not given
    enum summary_sort sort;
    const char **passed; // words of options that the processes get which measure, size passed_count
    int passed_count;
    const char *given[OPTIONS_MAX]; // the text of each option of the table; NULL: there was none
    const char *model_word; // the last option that info takes for its models alone; NULL: none
    char **operands;        // what is no option, size operand_count
    int operand_count;
};

// Parses argv[0 .. argc), the words after the command. ERR_USAGE names the mistake.
int options_parse(struct options *o, enum command command, const char *command_name, int argc,
                  char **argv);
void options_free(struct options *o);
// An option, or an axis, as help, completion and the manual page show it.
struct option_shown {
    const char *name;        // without its dash
    const char *value;       // what follows it; NULL: nothing does
    char about[256];         // a line
    const struct axis *axis; // NULL: it is no axis
};
// The i-th that a command takes; false after the last.
bool option_show(enum command command, int i, struct option_shown *s);
// Returns true if a command ahead of the i-th that help shows takes an option of this name.
bool option_shown_before(int i, const char *name);
// One line for each option of a command, for its help.
void options_help(enum command command);
// Calls add() with each word that the option takes; what takes numbers or files has none.
void option_words(const struct option_shown *s, void (*add)(void *to, const char *word), void *to);

// The same for -alg with an operation; NULL: with any.
void algorithm_words(const struct op *op, void (*add)(void *to, const char *word), void *to);

// The i-th axis of all that operations have, each once; NULL after the last.
const struct axis *axis_all(int i);
// "spmm and sddmm": the operations that have an axis.
const char *axis_ops(const struct axis *axis, char text[64]);

#endif
