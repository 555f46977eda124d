// Statistics of an algorithm or a format for its record: names, each with a number or a text.
#ifndef ALGO_STATS_H
#define ALGO_STATS_H

#include "base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct algo_stat {
    char name[32];
    char text[32]; // "": the stat is `number`
    double number;
};

#define ALGO_STATS_MAX 32
struct algo_stats {
    int count;
    struct algo_stat list[ALGO_STATS_MAX];
};

// Add a stat, or replace the stat of this name. More than ALGO_STATS_MAX stats, or a name or
// text of more than 31 letters, is a bug().
void algo_stats_number(struct algo_stats *f, const char *name, double number);
void algo_stats_text(struct algo_stats *f, const char *name, const char *text);
// Returns true if a stat of this name can be added or replaced.
bool algo_stats_fit(const struct algo_stats *f, const char *name);
// Returns the stat of this name, or NULL.
const struct algo_stat *algo_stats_find(const struct algo_stats *f, const char *name);

#ifdef __cplusplus
}
#endif
#endif
