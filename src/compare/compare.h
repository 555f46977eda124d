// Two sets of records -> verdicts. The way through it:
//   compare_read.c     files -> sightings: one case in one process
//   compare_match.c    sightings -> cases of OLD and NEW, by key
//   compare_stats.c    times of all cases -> ratios, intervals, p
//   compare_judge.c    -> a verdict for each case
//   compare_sum.c      -> what all of them say
//   compare_history.c  the newest of many files against those before it
//   report*.c          what is printed of it
#ifndef COMPARE_H
#define COMPARE_H

#include "compare/compare_stats.h"
#include "records/record_read.h"

enum verdict {
    VERDICT_SLOWER,
    VERDICT_FAILING, // newly: it had a time, or was not checked
    VERDICT_WRONG,   // newly
    VERDICT_UNCLEAR,
    VERDICT_DRIFTED, // slower or faster by no more than machines drift, and not by turns
    VERDICT_MISSING, // NEW does not have it, or only unchecked
    VERDICT_FASTER,
    VERDICT_SAME,
    VERDICT_MENDED, // it has a time now, and had none
    VERDICT_ADDED,  // OLD does not have it
    VERDICT_NO_TIME,
    VERDICT_COUNT
};
const char *verdict_name(enum verdict verdict);

enum side { SIDE_OLD, SIDE_NEW, SIDES };

struct sighting {
    int64_t order; // of its line among all that were read
    int64_t when;  // its process began, seconds since 1970; 0: not known
    enum status status;
    double ms, gflops; // NAN: no time
    double low;        // first decile of the samples as a share of their median
    double error;      // standard error of ln(ms) by the interval within the process; NAN: none
    bool throttled, busy;
    bool overtakes; // runs do not wait for the work ahead of them
    // Owned. The key has no options at their default (case_key_shorten), if this program has the
    // algorithm. run is "" if the records have none.
    char *key, *run, *matrix, *alg, *device;
    char *library, *reason; // owned, NULL: none
};

// What the environments of a file say; "": nothing. `mixed`: not all the same.
struct origin {
    char text[96];
    bool mixed;
};

struct sightings {
    enum timing_kind kind; // of the times that are read
    struct sighting *list; // size room, count are there
    int64_t count, room;
    struct origin device, revision;
    int64_t bad_lines;            // that are no records
    char bad_text[FAIL_TEXT_MAX]; // of the first of them: file, line, what is wrong
};
// Adds the results of a file of records, plain or gzip. A line that is no record is left out and
// counted, as a killed process leaves half a line. ERR_INPUT: the file cannot be read, is no file
// of records, or has no results.
int sightings_read(struct sightings *s, const char *path);
void sightings_free(struct sightings *s);
// Puts the last record of each case and process in front, by case and time; returns how many.
int64_t sightings_last(struct sightings *s);
// Adds the first of each case among the `count` first of `from`, as of a process called `run`.
int sightings_join(struct sightings *s, struct sightings *from, int64_t count, const char *run);
// The first date of a file's environments; 0: it has none.
int sightings_date(const char *path, int64_t *when);

#define WHY_MAX 256

struct compared {
    const struct sighting *seen[SIDES]; // size count[], one for each process, in the order of time
    int count[SIDES];
    // Of a case that has times on both sides:
    bool timed;
    bool paired;      // processes of OLD and NEW took turns
    int used[SIDES];  // processes that count, equal if paired
    double *y[SIDES]; // ln(ms) of them, size used[], owned
    double ms[SIDES]; // over all of them
    double gflops[SIDES];
    int throttled, busy; // processes that were; throttled ones are not used
    bool doubtful;       // what is used was busy, and nothing can be set against it
    bool low;            // times are first deciles of samples, as busy pairs count
    struct estimate e;
    enum verdict verdict;
    char why[WHY_MAX]; // "": nothing is to be said
};

struct compare_rule {
    double threshold; // a change by less is none: 0.03
    int consecutive;  // of a history: so many in a row make a regression
    bool sittings;    // each process of OLD is a sitting, as in a history
    enum timing_kind kind;
    double plant[2];    // the times of NEW are multiplied by these, by turns; 0: they are not
    const char *broken; // why NEW lacks cases that OLD has: its process broke off. NULL: it did not
};

struct summary {
    int64_t of[VERDICT_COUNT];
    int64_t timed, guessed, paired; // cases
    int64_t throttled, busy;        // cases in which a process was
    int64_t low;                    // cases with first deciles as times
    int64_t overtaking;             // cases that were seen not to wait for the work ahead
    int64_t shared;                 // cases of which one process is on both sides
    int64_t excused;                // unclear or drifted ones, not slower by over the threshold
    int runs[SIDES][2];             // processes of a case that count, least and most
    double ratio, lo, hi;           // geometric mean of all ratios, 95 % interval; NAN: none
    int64_t worst, best;            // places in cases; -1: none
    int runs_needed;                // that would tell 5 % in 95 % of cases; 0: not known
};

struct comparison {
    struct sightings read[SIDES];
    char name[SIDES][FAIL_TEXT_MAX]; // for reports
    struct compared *cases;          // in the order in which they were first seen; size count
    int64_t count;
    struct compare_rule rule;
    struct summary sum;
};

// Each needs those before it: read[] is filled, then cases, then verdicts.
int comparison_match(struct comparison *c);
int comparison_judge(struct comparison *c, const struct compare_rule *rule);
// By comparison_judge() at its end.
int comparison_sum(struct comparison *c);
// What it comes to. A regression goes before what cannot be told.
enum conclusion { CONCLUSION_FINE, CONCLUSION_REGRESSION, CONCLUSION_CANNOT_TELL };
enum conclusion comparison_conclude(const struct comparison *c);
const char *conclusion_name(enum conclusion conclusion);
void comparison_free(struct comparison *c);
// Both of two files.
int comparison_files(struct comparison *c, const char *old_path, const char *new_path,
                     const struct compare_rule *rule);

// The newest of `count` files against all that are older than the last rule->consecutive: each of
// those is compared with the same ones before, and what is slower in the newest counts where it is
// slower in all of them. A file is one measurement, however many processes it has. The files are
// sorted in place, by date.
int comparison_history(struct comparison *c, const char **paths, int count,
                       const struct compare_rule *rule);

// What tells a case from the others in few words, in front of its matrix: of its key what not all
// cases have in common.
struct compared_names {
    char **text; // by case, owned
    int64_t count;
};
int compared_names_make(struct compared_names *n, const struct comparison *c);
void compared_names_free(struct compared_names *n);

// Whether b would be the same case as a but for the version of its library, or for options that
// only one of them has, as when an algorithm got a new one: "of Lib 1.2", "with way=0".
bool compared_differ(const struct sighting *a, const struct sighting *b, char text[WHY_MAX]);

static inline const struct sighting *compared_any(const struct compared *x)
{
    return x->count[SIDE_NEW] ? x->seen[SIDE_NEW] : x->seen[SIDE_OLD];
}

#endif
