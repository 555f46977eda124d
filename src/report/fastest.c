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

// Adds "BEGIN 1 sample; busy END" if the time of a case has such marks; else adds `otherwise`.
static void add_doubt(char line[LINE_SIZE], const struct rank *r, const unsigned *doubts,
                      const struct rank_case *x, const char *begin, const char *end,
                      const char *otherwise)
{
    char text[DOUBT_TEXT_MAX];
    int i = 0;
    while (r->list[i] != x) i++;
    doubt_text(doubts[i] & DOUBT_TIME, x->samples, text);
    if (*text)
        words_print(line, LINE_SIZE, "%s%s%s", begin, text, end);
    else
        words_print(line, LINE_SIZE, "%s", otherwise);
}

static void add_others(char line[LINE_SIZE], const struct rank *r, const unsigned *doubts)
{
    static const char overlap[] = "intervals overlap: measure again";
    const struct rank_case *next = r->next, *near = r->near;
    if (!next) return;
    words_print(line, LINE_SIZE, "; next: ");
    add_name(line, next);
    words_print(line, LINE_SIZE, " ");
    add_longer(line, next->over_best);
    if (near == next) {
        words_print(line, LINE_SIZE, " (%s", overlap);
        add_doubt(line, r, doubts, next, ": ", ")", ")");
    } else {
        add_doubt(line, r, doubts, next, " (", ")", "");
        if (!near) return;
        words_print(line, LINE_SIZE, "; %s: %s", near->name, overlap);
        add_doubt(line, r, doubts, near, ": ", "", "");
    }
}

static void add_vendor(char line[LINE_SIZE], const struct rank *r, const unsigned *doubts)
{
    if (!r->of_vendor || r->of_vendor == r->best || r->of_vendor == r->next) return;
    words_print(line, LINE_SIZE, "; %.2f x as fast as ", r->of_vendor->over_best);
    add_name(line, r->of_vendor);
    add_doubt(line, r, doubts, r->of_vendor, " (", ")", "");
}

static void print_line(FILE *out, const char *line, enum grid_style style)
{
    fprintf(out, "%s", style == GRID_MARKDOWN ? "\n" : "  ");
    grid_text(out, line, style);
    fputc('\n', out);
}

void fastest_print(FILE *out, const char *what, const struct rank *r, const unsigned *doubts,
                   enum grid_style style)
{
    char line[LINE_SIZE] = "", ms[32];
    const struct rank_case *best = r->best, *y;
    if (!best) return;
    words_print(line, LINE_SIZE, "fastest%s: ", what);
    add_name(line, best);
    words_print(line, LINE_SIZE, ", %s ms", cell_number(best->ms, ms));
    add_doubt(line, r, doubts, best, " (not sure: ", ")", "");
    add_others(line, r, doubts);
    add_vendor(line, r, doubts);
    print_line(out, line, style);
    for (int i = 0; i < r->count; i++) {
        if (isnan(r->list[i]->ms) || !(y = rank_picked(r, r->list[i]))) continue;
        line[0] = 0;
        words_print(line, LINE_SIZE, "noise%s: %s ran %s; the two differ by %.1f %%", what,
                    r->list[i]->name, y->name, 100 * rank_difference(r->list[i], y));
        print_line(out, line, style);
    }
}
