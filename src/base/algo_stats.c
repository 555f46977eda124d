#include "base/algo_stats.h"

#include <string.h>

const struct algo_stat *algo_stats_find(const struct algo_stats *f, const char *name)
{
    for (int i = 0; i < f->count; i++)
        if (!strcmp(f->list[i].name, name)) return &f->list[i];
    return NULL;
}

bool algo_stats_fit(const struct algo_stats *f, const char *name)
{
    return strlen(name) < sizeof f->list->name &&
           (f->count < ALGO_STATS_MAX || algo_stats_find(f, name));
}

static void copy_short(char to[32], const char *from)
{
    size_t length = strlen(from);
    if (length >= 32) bug("stat '%s': a name or a text of %zu letters, 31 at most", from, length);
    memcpy(to, from, length + 1);
}

static struct algo_stat *find_or_add(struct algo_stats *f, const char *name)
{
    struct algo_stat *old = (struct algo_stat *)algo_stats_find(f, name);
    if (old) return old;
    if (f->count == ALGO_STATS_MAX) bug("stat '%s': there are %d already", name, ALGO_STATS_MAX);
    struct algo_stat *x = &f->list[f->count++];
    *x = (struct algo_stat){.number = 0};
    copy_short(x->name, name);
    return x;
}

void algo_stats_number(struct algo_stats *f, const char *name, double number)
{
    struct algo_stat *x = find_or_add(f, name);
    x->number = number;
    x->text[0] = 0;
}

void algo_stats_text(struct algo_stats *f, const char *name, const char *text)
{
    copy_short(find_or_add(f, name)->text, text);
}
