// Table of options, and list of axes.
#include "cli/options/options.h"

#include <stddef.h>
#include <string.h>

#include "cli/options/bench_setup.h"
#include "cli/options/option_values.h"
#include "cli/options/threads.h"

// Parsers for a field of struct options, see option_values.h. A flag is a bool.
#define AT(member)          .field = offsetof(struct options, member)
#define FLAG(member)        AT(member)
#define TEXT(member)        .parse = parse_text, AT(member)
#define WHOLE(member, a, b) .parse = parse_whole, AT(member), .least = a, .most = b
#define LARGE(member, a)    .parse = parse_large, AT(member), .least = a, .most = INT64_MAX
#define CHOICE(member, of)  .parse = parse_choice, AT(member), .words = of
#define SECOND(member, of)  .parse = parse_second, AT(member), .words = of
#define SECONDS(member)     .parse = parse_seconds, AT(member)
#define PERCENT(member, b)  .parse = parse_percent, AT(member), .most = b

static const char *const cache_words[] = {"warm", "cold", NULL};
static const char *const launch_words[] = {"graph", "stream", NULL};
static const char *const check_words[] = {[CHECK_AUTO] = "auto",
                                          [CHECK_FULL] = "full",
                                          [CHECK_SAMPLE] = "sample",
                                          [CHECK_OFF] = "off",
                                          NULL};
static const char *const missing_words[] = {"error", "skip", NULL};
static const char *const sort_words[] = {"name", "time", "speedup", NULL}; // summary_sort, from 1

static const char prec_about[] = "types, f32 by default:"
#define TYPE(symbol, name, ...)  " " name
#define MIXED(symbol, name, ...) " " name
#include "base/precs.def"
    ;

