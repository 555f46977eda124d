#include "base/figures.h"

#include <string.h>

const struct figure *figures_find(const struct figures *f, const char *name)
{
    for (int i = 0; i < f->count; i++)
        if (!strcmp(f->list[i].name, name)) return &f->list[i];
    return NULL;
}

bool figures_fit(const struct figures *f, const char *name)
{
    return strlen(name) < sizeof f->list->name && (f->count < FIGURES_MAX || figures_find(f, name));
}

static void copy_short(char to[32], const char *from)
{
    size_t length = strlen(from);
    if (length >= 32) bug("figure '%s': a name or a text of %zu letters, 31 at most", from, length);
    memcpy(to, from, length + 1);
}

static struct figure *find_or_add(struct figures *f, const char *name)
{
    struct figure *old = (struct figure *)figures_find(f, name);
    if (old) return old;
    if (f->count == FIGURES_MAX) bug("figure '%s': there are %d already", name, FIGURES_MAX);
    struct figure *x = &f->list[f->count++];
    *x = (struct figure){.number = 0};
    copy_short(x->name, name);
    return x;
}

void figures_number(struct figures *f, const char *name, double number)
{
    struct figure *x = find_or_add(f, name);
    x->number = number;
    x->text[0] = 0;
}

void figures_text(struct figures *f, const char *name, const char *text)
{
    copy_short(find_or_add(f, name)->text, text);
}
