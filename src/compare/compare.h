// Compares two sets of records, OLD and NEW, and gives each case a verdict. The steps:
//   compare_read.c     files to observations: one case in one process
//   compare_match.c    observations to cases of OLD and NEW, by key
//   compare_stats.c    times of all cases to ratios, intervals and p-values
//   compare_judge.c    a verdict for each case
//   compare_sum.c      number of cases with each verdict, mean ratio
//   compare_history.c  the newest of many files against the older ones
//   verdict_*.c        output formats
#ifndef COMPARE_H
#define COMPARE_H

#include "compare/compare_stats.h"
#include "records/record_read.h"

enum verdict {
    VERDICT_SLOWER,
    VERDICT_FAILING, // OLD has a time or was not checked; NEW failed
    VERDICT_WRONG,   // NEW has a wrong result, OLD has none
    VERDICT_UNCLEAR,
    VERDICT_DRIFTED,   // measured at different times, and changed by no more than machines drift
    VERDICT_MISSING,   // NEW lacks the case
    VERDICT_UNCHECKED, // a side did not check the result
    VERDICT_FASTER,
    VERDICT_SAME,
    VERDICT_MENDED, // NEW has a time, OLD has none
    VERDICT_ADDED,  // OLD lacks the case
    VERDICT_NO_TIME,
    VERDICT_COUNT
};
const char *verdict_name(enum verdict verdict);

enum side { SIDE_OLD, SIDE_NEW, SIDES };

struct observation {
    int64_t order; // place of the record among all lines read
    int64_t when;  // start of the process in seconds since 1970; 0: unknown
    enum status status;
    double ms, gflops; // NAN: no time
    double low;        // first decile of the samples over their median
    double error;      // standard error of ln(ms), from the interval within the process; NAN: none
    bool throttled, busy;
    bool overtakes; // a run does not wait for the work ahead
    // Owned. The key omits options at their default (case_key_shorten) if this program has the
    // algorithm.
    char *key, *run, *matrix, *alg, *device;
    char *library, *reason; // owned, NULL: none
};

// Device or revision in the environments of a file; "": none. `mixed`: the environments differ.
struct origin {
    char text[96];
    bool mixed;
};

struct observations {
    enum timing_kind kind;    // kind of the times being compared
    struct observation *list; // capacity `room`
    int64_t count, room;
    struct origin device, revision;
    int64_t bad_lines;            // lines that are no records
    char bad_text[FAIL_TEXT_MAX]; // about the first bad line: file, line number and error
};
// Adds the results of a file of records, plain or gzip. Lines that are no records are counted and
// skipped: a killed process leaves half a line. Returns ERR_INPUT if the file cannot be read, is no
// file of records, or has no results.
int observations_read(struct observations *s, const char *path);
void observations_free(struct observations *s);
// Moves the last record of each case and process to the front, sorted by case and time. Returns the
// number of these records.
int64_t observations_last(struct observations *s);
// Adds the first record of each case among from->list[0 .. count), as records of a process `run`.
int observations_join(struct observations *s, struct observations *from, int64_t count,
                      const char *run);
// Sets *when to the first date of the environments in a file; 0: no date.
int observations_date(const char *path, int64_t *when);

#define WHY_MAX 256

struct compared {
    const struct observation *seen[SIDES]; // by process, in the order of time; size count[]
    int count[SIDES];
    // Set if both sides have times:
    bool timed;
    bool paired;         // processes of OLD and NEW alternated
    int used[SIDES];     // number of processes that count; equal if paired
    double *y[SIDES];    // ln(ms) of these processes, size used[], owned
    int *process[SIDES]; // indices of these processes in seen[], size used[], owned
    double ms[SIDES];    // mean over these processes
    double gflops[SIDES];
    int throttled, busy; // number of throttled and busy processes; throttled processes do not count
    bool doubtful;       // a process that counts was busy, and processes did not alternate
    bool low;            // times are first deciles of samples: busy pairs count
    struct estimate e;
    enum verdict verdict;
    char why[WHY_MAX]; // reason of the verdict; "": none
};

struct compare_rule {
    double threshold; // smallest change that counts, 0.03 for 3 %
    int consecutive;  // history: number of slower files in a row that make a regression
    bool sittings;    // history: each process of OLD is a separate sitting
    enum timing_kind kind;
    const char *broken; // reason for cases missing in NEW: its process broke off; NULL: it did not
};

struct verdict_counts {
    int64_t of[VERDICT_COUNT];
    int64_t timed, guessed, paired; // number of cases
    int64_t throttled, busy;        // number of cases with such a process
    int64_t low;                    // number of cases with first deciles as times
    int64_t overtaking;             // number of cases whose runs do not wait for the work ahead
    int64_t shared;                 // number of cases with the same process on both sides
    int64_t tolerated;              // number of unclear or drifted cases not over the threshold
    int runs[SIDES][2];             // least and most processes of a case that count
    double ratio, lo, hi;           // geometric mean of all ratios and its 95 % interval; NAN: none
    int64_t worst, best;            // indices into `cases`; -1: none
    int runs_needed;                // to find a change of 5 % in 95 % of cases; 0: unknown
};

struct comparison {
    struct observations read[SIDES];
    char name[SIDES][FAIL_TEXT_MAX]; // names of the sides in the output
    struct compared *cases;          // in the order of appearance
    int64_t count;
    struct compare_rule rule;
    struct verdict_counts sum;
};

// Steps of a comparison, in this order. comparison_match() makes `cases` from read[].
// comparison_judge() sets the verdicts and calls comparison_sum().
int comparison_match(struct comparison *c);
int comparison_judge(struct comparison *c, const struct compare_rule *rule);
int comparison_sum(struct comparison *c);
// Answer of a comparison. A regression takes precedence over unclear cases.
enum conclusion { CONCLUSION_FINE, CONCLUSION_REGRESSION, CONCLUSION_CANNOT_TELL };
enum conclusion comparison_conclude(const struct comparison *c);
// Returns ", not alternating" or ", some cases not alternating" if times of OLD and NEW may differ
// by drift of the machine, else "".
const char *comparison_remark(const struct comparison *c);
const char *conclusion_name(enum conclusion conclusion);
void comparison_free(struct comparison *c);
// Compares two files.
int comparison_files(struct comparison *c, const char *old_path, const char *new_path,
                     const struct compare_rule *rule);

// Compares the newest of `count` files with the files older than the last rule->consecutive ones. A
// case is slower only if each of the last rule->consecutive files is slower than these older files.
// A file counts as one measurement, whatever its number of processes. `paths` is sorted by date in
// place.
int comparison_history(struct comparison *c, const char **paths, int count,
                       const struct compare_rule *rule);

// Short names of cases: the words of the key that differ between cases. The output has them before
// the matrix.
struct compared_names {
    char **text; // size count, owned
    int64_t count;
};
int compared_names_make(struct compared_names *n, const struct comparison *c);
void compared_names_free(struct compared_names *n);

// Returns true if the keys of a and b differ only in the library's version, or in options that only
// one key has. `text` names the difference: "of Lib 1.2", "with way=0".
bool compared_differ(const struct observation *a, const struct observation *b, char text[WHY_MAX]);

static inline const struct observation *compared_any(const struct compared *x)
{
    return x->count[SIDE_NEW] ? x->seen[SIDE_NEW] : x->seen[SIDE_OLD];
}

#endif
