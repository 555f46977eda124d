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
    {"op", "NAME", NULL, EACH | ADVISE | CONFORM, .parse = parse_op},
    {"alg", "NAMES", "algorithms: names, patterns such as 'cusparse*', or all (default)",
     EACH | REPORT | CONFORM, .parse = parse_alg, .kind = OPTION_LIST,
     .known = bench_setup_is_algorithm},
    {"model", NULL, "add predictions of SpMM models; -k, -prec, -device and -opt set the models",
     INFO, FLAG(info.model)},
    {"prec", "NAMES", "types: f32 (default), f64, f16, bf16, f16-f32, bf16-f32",
     EACH | MODEL | ADVISE | CONFORM, .parse = parse_prec, .kind = OPTION_LIST},
    {"device", "NAME", NULL, EACH | ROOF | DOCTOR | MODEL | ADVISE | CONFORM,
     .parse = parse_device},
    {"reps", "N", "exactly N samples (default: until the median is known to 0.5 %)", EACH,
     .parse = parse_reps},
    {"warmup", "N", "exactly N warm-up runs (default: 3 runs and 50 ms, at most 1 s)", EACH,
     .parse = parse_warmup},
    {"time-limit", "SECONDS", NULL, EACH, .parse = parse_time_limit},
    {"cache", "NAME", "warm (default), or cold: cache flushed before each sample", EACH,
     .parse = parse_cache},
    {"launch", "NAME", "graph (default): short runs as a CUDA graph if possible, or stream", EACH,
     .parse = parse_launch},
    {"time", "NAME",
     "separate (default), or back-to-back: show and compare times of overlapping runs",
     ALONE | COMPARE, .parse = parse_time},
    {"check", "NAME", "auto (default), full: every element, sample: chosen rows, off", EACH,
     .parse = parse_check},
    {"counters", NULL, "count the bytes that a run moves, with ncu in a separate process",
     RUN | PASSED, FLAG(run.counters)},
    {"profile", NULL, "for ncu and nsys: one marked run per case, no measurement", ALONE,
     FLAG(run.profile)},
    {"opt", "NAME=VALUES", "parameters of algorithms; see spbench list ALGORITHM", EACH | MODEL,
     .parse = parse_setting, .kind = OPTION_LIST},
    {"plugin", "FILES", "plug-ins: shared libraries (.so); run in worker processes",
     EACH | LIST | CONFORM, .parse = parse_plugin, .kind = OPTION_LIST, .known = is_plugin_name},
    {"threads", "N", "threads of the CPU algorithms (default: all)",
     EACH | ROOF | DOCTOR | CONFORM | ADVISE, .parse = parse_threads},
    {"seed", "N", "seed of all random numbers (default 1)", EACH | INFO | GEN | ADVISE,
     .parse = parse_seed},
    {"threshold", "PERCENT", "smallest change that counts (default 3)", COMPARE,
     .parse = compare_parse_threshold},
    {"matrix", "PATTERNS", "only these matrices: names, patterns such as 'fem*'", REPORT,
     .parse = report_parse_matrix, .kind = OPTION_NAME},
    {"baseline", "NAME",
     "baseline of speedups: algorithm or vendor (default: best of a vendor, else of all)", REPORT,
     .parse = report_parse_baseline, .kind = OPTION_NAME},
    {"sort", "NAME",
     "order of lines: name, time, speedup (default: as in -alg, else as in the records)", REPORT,
     .parse = report_parse_sort},
    {"format", "NAME", NULL, COMPARE | REPORT | ADVISE | CONFORM, .parse = compare_parse_format},
    {"ab", "PROGRAM", "measure PROGRAM (OLD) and this program (NEW) alternately on MATRIX...",
     COMPARE, .parse = compare_parse_ab, .kind = OPTION_NAME},
    {"budget", "SECONDS", NULL, COMPARE | ADVISE, .parse = parse_budget},
    {"runs-planned", "N", "find the least time of N runs, preparation included", ADVISE,
     .parse = advise_parse_runs},
    {"runs", "N", NULL, COMPARE | SWEEP, .parse = compare_parse_runs},
    {"keep", "PREFIX", "keep the records: PREFIX.old.jsonl, PREFIX.new.jsonl", COMPARE,
     .parse = compare_parse_keep, .kind = OPTION_NAME},
    {"history", NULL,
     "compare the newest of FILES, or of a folder's .jsonl(.gz), with the older ones", COMPARE,
     FLAG(compare.history)},
    {"consecutive", "N", "with -history: N slower files in a row are a regression (default 2)",
     COMPARE, .parse = compare_parse_consecutive},
    {"cpu", NULL, "for the CPU, in C (default without CUDA)", NEW, FLAG(new_kernel.cpu)},
    {"cuda", NULL, "for CUDA (default of a program with CUDA)", NEW, FLAG(new_kernel.cuda)},
    {"cubin", "FILE", "C that launches a compiled kernel: cubin, fatbin or PTX, also of Triton",
     NEW, .parse = parse_cubin, .kind = OPTION_NAME},
    {"timeout", "SECONDS", "end a case, or reading a matrix, after this time (default 600)",
     SWEEP | ALONE | CONFORM, .parse = parse_timeout},
    {"mem-limit", "SIZE", "host memory limit of a worker: 512M, 4G (default: all available)",
     SWEEP | ALONE, .parse = parse_mem_limit},
    {"fresh", NULL, "start again, and replace the file of -o (default: continue it)", SWEEP,
     FLAG(sweep.fresh)},
    {"retry", NULL, "measure again the cases that are not ok", SWEEP, FLAG(sweep.retry)},
    {"shard", "I/N", "only part I of N of the matrices; cat joins the files", SWEEP,
     .parse = parse_shard},
    {"set", "SETS", "only these sets of a list", SWEEP, .parse = parse_sets},
    {"dir", "FOLDER", "folder of a list's matrices (default: matrices/ beside the list)", SWEEP,
     .parse = parse_folder},
    {"missing", "NAME", "missing files: error (default), or skip", SWEEP, .parse = parse_missing},
    {"cusparse", "FILES", "also run cuSPARSE with each of these libcusparse.so", SWEEP | CONFORM,
     .parse = parse_libraries},
    {"mkl", "FILES", "also run MKL with each of these libmkl_rt.so", CONFORM, .parse = parse_mkl},
    {"trap", "NAMES", "traps: names and patterns; exact: the exact cases (default: all)",
     CONFORM | BIT(COMMAND_WORKER), .parse = parse_traps},
    {"full", NULL, "all exact cases (default: of plug-ins all, of others a ninth)",
     CONFORM | BIT(COMMAND_WORKER), FLAG(conform.full)},
    {"n", NULL, "only print the plan and an estimate of its time", SWEEP, FLAG(sweep.plan_only)},
    {"o", "FILE", NULL, RUN | GEN | COMPARE | REPORT | DOCTOR, .parse = parse_output,
     .kind = OPTION_NAME},
    {"no-cache", NULL, "do not use the cache of parsed matrices", EACH | INFO | ADVISE,
     FLAG(run.no_cache)},
    {"append", NULL, "add to the file of -o instead of replacing it", ALONE | DOCTOR,
     FLAG(run.append)},
    {"q", NULL, NULL, ADVISE | RUN | ROOF | COMPARE | DOCTOR | CONFORM, FLAG(quiet)},
    {"v", NULL, "more output: preparation, phases, samples, memory; of roof: all block sizes",
     RUN | ROOF, FLAG(verbose)},
    {"help", NULL, "show the help of the command", ALL, FLAG(help)},
    {"version", NULL, "show the version", ALL, FLAG(version)},
};
#define TABLE_SIZE COUNT(table)
_Static_assert(TABLE_SIZE <= OPTIONS_MAX, "struct options has no room for so many");

const int option_count = TABLE_SIZE;
const struct option *option_at(int i) { return i < TABLE_SIZE ? &table[i] : NULL; }

bool takes_axis(enum command command, const struct axis *axis)
{
    return ((RUN | COMPARE | ADVISE) & BIT(command)) ||
           (command == COMMAND_INFO && axis == &axis_k);
}
