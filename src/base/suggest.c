#include "base/suggest.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define LONGEST 40 // letters of the longest name

#define VERSION "--version"
#define FIGURES "make figures RESULTS=FILE"

const char *const suggest_no_commands[] = {VERSION, FIGURES, NULL};

// Words of other programs and the names of this program. To add a word: a row. A word may have
// several names: the name that suggest_offer() gets first wins.
static const struct {
    const char *word, *name;
} synonyms[] = {
    // precisions
    {"double", "f64"},
    {"fp64", "f64"},
    {"float64", "f64"},
    {"single", "f32"},
    {"float", "f32"},
    {"fp32", "f32"},
    {"float32", "f32"},
    {"half", "f16"},
    {"fp16", "f16"},
    {"float16", "f16"},
    {"bfloat16", "bf16"},
    // devices
    {"gpu", "cuda"},
    {"nvidia", "cuda"},
    {"0", "cuda"},
    {"host", "cpu"},
    // words of other options
    {"none", "off"},
    // options
    {"quiet", "q"},
    {"silent", "q"},
    {"verbose", "v"},
    {"output", "o"},
    {"out", "o"},
    {"json", "format"},
    {"json", "o"},
    {"csv", "format"},
    {"csv", "o"},
    {"repeat", "reps"},
    {"repeats", "reps"},
    {"iterations", "reps"},
    {"iters", "reps"},
    {"samples", "reps"},
    {"n", "reps"},
    {"j", "threads"},
    {"jobs", "threads"},
    {"gpu", "device"},
    {"dtype", "prec"},
    {"kernel", "alg"},
    {"kernels", "alg"},
    {"dry-run", "n"},
    // commands
    {"version", VERSION},
    {"show", "report"},
    {"table", "report"},
    {"summary", "report"},
    {"plot", FIGURES},
    {"plots", FIGURES},
    {"figures", FIGURES},
    {"bench", "run"},
    {"benchmark", "run"},
    {"measure", "run"},
    {"generate", "gen"},
    {"diff", "compare"},
};

static int smaller(int a, int b) { return a < b ? a : b; }

// Cost of an edit. A replaced letter costs 1 more, so that a missing, doubled or swapped letter
// wins: "sdmm" suggests sddmm, not spmm.
#define EDIT 64

// Returns the edit distance, with a swap of two neighbours as one edit (optimal string alignment).
static int edit_distance(const char *a, const char *b)
{
    int m = (int)strlen(a), n = (int)strlen(b);
    if (m > LONGEST || n > LONGEST) return INT_MAX;
    int d[LONGEST + 1][LONGEST + 1]; // d[i][j]: from the first i letters of a to the first j of b
    for (int j = 0; j <= n; j++) d[0][j] = EDIT * j;
    for (int i = 1; i <= m; i++) {
        d[i][0] = EDIT * i;
        for (int j = 1; j <= n; j++) {
            int same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);
            d[i][j] = smaller(d[i - 1][j - 1] + (same ? 0 : EDIT + 1),
                              EDIT + smaller(d[i - 1][j], d[i][j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = smaller(d[i][j], d[i - 2][j - 2] + EDIT);
        }
    }
    return d[m][n];
}

static bool is_synonym(const char *word, const char *name)
{
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
        if (!strcasecmp(synonyms[i].word, word) && !strcmp(synonyms[i].name, name)) return true;
    return false;
}

void suggest_start(struct suggestion *s, const char *word)
{
    *s = (struct suggestion){.word = word, .distance = INT_MAX};
}

void suggest_offer(struct suggestion *s, const char *name)
{
    size_t length = strlen(s->word);
    if (s->synonym) return;
    if (is_synonym(s->word, name)) {
        s->best = name;
        s->synonym = true;
        return;
    }
    int distance = edit_distance(s->word, name);
    // A prefix of a name counts as one edit, a name with more letters behind it as two: "grad"
    // suggests "graded".
    size_t common = strlen(name) < length ? strlen(name) : length;
    if (common >= 3 && !strncmp(s->word, name, common))
        distance = smaller(distance, EDIT * (common == length ? 1 : 2));
    if (distance / EDIT > (int)(length + 2) / 3 || distance >= s->distance) return;
    s->best = name;
    s->distance = distance;
}

const char *suggest_text(const struct suggestion *s, char text[64])
{
    if (s->best)
        snprintf(text, 64, "did you mean %s? ", s->best);
    else
        text[0] = 0;
    return text;
}
