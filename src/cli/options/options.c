// Table of options, and list of axes.
#include "cli/options/options.h"

#include <stddef.h>
#include <string.h>

#include "cli/options/bench_setup.h"
#include "cli/options/option_values.h"

// A flag is a bool of struct options, given by its offset.
#define FLAG(field) .flag = offsetof(struct options, field)

// To add an option: a field in struct options, a parser in option_values.c, a row here. A flag
// needs no parser.
static const struct option table[] = {
    {"op", "NAME", NULL, EACH, .parse = parse_op},
    {"alg", "NAMES", "algorithms: names, patterns such as 'cusparse*', or all (default)",
     EACH | REPORT, .parse = parse_alg, .kind = OPTION_LIST, .known = bench_setup_is_algorithm},
    {"model", NULL, "add what models predict of SpMM by the pattern; -k to -opt are for that", INFO,
     FLAG(model)},
    {"prec", "NAMES", "precisions: f32 (default), f64", EACH | MODEL, .parse = parse_prec,
     .kind = OPTION_LIST},
    {"device", "NAME", NULL, EACH | ROOF | DOCTOR | MODEL, .parse = parse_device},
    {"reps", "N", "exactly N samples; left out: until the median is known to 0.5 %", EACH,
     .parse = parse_reps},
    {"warmup", "N", "exactly N runs before the samples; left out: 3 and 50 ms, in 1 s", EACH,
     .parse = parse_warmup},
    {"time-limit", "SECONDS", NULL, EACH, .parse = parse_time_limit},
    {"cache", "NAME", "warm (default), or cold: flushed before each sample", EACH,
     .parse = parse_cache},
    {"launch", "NAME", "graph (default): short runs as one CUDA graph where they can be, or stream",
     EACH, .parse = parse_launch},
    {"time", "NAME", "separate (default), or back-to-back: a column more; what compare judges by",
     ALONE | COMPARE, .parse = parse_time},
    {"check", "NAME", "auto (default), full: every element, sample: chosen rows, off", EACH,
     .parse = parse_check},
    {"counters", NULL, "count the bytes that a run moves, by ncu in a process of its own", RUN,
     FLAG(counters)},
    {"profile", NULL, "for ncu and nsys: one run between their marks, nothing is measured", ALONE,
     FLAG(profile)},
    {"opt", "NAME=VALUES", "parameter of the algorithms that have it; see list ALGORITHM",
     EACH | MODEL, .parse = parse_setting, .kind = OPTION_LIST},
    {"threads", "N", "threads of the CPU algorithms (default: all)", EACH | ROOF | DOCTOR,
     .parse = parse_threads},
    {"seed", "N", "of all random numbers (default 1)", EACH | INFO | GEN, .parse = parse_seed},
    {"threshold", "PERCENT", "a change by less is none (default 3)", COMPARE | SELFTEST,
     .parse = compare_parse_threshold},
    {"matrix", "PATTERNS", "only these matrices: names, patterns such as 'fem*'", REPORT,
     .parse = report_parse_matrix, .kind = OPTION_NAME},
    {"baseline", "NAME",
     "of speedups: an algorithm or a vendor; left out: a vendor's best, else all", REPORT,
     .parse = report_parse_baseline, .kind = OPTION_NAME},
    {"sort", "NAME", "lines by name, time or speedup; left out: as in -alg, else as in the records",
     REPORT, .parse = report_parse_sort},
    {"format", "NAME", NULL, COMPARE | REPORT, .parse = compare_parse_format},
    {"ab", "PROGRAM", "measure that program (OLD) and this one (NEW) by turns, on MATRIX...",
     COMPARE, .parse = compare_parse_ab, .kind = OPTION_NAME},
    {"until", "NAME", "decided (default): add processes until no case is unclear", COMPARE,
     .parse = compare_parse_until},
    {"budget", "SECONDS", "end the measurement after this time; left out: 300, with -runs no limit",
     COMPARE, .parse = compare_parse_budget},
    {"runs", "N", NULL, COMPARE | SELFTEST | SWEEP, .parse = compare_parse_runs},
    {"keep", "PREFIX", "keep the records: PREFIX.old.jsonl, PREFIX.new.jsonl", COMPARE | SELFTEST,
     .parse = compare_parse_keep, .kind = OPTION_NAME},
    {"history", NULL, "the newest of FILES, or of a folder's .jsonl(.gz), against the older ones",
     COMPARE, FLAG(history)},
    {"consecutive", "N", "of a history: only what N files in a row show counts (default 2)",
     COMPARE, .parse = compare_parse_consecutive},
    {"plant", "PERCENT", "the slowdown that is to be found (default 5)", SELFTEST,
     .parse = compare_parse_plant},
    {"timeout", "SECONDS", "end a case, or the reading of a matrix, after so long (default 600)",
     SWEEP, .parse = parse_timeout},
    {"mem-limit", "SIZE", "host memory of a worker at most: 512M, 4G (default: what there is)",
     SWEEP, .parse = parse_mem_limit},
    {"resume", NULL, "go on with the file of -o: the default where it is there", SWEEP,
     FLAG(sweep.resume)},
    {"fresh", NULL, "begin anew, and replace the file of -o", SWEEP, FLAG(sweep.fresh)},
    {"retry", NULL, "measure again what is there, but is not ok", SWEEP, FLAG(sweep.retry)},
    {"shard", "I/N", "only the I-th of N parts of the matrices; cat joins their files", SWEEP,
     .parse = parse_shard},
    {"set", "SETS", "only these sets of a list", SWEEP, .parse = parse_sets},
    {"dir", "FOLDER", "where a list's matrices are (default: matrices/ beside it)", SWEEP,
     .parse = parse_folder},
    {"missing", "NAME", "of files that are not there: error (default), or skip", SWEEP,
     .parse = parse_missing},
    {"cusparse", "FILES", "measure cuSPARSE once more with each of these libcusparse.so", SWEEP,
     .parse = parse_libraries},
    {"n", NULL, "only tell what there would be to do, and about how long it takes", SWEEP,
     FLAG(sweep.plan_only)},
    {"o", "FILE", NULL, RUN | GEN | COMPARE | REPORT | DOCTOR, .parse = parse_output,
     .kind = OPTION_NAME},
    {"no-cache", NULL, "read matrix files anew, and keep no copy of what was read", EACH | INFO,
     FLAG(no_cache)},
    {"append", NULL, "add to the file of -o instead of replacing it", ALONE | DOCTOR, FLAG(append)},
    {"q", NULL, NULL, RUN | ROOF | COMPARE | SELFTEST | DOCTOR, FLAG(quiet)},
    {"v", NULL, "tell more: preparation, phases, samples, memory; of the roof: its ladder",
     RUN | ROOF, FLAG(verbose)},
    {"help", NULL, "show the help of the command", ALL, FLAG(help)},
    {"h", NULL, "the same as -help", ALL, FLAG(help)},
    {"version", NULL, "show the version", ALL, FLAG(version)},
};
#define TABLE_SIZE COUNT(table)
_Static_assert(TABLE_SIZE <= OPTIONS_MAX, "struct options has no room for so many");

const int option_count = TABLE_SIZE;
const struct option *option_at(int i) { return i < TABLE_SIZE ? &table[i] : NULL; }

const struct axis *axis_all(int i)
{
    const struct axis *seen[AXES_ALL_MAX];
    int count = 0;
    for (int x = 0; x < op_count; x++)
        for (int a = 0; ops[x]->axes[a]; a++) {
            bool known = false;
            for (int s = 0; s < count; s++) known |= seen[s] == ops[x]->axes[a];
            if (known) continue;
            if (count == AXES_ALL_MAX) bug("-%s: an axis too many", ops[x]->axes[a]->name);
            seen[count++] = ops[x]->axes[a];
        }
    return i < count ? seen[i] : NULL;
}

const char *axis_ops(const struct axis *axis, char text[64])
{
    text[0] = 0;
    for (int x = 0; x < op_count; x++)
        for (int a = 0; ops[x]->axes[a]; a++)
            if (ops[x]->axes[a] == axis) words_and(text, 64, ops[x]->name);
    return text;
}

bool takes_axis(enum command command, const struct axis *axis)
{
    return ((RUN | COMPARE | SELFTEST) & BIT(command)) ||
           (command == COMMAND_INFO && axis == &axis_k);
}
