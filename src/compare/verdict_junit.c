// The comparison as JUnit XML for continuous integration. A regression is a failure, an unclear
// case is skipped.
#include "compare/verdict_text.h"

#include <math.h>

#include "base/markup.h"

static bool is_failure(const struct compared *x)
{
    return x->verdict == VERDICT_SLOWER || x->verdict == VERDICT_FAILING ||
           x->verdict == VERDICT_WRONG;
}

static bool is_skipped(const struct compared *x)
{
    return x->verdict == VERDICT_UNCLEAR || x->verdict == VERDICT_DRIFTED ||
           x->verdict == VERDICT_MISSING || x->verdict == VERDICT_UNCHECKED ||
           x->verdict == VERDICT_NO_TIME;
}

// Writes <failure message="slower: 1.08 (1.05 to 1.11)"/>.
static void put_verdict(FILE *out, const struct compared *x)
{
    char ratio[64];
    bool failure = is_failure(x);
    fprintf(out, "      <%s message=\"%s", failure ? "failure" : "skipped",
            verdict_name(x->verdict));
    if (x->why[0]) fprintf(out, ": "), markup_xml(out, x->why);
    if (x->timed) fprintf(out, "; time of NEW over OLD %s", verdict_ratio(x, ratio));
    fprintf(out, "\"%s%s%s/>\n", failure ? " type=\"" : "", failure ? verdict_name(x->verdict) : "",
            failure ? "\"" : "");
}

static void put_case(FILE *out, const struct compared *x)
{
    const struct observation *s = compared_any(x);
    fprintf(out, "    <testcase classname=\"");
    markup_xml(out, s->matrix);
    fprintf(out, "\" name=\"");
    markup_xml(out, s->key);
    fprintf(out, "\"");
    if (x->timed) fprintf(out, " time=\"%.9f\"", x->ms[SIDE_NEW] * 1e-3);
    if (!is_failure(x) && !is_skipped(x)) {
        fprintf(out, "/>\n");
        return;
    }
    fprintf(out, ">\n");
    put_verdict(out, x);
    fprintf(out, "    </testcase>\n");
}

int verdict_junit(FILE *out, const struct comparison *c)
{
    long long failures = 0, skipped = 0;
    for (int64_t i = 0; i < c->count; i++) {
        failures += is_failure(&c->cases[i]);
        skipped += is_skipped(&c->cases[i]);
    }
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuites>\n"
            "  <testsuite name=\"spbench compare\" tests=\"%lld\" failures=\"%lld\" errors=\"0\" "
            "skipped=\"%lld\">\n",
            (long long)c->count, failures, skipped);
    for (int64_t i = 0; i < c->count; i++) put_case(out, &c->cases[i]);
    fprintf(out, "  </testsuite>\n</testsuites>\n");
    return OK;
}
