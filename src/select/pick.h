// Choice among algorithms: the algorithm with the least predicted time, or the first of a list.
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

// Facts about the matrix and the case. Facts that an operation does not use are 0.
struct pick_facts {
    double rows, columns, nonzeros; // size of A
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
    PICK_WORK_2,  // square of PICK_WORK: small work hardly changes the time of a launch
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
    // Largest lead of each candidate in these cases: the next candidate's time over its own. 0, or
    // PICK_FAR and more: any lead is allowed.
    double lead[PICKS_MAX];
};
// A candidate with this multiple of the least predicted time is never timed.
#define PICK_FAR 10
// Returns the name of the first feature that is out of its range, or NULL.
const char *pick_unlike(const struct pick_rules *rules, const double x[PICK_FEATURES]);
// Returns true if the predicted lead of the best candidate is above all measured leads. Features in
// their ranges then form a new combination, and the two best are timed. `us`: predicted
// microseconds of each candidate; INFINITY: not a candidate.
bool pick_too_good(const struct pick_rules *rules, const double *us);

// Option of `auto`: the time of its trials.
#define PICK_OPTION(runs)                                                                          \
    {                                                                                              \
        "trials", runs, 0, 1e6, true,                                                              \
            "time candidates if the rule is unsure, for the time of about N runs; 0: never"        \
    }

// prepare() of `auto` (see delegate.h). Passes the task to the candidate with the least predicted
// time, or to the next if a candidate refuses or lacks memory. Vendor libraries and variants of the
// operation are no candidates. Candidates are timed if their predictions are close; the two best
// are timed if the case is unlike all measured cases. Figures: the choice, predicted and timed
// microseconds, the unlike feature (or "lead"), refusals, the time of the prediction since `start`
// (by clock_ms()) and of the trials. Returns ERR_UNSUPPORTED or ERR_MEMORY if all refuse, with the
// reason of the last.
int pick_prepare(struct task *t, const struct pick_rules *rules, const struct pick_facts *facts,
                 double start);

// Candidates in the order of a rule without predictions.
struct pick_order {
    const char *names[2]; // NULL: none
    bool unsure;          // both are timed, and the faster is taken
};
// prepare() by an order. Takes the first candidate that does not refuse, or the faster if both are
// timed. The figures have no predictions.
int pick_by_order(struct task *t, const struct pick_order *order, double start);

#ifdef __cplusplus
}
#endif
#endif
