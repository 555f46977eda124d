// The parent's side of spbench conform: results of the exact cases and of the traps, by algorithm
// and library. Each row has a worker process of its own, and another one after a crash.
#ifndef CONFORM_ROWS_H
#define CONFORM_ROWS_H

#include "exact/traps.h"
#include "sweep/worker_config.h"

// Results of the cases of a trap, or of the exact cases. `input` and `why`: of the smallest input
// with the result `result`; "": there is nothing to tell.
struct conform_part {
    enum exact_result result;
    long long size;
    char input[FAIL_TEXT_MAX], why[FAIL_TEXT_MAX];
};

#define CONFORM_PARTS (1 + TRAPS_MAX)
struct conform_row {
    const struct algo_entry *entry;
    const char *file;            // library that replaces the vendor's; NULL: none
    bool preload;                // by LD_PRELOAD
    char *setting;               // NAME=VALUE that names the file to the worker; owned; NULL: none
    char library[128];           // version, as the worker reports; "": none
    char skipped[FAIL_TEXT_MAX]; // reason why nothing was run; "": something was
    long long count[EXACT_RESULTS];           // exact cases by result
    struct conform_part parts[CONFORM_PARTS]; // [0]: the exact cases, [1 + i]: traps[i]
};

// Runs all cases of a row. `config`: the workers. ERR_USAGE and ERR_INTERRUPTED end the command.
int conform_run(const struct worker_config *config, double timeout_ms, struct conform_row *row);
// Returns the name of part i, such as "exact" or "repeat".
const char *conform_part_name(int i);
// Returns the word for the result of part i, such as "ok".
const char *conform_word(const struct conform_row *row, int i);
// Returns true if something is wrong, has failed, crashed or hung, or breaks a promise.
bool conform_is_bad(const struct conform_row *row);

#endif
