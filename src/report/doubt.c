#include "report/doubt.h"

#include <math.h>
#include <string.h>

#include "base/words.h"

#define STRING(x)  #x
#define STRINGS(x) STRING(x)

const char *const doubt_names[DOUBT_KINDS] = {"few_samples", "busy", "throttled", "not_in_order"};

// Text of each mark, by bit, behind a number of times. All but the first are remarks, too.
static const char *const words[DOUBT_KINDS] = {
    "with fewer than " STRINGS(TIMING_INTERVAL_SAMPLES) " samples", "busy", "throttled",
    "not in order"};

unsigned doubt_of(const struct record *r, int samples)
{
    if (!record_is_timed(r)) return 0;
    bool few = samples < TIMING_INTERVAL_SAMPLES || isnan(r->ci_lo);
    return (few ? DOUBT_FEW : 0) | (r->busy ? DOUBT_BUSY : 0) | (r->throttled ? DOUBT_SLOW : 0) |
           (r->overtakes ? DOUBT_ORDER : 0);
}

const char *doubt_text(unsigned doubt, int samples, char text[DOUBT_TEXT_MAX])
{
    text[0] = 0;
    if (doubt & DOUBT_FEW)
        words_print(text, DOUBT_TEXT_MAX, "%d sample%s", samples, samples == 1 ? "" : "s");
    for (int k = 1; k < DOUBT_KINDS; k++)
        if (doubt & 1u << k) words_add(text, DOUBT_TEXT_MAX, "; ", words[k]);
    return text;
}

void doubt_count(struct doubt_counts *c, unsigned doubt)
{
    c->times++;
    for (int k = 0; k < DOUBT_KINDS; k++) c->of[k] += doubt >> k & 1;
}

const char *doubt_counts_text(const struct doubt_counts *c, char text[DOUBT_TEXT_MAX])
{
    text[0] = 0;
    for (int k = 0; k < DOUBT_KINDS; k++) {
        if (!c->of[k]) continue;
        words_print(text, DOUBT_TEXT_MAX, "%s%lld", *text ? ", " : "", (long long)c->of[k]);
        if (!strchr(text, ' '))
            words_print(text, DOUBT_TEXT_MAX, " of %lld times", (long long)c->times);
        words_print(text, DOUBT_TEXT_MAX, " %s", words[k]);
    }
    return text;
}
