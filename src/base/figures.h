// Figures that an algorithm or a format tells of itself: names with a number or a text each.
#ifndef FIGURES_H
#define FIGURES_H

#include "base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct figure {
    char name[32];
    char text[32]; // empty: the figure is `number`
    double number;
};

#define FIGURES_MAX 32
struct figures {
    int count;
    struct figure list[FIGURES_MAX];
};

// Each adds a figure, or replaces the one of this name. One too many, or a name or a text that does
// not fit, is a bug().
void figures_number(struct figures *f, const char *name, double number);
void figures_text(struct figures *f, const char *name, const char *text);
// NULL if there is none.
const struct figure *figures_find(const struct figures *f, const char *name);

#ifdef __cplusplus
}
#endif
#endif
