// Figures of an algorithm or a format for its record: names, each with a number or a text.
#ifndef FIGURES_H
#define FIGURES_H

#include "base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct figure {
    char name[32];
    char text[32]; // "": the figure is `number`
    double number;
};

#define FIGURES_MAX 32
struct figures {
    int count;
    struct figure list[FIGURES_MAX];
};

// Add a figure, or replace the figure of this name. More than FIGURES_MAX figures, or a name or
// text of more than 31 letters, is a bug().
void figures_number(struct figures *f, const char *name, double number);
void figures_text(struct figures *f, const char *name, const char *text);
// Returns true if a figure of this name can be added or replaced.
bool figures_fit(const struct figures *f, const char *name);
// Returns the figure of this name, or NULL.
const struct figure *figures_find(const struct figures *f, const char *name);

#ifdef __cplusplus
}
#endif
#endif
