// Which of several algorithms to take: the one whose predicted time is the least.
//
// The time is exp() of a linear form of a few logarithms of counts of the matrix and the case. Its
// weights are fitted to measured times by tools/fit_auto.py, which knows the same features by
// the same names and writes src/select/auto_rules.h.
#ifndef PICK_H
#define PICK_H

#include "select/delegate.h"

#ifdef __cplusplus
extern "C" {
#endif

// What is counted. What an operation does not look at is 0.
struct pick_facts {
    double rows, columns, nonzeros; // of A
    double depth;                   // columns of the dense operands; products of a nonzero
    double longest;                 // nonzeros of the longest row
    double squares;                 // sum of the squares of the row lengths
    double tile;                    // nonzeros of a 16 x 16 tile that has any, on average
    int width;                      // bytes of a value
};

// ln is the natural logarithm, ln1(x) = ln(1 + x).
enum pick_feature {
    PICK_ONE,
    PICK_WORK,    // ln1(bytes of the values that are multiplied, in MB)
    PICK_WORK_2,  // its square: where a launch is most of the time, work is nothing
    PICK_ROWS,    // ln1(rows)
    PICK_COLUMNS, // ln1(columns)
    PICK_DEPTH,   // ln1(depth)
    PICK_MEAN,    // ln1(mean row length)
    PICK_LONGEST, // ln1(longest)
    PICK_UNEVEN,  // ln1(thousandths of all nonzeros that are the longest row's)
    PICK_SPREAD,  // ln1(standard deviation of the row lengths over their mean)
    PICK_WIDTH,   // ln(width / 4)
    PICK_TILE,    // ln1(tile)
    PICK_FEATURES
};
void pick_features(const struct pick_facts *facts, double x[PICK_FEATURES]);

// A candidate.
struct pick_rule {
    const char *name;
    double weight[PICK_FEATURES]; // the form is ln(microseconds)
};
double pick_us(const struct pick_rule *rule, const double x[PICK_FEATURES]);

struct pick_rules {
    // Candidates whose predictions are within this factor of the least are timed. 1: candidates are
    // timed only if the case is unlike all measured cases. tools/fit_auto.py chooses the factor.
    double unsure;
    struct pick_rule list[PICKS_MAX + 1]; // ends with one that has no name
    // What each feature was in the cases that the rules were made from; no name: any will do.
    struct pick_range {
        const char *name;
        double least, most;
    } seen[PICK_FEATURES];
    // Of each candidate, in these cases: the next one's time over its own where it was the furthest
    // ahead. 0, or PICK_FAR and more: any lead will do.
    double lead[PICKS_MAX];
};
// What should take so many times as long as the best is not timed, even where a feature is out of
// its range or runs back to back decide.
#define PICK_FAR 10
// The name of the first feature that is out of its range; NULL: none is.
const char *pick_unlike(const struct pick_rules *rules, const double x[PICK_FEATURES]);
// Whether the one that should be the fastest is predicted to be further ahead than it ever was:
// then features in their ranges have come together as never before, and the rule does not know. The
// two best are then timed, however far apart. `us` are the predicted microseconds of each of the
// list, before anybody refuses; INFINITY: out of the question.
bool pick_too_good(const struct pick_rules *rules, const double *us);

// The option of an algorithm that picks: how long its trials may take.
#define PICK_OPTION(runs)                                                                          \
    {                                                                                              \
        "trials", runs, 0, 1e6, true,                                                              \
            "time candidates if the rule is unsure, for the time of about N runs; 0: never"        \
    }

// The same where results are dense: which runs decide. The rules are of runs that are kept apart,
// and say little of others, so candidates are timed that the rules find slow.
#define PICK_BACK_OPTION                                                                           \
    {                                                                                              \
        "back-to-back", 0, 0, 1, true,                                                                     \
            "1: the fastest of runs back to back, timed unless trials=0; 0: of runs kept apart"    \
    }

// The prepare() of an algorithm that picks (see delegate.h): the candidate that should be the
// fastest, or if it refuses, or has no memory, the next one. Never one of a vendor's library, nor
// one that computes something else. Candidates are timed where predictions are near each other, and
// the two best where the case is unlike all measured. It tells what it picked, why (the predicted
// microseconds of each, those of runs that were timed, and what is unlike: the name of a feature
// that is out of its range, or "lead"), who refused, what the prediction took since `start`, by
// clock_ms(), and what the timing took. After ERR_UNSUPPORTED or ERR_MEMORY everybody refused; the
// reason is that of the last.
int pick_prepare(struct task *t, const struct pick_rules *rules, const struct pick_facts *facts,
                 double start);

#ifdef __cplusplus
}
#endif
#endif
