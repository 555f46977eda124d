// The sub-commands. Each takes the parsed options and returns 0 or an error; what does not end a
// command but counts for the exit status is noted in the outcome.
#ifndef CLI_H
#define CLI_H

#include "cli/options/bench_setup.h"
#include "cli/options/commands.h"
#include "records/record.h"

struct outcome {
    bool bad_case;    // a case was wrong, failed or did not fit in memory
    bool bad_spec;    // the spec of a generated matrix is wrong
    bool bad_matrix;  // a matrix could not be read
    bool bad_machine; // it would spoil a measurement
    // Of compare and selftest: their answer, and that there is none, as also after an error.
    bool regression, cannot_tell;
    bool at_once; // nothing is to be put in order: the process may end here
};

struct request {
    const struct options *o;
    int argc; // the whole command line, for the record of the environment
    char **argv;
    bool named; // the first word names the command; false: `run` is meant
    struct outcome *outcome;
};

// Parses the command line and runs its command. The caller prints fail_text().
int cli_main(int argc, char **argv, struct outcome *outcome);

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
int cli_selftest(const struct request *q);
int cli_sweep(const struct request *q);
int cli_worker(const struct request *q);

// What -model adds to the facts about a matrix: the predictions of each model, by the ceilings that
// are kept of the device. Made from the options, and closed, also after an error.
struct model_view {
    const struct options *o;
    struct bench_setup c;
    struct roof roof; // zero where nothing is kept
    struct cutting cut;
};
int cli_model_open(struct model_view *v, const struct options *o);
int cli_model_print(const struct model_view *v, const struct matrix *M);
void cli_model_close(struct model_view *v);

// Tells on stderr why a matrix could not be loaded, and notes it. ERR_INTERRUPTED is returned, for
// the others the command goes on.
int cli_load_failed(int err, struct outcome *outcome);
// Returns true if stdout is neither a terminal nor the file of stderr: records there do not mix
// with the table and with messages.
bool cli_stdout_is_apart(void);
// "running on the CPU: why", where -device auto came to that and -q does not forbid it.
void cli_tell_device(const struct bench_setup *c, const struct options *o);
// OK unless all cases are unsupported, and there are some: then nothing was measured. `first` is
// the reason of the first; NULL: the records say why.
int cli_check_measured(int64_t cases, int64_t unsupported, const char *first);
// How many records of a file were replaced, and what was cut off its end, if anything was, and -q
// does not forbid it.
void cli_tell_file(const struct record_file *out, const struct options *o);

#endif
