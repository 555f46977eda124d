// Options of the command line. The table of options and the axes of the operations define the
// parser, the help and the documents' tests.
#ifndef OPTIONS_H
#define OPTIONS_H

#include "base/words.h"
#include "bench/plan.h"
#include "cli/options/commands.h"
#include "report/summary.h"
#include "plugin/plugin.h"

// Action for a missing file, in the order of the words of -missing.
enum missing_files { MISSING_ERROR, MISSING_SKIP };

// Options of a sweep.
struct sweep_options {
    double timeout_ms;     // limit for a case, and for reading a matrix; 0: no limit
    int64_t memory_bytes;  // host memory limit of a worker; 0: not given
    int shard, shards;     // part `shard` (from 1) of `shards`; 0: not given
    const char *sets;      // sets of the list, comma-separated; NULL: all
    const char *folder;    // folder of the list's matrices; NULL: not given
    const char *libraries; // cuSPARSE libraries, comma-separated; NULL: none
    enum missing_files missing;
    bool fresh, retry, plan_only;
};

#define OPTIONS_MAX  64 // over all commands
#define OPTS_MAX     64 // values of -opt

// Options of compare.
struct compare_options {
    const char *ab, *keep; // NULL: not given
    double threshold;      // percent
    int consecutive;
    bool history;
};

// Options of report.
struct report_options {
    const char *matrix, *baseline; // NULL: not given
    enum summary_sort sort;
};

// Flags of commands that measure. `no_cache`: parsed matrices are not cached.
struct run_options {
    bool append, counters, profile, no_cache;
};

// Options of new-kernel.
struct new_kernel_options {
    bool cpu, cuda;
    const char *cubin; // file of a compiled kernel; NULL: not given
};

// Options of conform.
struct conform_options {
    const char *traps; // names and patterns, comma-separated; NULL: all
    const char *mkl;   // MKL libraries, comma-separated; NULL: none
    bool full;
};

// Parsed command line. Texts point into argv.
struct options {
    enum command command;
    const char *op;     // name, NULL: not given
    const char *alg;    // names and patterns, comma-separated; NULL: conform without -alg
    char *algs;         // owned: values of several -alg, joined; NULL: none
    const char *device; // auto, cpu, cuda, cuda:N; of a sweep as in worker_devices.h
    const char *output; // NULL: not given
    const char *format; // output format of compare or report, NULL: not given
    struct axis_values axes[AXES_ALL_MAX]; // indexed as axis_all()
    struct axis_values prec_values;        // -prec as given
    enum prec precs[PRECS];
    int prec_count;
    struct timing_rule rule;
    bool race;             // see bench/race.h
    enum timing_kind kind; // times to compare, or a column in the table of run
    enum check_mode check;
    struct given_option opts[OPTS_MAX]; // a name with several values has several entries
    char opt_names[OPTS_MAX][WORD_MAX]; // text of opts[].name
    int opt_count;
    char *plugins[PLUGINS_MAX];             // files of -plugin, size plugin_count; owned
    char *plugin_texts[PLUGINS_MAX];        // their descriptions, after cli_learn_plugins(); owned
    int plugin_count;
    int threads;      // OpenMP threads, 0: not given
    int runs;         // processes per case; 0: until no case is unclear
    double budget_ms; // of compare and advise; 0: not given
    uint64_t seed;
    bool quiet, verbose, help, version;
    struct run_options run;
    struct sweep_options sweep;
    struct compare_options compare;
    struct report_options report;
    struct conform_options conform;
    int64_t runs_planned;   // of advise; 0: not given
    bool model;             // of info
    const char *model_word; // of info: last option given that only models use; NULL: none
    struct new_kernel_options new_kernel;
    const char **passed; // options passed on to measuring processes, size passed_count
    int passed_count;
    const char *given[OPTIONS_MAX]; // text of each option in the table; NULL: not given
    char **operands;                // words that are no options, size operand_count
    int operand_count;
};

// Parses the words after the command, argv[0 .. argc). An ERR_USAGE message names the mistake.
int options_parse(struct options *o, enum command command, const char *command_name, int argc,
                  char **argv);
void options_free(struct options *o);
// An option or axis as shown by help, completion and the manual page.
struct option_shown {
    const char *name;        // without its dash
    const char *value;       // NULL: no value
    char about[256];         // a line
    const struct axis *axis; // NULL: an option
};
// Sets *s to option i of a command. Returns false after the last.
bool option_show(enum command command, int i, struct option_shown *s);
// Returns true if an earlier shown command than i takes an option of this name.
bool option_shown_before(int i, const char *name);
// Prints the options of a command, one line each.
void options_help(enum command command);
// Calls add() with each word that the option accepts. Numbers and files have none.
void option_words(const struct option_shown *s, void (*add)(void *to, const char *word), void *to);

// Calls add() with each algorithm of an operation; NULL: of all operations.
void algorithm_words(const struct op *op, void (*add)(void *to, const char *word), void *to);

#endif
