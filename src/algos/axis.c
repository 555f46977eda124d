#include "algos/axis.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "base/words.h"

const char *axis_text(const struct axis *axis, int64_t value, char text[32])
{
    if (axis->words)
        snprintf(text, 32, "%s", axis->words[value]);
    else
        snprintf(text, 32, "%lld", (long long)value);
    return text;
}

int64_t axis_word(const struct axis *axis, const char *word)
{
    for (int i = 0; axis->words && axis->words[i]; i++)
        if (!strcmp(axis->words[i], word)) return i;
    return -1;
}

bool axis_try(const struct axis *axis, int done, int64_t *value)
{
    if (!axis->words && !axis->tried) bug("-%s: no numbers to try", axis->name);
    *value = axis->words ? done : axis->tried[done];
    return axis->words ? axis->words[done] != NULL : *value >= 0;
}

static int no_such_word(const struct axis *axis, const char *item)
{
    struct suggestion s;
    char guess[64], all[128] = "";
    suggest_start(&s, item);
    for (int i = 0; axis->words[i]; i++) {
        suggest_offer(&s, axis->words[i]);
        words_add(all, sizeof all, ", ", axis->words[i]);
    }
    return fail(ERR_USAGE, "-%s %s: no such value; %sit is one of %s", axis->name, item,
                suggest_text(&s, guess), all);
}

static int parse_item(const struct axis *axis, const char *item, int64_t *value)
{
    if (axis->words) {
        *value = axis_word(axis, item);
        return *value >= 0 ? OK : no_such_word(axis, item);
    }
    char *end;
    errno = 0;
    *value = strtoll(item, &end, 10);
    if (end == item || *end || isspace((unsigned char)*item))
        return fail(ERR_USAGE, "-%s %s: not a whole number", axis->name, item);
    if (errno || *value < axis->min || *value > axis->max)
        return fail(ERR_USAGE, "-%s %s: must be from %lld to %lld", axis->name, item,
                    (long long)axis->min, (long long)axis->max);
    return OK;
}

int axis_parse(const struct axis *axis, const char *text, struct axis_values *out)
{
    const char *rest = text;
    char item[WORD_MAX];
    int more;
    *out = (struct axis_values){.text = text};
    while ((more = words_next(&rest, item)) > 0) {
        int64_t value;
        int err = parse_item(axis, item, &value);
        if (err) return err;
        bool known = false;
        for (int i = 0; i < out->count; i++) known |= out->value[i] == value;
        if (known) continue;
        if (out->count == AXIS_VALUES_MAX)
            return fail(ERR_USAGE, "-%s: more than %d values", axis->name, AXIS_VALUES_MAX);
        out->value[out->count++] = value;
    }
    return more < 0 ? words_bad(axis->name, text) : OK;
}
