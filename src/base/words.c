#include "base/words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int words_next(const char **rest, char item[WORD_MAX])
{
    if (!*rest) return 0;
    size_t length = strcspn(*rest, ",");
    if (!length || length >= WORD_MAX) return -1;
    memcpy(item, *rest, length);
    item[length] = 0;
    *rest = (*rest)[length] ? *rest + length + 1 : NULL;
    return 1;
}

int words_bad(const char *name, const char *text)
{
    if (!*text) return fail(ERR_USAGE, "-%s: its value is empty", name);
    return fail(ERR_USAGE, "-%s %s: an item of the list is empty or too long", name, text);
}

void words_add(char *text, size_t size, const char *between, const char *word)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used ? between : "", word);
}

void words_print(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

// Appends `word` after `link`. An earlier `link` in `text` becomes a comma.
static void add_last(char *text, size_t size, const char *link, const char *word)
{
    static const char comma[] = ", ";
    char *last = strstr(text, link), *after = last ? last + strlen(link) : NULL;
    if (last) {
        memmove(last + strlen(comma), after, strlen(after) + 1);
        memcpy(last, comma, strlen(comma));
    }
    words_add(text, size, link, word);
}

void words_and(char *text, size_t size, const char *word) { add_last(text, size, " and ", word); }

void words_or(char *text, size_t size, const char *word) { add_last(text, size, " or ", word); }

bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && !strcmp(text + length - tail, end);
}
