// Columns of the table of `run`, remarks, and lines below the table. The table takes heads and
// widths from this list. `help columns` and the manual page take the descriptions.
#ifndef COLUMNS_H
#define COLUMNS_H

enum column_id {
    COLUMN_ALGORITHM,
    COLUMN_DEVICE,
    COLUMN_PREC,
    COLUMN_AXES, // axes of the operation, with heads of their own
    COLUMN_MS,
    COLUMN_INTERVAL,
    COLUMN_BACK,
    COLUMN_OVER_BEST,
    COLUMN_PREP,
    COLUMN_PAYS,
    COLUMN_GFLOPS,
    COLUMN_BYTES,
    COLUMN_ROOF,
    COLUMN_GATHER,
    COLUMN_FIGURES, // figures of the operation, with heads of their own
    COLUMN_CHECK,
    COLUMN_COUNT
};
struct column {
    const char *head; // NULL: columns of the operation
    int width;        // characters; negative: left-aligned; 0: the table sets the width
    const char *about, *formula, *good; // NULL: none
};
extern const struct column columns[COLUMN_COUNT];

// Columns of a summary after the algorithm. `report` also has the speedup.
enum summary_column_id {
    SUMMARY_MATRICES,
    SUMMARY_WINS,
    SUMMARY_SPEEDUPS,
    SUMMARY_OVER_BEST,
    SUMMARY_PREP,
    SUMMARY_PAYS,
    SUMMARY_WORST,
    SUMMARY_WORST_OF,
    SUMMARY_FAILED,
    SUMMARY_COLUMNS
};
extern const struct column summary_columns[SUMMARY_COLUMNS];

// Remarks follow the check, each after a semicolon.
enum remark_id {
    REMARK_CACHE,
    REMARK_BACK,    // the table prints the number and "faster" or "slower"
    REMARK_SAMPLES, // the table prints the number
    REMARK_THROTTLED,
    REMARK_BUSY,
    REMARK_ORDER,
    REMARK_LIBRARY, // the table prints a name and a version
    REMARK_CHOICE,  // remark_figure() makes this remark and the next
    REMARK_REFUSED,
    REMARK_COUNT
};
struct remark {
    const char *text, *about;
};
extern const struct remark remarks[REMARK_COUNT];
// Returns the remark for a text figure of an algorithm: "aspt_refused" with "no memory" gives "aspt
// refused: no memory".
#define REMARK_TEXT_MAX 96
const char *remark_figure(const char *name, const char *value, char text[REMARK_TEXT_MAX]);

// A row of `help columns` and of the manual page.
struct column_shown {
    const char *head, *about, *formula, *good; // the last two NULL: none
};
// Calls group() with each heading and show() with each row below it.
void columns_each(void (*group)(const char *title), void (*show)(const struct column_shown *s));

#endif
