#include "report/fastest.h"

#include <math.h>
#include <string.h>

#include "base/words.h"
#include "report/cell.h"

#define LINE_SIZE 1024

static void add_name(char line[LINE_SIZE], const struct rank_case *x)
{
    words_print(line, LINE_SIZE, "%s", x->name);
    if (x->call) words_print(line, LINE_SIZE, " (%s)", x->call);
}

// Adds the ratio of times: "+0.4 %", "+130 %", "12 x as long".
static void add_longer(char line[LINE_SIZE], double ratio)
{
    double percent = 100 * (ratio - 1);
    if (ratio < 9.995)
        words_print(line, LINE_SIZE, percent < 9.95 ? "+%.1f %%" : "+%.0f %%", percent);
    else
        words_print(line, LINE_SIZE, "%.0f x as long", ratio);
}

static void add_noise(char line[LINE_SIZE], const struct rank_case *x)
{
    words_print(line, LINE_SIZE, "intervals overlap: measure again");
    if (isnan(x->ci_lo))
        words_print(line, LINE_SIZE, ": %d sample%s", x->samples, x->samples == 1 ? "" : "s");
}

static void add_others(char line[LINE_SIZE], const struct rank *r)
{
    const struct rank_case *next = r->next, *near = r->near;
    if (!next) return;
    words_print(line, LINE_SIZE, "; next: ");
    add_name(line, next);
    words_print(line, LINE_SIZE, " ");
    add_longer(line, next->over_best);
    if (near == next) {
        words_print(line, LINE_SIZE, " (");
        add_noise(line, near);
        words_print(line, LINE_SIZE, ")");
    } else if (near) {
        words_print(line, LINE_SIZE, "; %s: ", near->name);
        add_noise(line, near);
    }
}

static void add_vendor(char line[LINE_SIZE], const struct rank *r)
{
    if (!r->of_vendor || r->of_vendor == r->best || r->of_vendor == r->next) return;
    words_print(line, LINE_SIZE, "; %.2f x as fast as ", r->of_vendor->over_best);
    add_name(line, r->of_vendor);
}

static void print_line(FILE *out, const char *line, enum grid_style style)
{
    fprintf(out, "%s", style == GRID_MARKDOWN ? "\n" : "  ");
    grid_text(out, line, style);
    fputc('\n', out);
}

void fastest_print(FILE *out, const char *what, const struct rank *r, enum grid_style style)
{
    char line[LINE_SIZE] = "", ms[32];
    const struct rank_case *best = r->best, *y;
    if (!best) return;
    words_print(line, LINE_SIZE, "fastest%s: ", what);
    add_name(line, best);
    words_print(line, LINE_SIZE, ", %s ms", cell_number(best->ms, ms));
    if (isnan(best->ci_lo))
        words_print(line, LINE_SIZE, " (too few samples to be sure: %d)", best->samples);
    add_others(line, r);
    add_vendor(line, r);
    print_line(out, line, style);
    for (int i = 0; i < r->count; i++) {
        if (isnan(r->list[i]->ms) || !(y = rank_picked(r, r->list[i]))) continue;
        line[0] = 0;
        words_print(line, LINE_SIZE, "noise%s: %s ran %s; the two differ by %.1f %%", what,
                    r->list[i]->name, y->name, 100 * rank_difference(r->list[i], y));
        print_line(out, line, style);
    }
}
