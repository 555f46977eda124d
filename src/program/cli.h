// The sub-commands. Each takes the parsed options and returns 0 or an error; what does not end a
// command but counts for the exit status is noted in the outcome.
#ifndef CLI_H
#define CLI_H

#include "program/choose.h"
#include "run/record.h"

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

struct command_info {
    enum command id;
    const char *name, *operands, *about; // about: NULL: in no help, for the program itself
    int (*run)(const struct request *q);
    int least, most;   // operands
    const char *takes; // the word for one of them, which is a matrix; NULL: they are none
    // What its help says before, and behind, what matrices are; NULL: nothing.
    const char *forms, *notes;
    bool records; // its output is records: of those that nobody took something is lost
};
// The i-th command that help shows; NULL after the last.
const struct command_info *cli_command(int i);
// Whether one of those before the i-th takes an option of this name: for lists that have it once.
bool cli_option_before(int i, const char *name);
#define COMMAND_LINE "measures sparse matrix multiplication on GPUs and CPUs" // what all of it does

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
    struct choice c;
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
void cli_tell_device(const struct choice *c, const struct options *o);
// OK unless all cases are unsupported, and there are some: then nothing was measured. `first` is
// the reason of the first; NULL: the records say why.
int cli_check_measured(int64_t cases, int64_t unsupported, const char *first);
// How many records of a file were replaced, and what was cut off its end, if anything was, and -q
// does not forbid it.
void cli_tell_file(const struct record_file *out, const struct options *o);

#endif
