// Commands of the command line. A command takes the parsed options and returns 0 or an error.
// Results that change the exit status without ending the command are noted in the outcome.
#ifndef REQUEST_H
#define REQUEST_H

#include "cli/options/bench_setup.h"
#include "cli/options/commands.h"
#include "compare/compare.h"
#include "records/record.h"
#include "sweep/worker_config.h"

// Results that change the exit status of a command without an error.
struct outcome {
    bool
        bad_result; // a case was wrong, failed or out of memory, or the machine spoils measurements
    bool bad_spec;  // the spec of a generated matrix is wrong
    bool bad_matrix;            // a matrix could not be read
    bool exit_now;              // the process may end without freeing memory
    enum conclusion conclusion; // set by compare
};

struct request {
    const struct options *o;
    int argc; // the whole command line, for the environment record
    char **argv;
    bool named; // the first word is the command; false: `run` is implied
    struct outcome *outcome;
};

int cli_run(const struct request *q);
int cli_list(const struct request *q);
int cli_info(const struct request *q);
int cli_gen(const struct request *q);
int cli_roof(const struct request *q);
int cli_doctor(const struct request *q);
int cli_completion(const struct request *q);
int cli_man(const struct request *q);
int cli_compare(const struct request *q);
int cli_report(const struct request *q);
int cli_sweep(const struct request *q); // also run
int cli_advise(const struct request *q);
int cli_new_kernel(const struct request *q);
int cli_conform(const struct request *q);

// Predictions of the models for a matrix, from the stored ceilings of the device (-model). Close it
// after an error too.
struct model_view {
    const struct options *o;
    struct bench_setup c;
    struct roof roof; // zero if none is stored
    struct cutting cut;
};
int cli_model_open(struct model_view *v, const struct options *o);
int cli_model_print(const struct model_view *v, const struct matrix *M);
void cli_model_close(struct model_view *v);

// Prints why a matrix could not be loaded, and notes this in `outcome`. Returns ERR_INTERRUPTED
// after an interrupt, else OK.
int cli_load_failed(int err, struct outcome *outcome);
// Returns true if stdout is neither a terminal nor the same file as stderr. Records on stdout then
// do not mix with the table and messages.
bool cli_stdout_is_apart(void);
// Prints "running on the CPU: REASON" if -device auto chose the CPU. Prints nothing with -q.
void cli_print_device(const struct bench_setup *c, const struct options *o);
// Returns an error if there are cases and all are unsupported. `first` is the first reason; NULL:
// the reasons are in the records.
int cli_check_measured(int64_t cases, int64_t unsupported, const char *first);
// Prints the number of records replaced in the output file, and the bytes cut off its end. Prints
// nothing with -q.
void cli_print_replaced(const struct record_file *out, const struct options *o);

// Adds the algorithms of all plug-ins to the list of algorithms: a process of its own loads each
// file and describes it. Sets o->plugin_texts.
int cli_learn_plugins(struct options *o);

#define LIBRARIES_MAX 15

// Adds the full path of each file of a comma-separated list, as the loader knows the file. The
// files replace a vendor's library. `option`: name of the option. `preload`: for LD_PRELOAD, which
// takes no blank and no colon.
int cli_add_libraries(const char *option, const char *list, bool preload, struct texts *out);

// Refuses a report file that is an input or holds records.
int cli_check_report(const struct options *o);
// Calls `write` with the stream of -o, or stdout. Replaces the file of -o.
int cli_write_report(const struct options *o, int (*write)(FILE *out, const void *arg),
                     const void *arg);

#endif