// To add an option: a field in struct options, and a row here. A value of another kind needs a
// parser in option_values.c.
static const struct option table[] = {
    {"op", "NAME", NULL, EACH | ADVISE | CONFORM, .parse = parse_op},
    {"alg", "NAMES", "algorithms: names, patterns such as 'cusparse*', or all (default)",
     EACH | REPORT | CONFORM, .parse = parse_alg, .kind = OPTION_LIST,
     .known = bench_setup_is_algorithm},
    {"model", NULL, "add predictions of SpMM models; -k, -prec, -device and -opt set the models",
     INFO, FLAG(model)},
    {"prec", "NAMES", prec_about, EACH | MODEL | ADVISE | CONFORM, .parse = parse_prec,
     .kind = OPTION_LIST},
    {"device", "NAME", NULL, EACH | ROOF | DOCTOR | MODEL | ADVISE | CONFORM,
     .parse = parse_device},
    {"reps", "N", "exactly N samples (default: until the median is known to 0.5 %)", EACH,
     WHOLE(rule.reps, 1, 1000000)},
    {"warmup", "N", "exactly N warm-up runs (default: 3 runs and 50 ms, at most 1 s)", EACH,
     WHOLE(rule.warmup, 1, 1000000)},
    {"time-limit", "SECONDS", NULL, EACH, .parse = parse_time_limit, AT(rule.limit_ms)},
    {"race", NULL, "measure all cases briefly, and only the possible fastest in full", RUN | PASSED,
     FLAG(race)},
    {"cache", "NAME", "warm (default), or cold: cache flushed before each sample", EACH,
     SECOND(rule.cold, cache_words)},
    {"launch", "NAME", "graph (default): short runs as a CUDA graph if possible, or stream", EACH,
     SECOND(rule.stream, launch_words)},
    {"time", "NAME",
     "separate (default), or back-to-back: show and compare times of overlapping runs",
     ALONE | COMPARE, CHOICE(kind, timing_kind_words)},
    {"check", "NAME", "auto (default), full: every element, sample: chosen rows, off", EACH,
     CHOICE(check, check_words)},
    {"counters", NULL, "count the bytes that a run moves, with ncu in a separate process",
     RUN | PASSED, FLAG(run.counters)},
    {"profile", NULL, "for ncu and nsys: one marked run per case, no measurement", ALONE,
     FLAG(run.profile)},
    {"opt", "NAME=VALUES", "options of algorithms; see spbench list ALGORITHM", EACH | MODEL,
     .parse = parse_opt, .kind = OPTION_LIST},
    {"plugin", "FILES", "plug-ins: shared libraries (.so); run in worker processes",
     EACH | LIST | CONFORM, .parse = parse_plugin, .kind = OPTION_LIST, .known = is_plugin_name},
    {"threads", "N", "threads of the CPU algorithms (default: all)",
     EACH | ROOF | DOCTOR | CONFORM | ADVISE, WHOLE(threads, 1, THREADS_MAX)},
    {"seed", "N", "seed of all random numbers (default 1)", EACH | INFO | GEN | ADVISE,
     LARGE(seed, 0)},
    {"threshold", "PERCENT", "smallest change that counts (default 3)", COMPARE,
     PERCENT(compare.threshold, 100)},
    {"matrix", "PATTERNS", "only these matrices: names, patterns such as 'fem*'", REPORT,
     TEXT(report.matrix), .kind = OPTION_NAME},
    {"baseline", "NAME",
     "baseline of speedups: algorithm or vendor (default: best of a vendor, else of all)", REPORT,
     TEXT(report.baseline), .kind = OPTION_NAME},
    {"sort", "NAME",
     "order of lines: name, time, speedup (default: as in -alg, else as in the records)", REPORT,
     .parse = report_parse_sort, .words = sort_words},
    {"format", "NAME", NULL, COMPARE | REPORT | ADVISE | CONFORM, .parse = compare_parse_format},
    {"ab", "PROGRAM", "measure PROGRAM (OLD) and this program (NEW) alternately on MATRIX...",
     COMPARE, TEXT(compare.ab), .kind = OPTION_NAME},
    {"budget", "SECONDS", NULL, COMPARE | ADVISE, SECONDS(budget_ms)},
    {"runs-planned", "N", "find the least time of N runs, preparation included", ADVISE,
     LARGE(runs_planned, 1)},
    {"runs", "N", NULL, COMPARE | SWEEP, WHOLE(runs, 1, 10000)},
    {"keep", "PREFIX", "keep the records: PREFIX.old.jsonl, PREFIX.new.jsonl", COMPARE,
     TEXT(compare.keep), .kind = OPTION_NAME},
    {"history", NULL,
     "compare the newest of FILES, or of a folder's .jsonl(.gz), with the older ones", COMPARE,
     FLAG(compare.history)},
    {"consecutive", "N", "with -history: N slower files in a row are a regression (default 2)",
     COMPARE, WHOLE(compare.consecutive, 1, 100)},
    {"cpu", NULL, "for the CPU, in C (default without CUDA)", NEW, FLAG(new_kernel.cpu)},
    {"cuda", NULL, "for CUDA (default of a program with CUDA)", NEW, FLAG(new_kernel.cuda)},
    {"cubin", "FILE", "C that launches a compiled kernel: cubin, fatbin or PTX, also of Triton",
     NEW, .parse = parse_cubin, .kind = OPTION_NAME},
    {"timeout", "SECONDS",
     "end a case, or reading a matrix, after this time (default 600; run: none)",
     SWEEP | ALONE | CONFORM, SECONDS(sweep.timeout_ms)},
    {"mem-limit", "SIZE", "host memory limit of a worker: 512M, 4G (default: all available)",
     SWEEP | ALONE, .parse = parse_mem_limit},
    {"fresh", NULL, "start again, and replace the file of -o (default: continue it)", SWEEP,
     FLAG(sweep.fresh)},
    {"retry", NULL, "measure again the cases that are not ok", SWEEP, FLAG(sweep.retry)},
    {"shard", "I/N", "only part I of N of the matrices; cat joins the files", SWEEP,
     .parse = parse_shard},
    {"set", "SETS", "only these sets of a list", SWEEP, TEXT(sweep.sets)},
    {"dir", "FOLDER", "folder of a list's matrices (default: matrices/ beside the list)", SWEEP,
     TEXT(sweep.folder)},
    {"missing", "NAME", "missing files: error (default), or skip", SWEEP,
     CHOICE(sweep.missing, missing_words)},
    {"cusparse", "FILES", "also run cuSPARSE with each of these libcusparse.so", SWEEP | CONFORM,
     TEXT(sweep.libraries)},
    {"mkl", "FILES", "also run MKL with each of these libmkl_rt.so", CONFORM, TEXT(conform.mkl)},
    {"trap", "NAMES", "traps: names and patterns; exact: the exact cases (default: all)",
     CONFORM | BIT(COMMAND_WORKER), .parse = parse_traps},
    {"full", NULL, "all exact cases (default: of plug-ins all, of others a ninth)",
     CONFORM | BIT(COMMAND_WORKER), FLAG(conform.full)},
    {"n", NULL, "only print the plan and an estimate of its time", SWEEP, FLAG(sweep.plan_only)},
    {"o", "FILE", NULL, RUN | GEN | COMPARE | REPORT | DOCTOR, TEXT(output), .kind = OPTION_NAME},
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
