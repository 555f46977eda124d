// Short names of cases: the words of the key in which cases differ, and all options in the key. A
// key has no options at their default. compared_differ() names the difference of two cases.
#include "compare/compare.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "base/words.h"

#define NAMES_MAX 128 // options and axes; more are always shown
#define WORD_ROOM 128 // size of a shown word
#define FIXED     4   // operation, algorithm, device and precision: the first words, without a name

// A word of a key. `name` is the part before "=", or the word's position. `value` is that of the
// first case.
struct word {
    const char *name, *value;
    size_t name_length, value_length;
    bool varies;
};
struct words {
    struct word list[NAMES_MAX];
    int count;
};

// Returns the end of the words: the blank before the size and the name of the matrix.
static const char *end_of(const struct observation *s)
{
    const char *end = s->key + strlen(s->key);
    size_t name = strlen(s->matrix);
    if (strlen(s->key) <= name || strcmp(end - name, s->matrix)) return end; // the key was cut
    end -= name + 1;
    while (end > s->key && end[-1] != ' ') end--;
    return end > s->key ? end - 1 : end;
}

// Splits off the next word as a name and a value. Returns false at the end. A word without a name
// is named after its position.
static bool next_word(const char **p, const char *end, int place, struct word *w)
{
    static const char *const places[FIXED] = {"op", "alg", "device", "prec"};
    while (*p < end && **p == ' ') ++*p;
    if (*p >= end) return false;
    const char *word = *p;
    while (*p < end && **p != ' ') ++*p;
    const char *is = memchr(word, '=', (size_t)(*p - word));
    *w = (struct word){.name = word, .value = word, .value_length = (size_t)(*p - word)};
    if (place < FIXED)
        w->name = places[place], w->name_length = strlen(places[place]);
    else if (is)
        w->name_length = (size_t)(is - word);
    return true;
}

static struct word *find(struct words *all, const struct word *w)
{
    for (int i = 0; i < all->count; i++)
        if (all->list[i].name_length == w->name_length &&
            !memcmp(all->list[i].name, w->name, w->name_length))
            return &all->list[i];
    return NULL;
}

static void note(struct words *all, const struct observation *s)
{
    const char *p = s->key, *end = end_of(s);
    struct word w;
    for (int place = 0; next_word(&p, end, place, &w); place++) {
        struct word *known = find(all, &w);
        if (known)
            known->varies |= known->value_length != w.value_length ||
                             memcmp(known->value, w.value, w.value_length);
        else if (w.name_length && all->count < NAMES_MAX)
            all->list[all->count++] = w;
    }
}

// Returns true if a word is part of the short name. The algorithm always is. Words behind the cache
// are too (launch, options, library), because only some keys have them.
static bool is_shown(struct words *all, const struct word *w, int place, bool behind_cache)
{
    const struct word *known = find(all, w);
    return place == 1 || behind_cache || !known || known->varies;
}

static char *name_of(struct words *all, const struct observation *s)
{
    char text[CASE_KEY_MAX] = "", *name;
    const char *p = s->key, *end = end_of(s);
    size_t used = 0;
    struct word w;
    bool behind_cache = false;
    for (int place = 0; next_word(&p, end, place, &w); place++) {
        bool told = is_shown(all, &w, place, behind_cache);
        behind_cache |= w.name_length == 5 && !memcmp(w.name, "cache", 5);
        if (!told || used + w.value_length + 2 > sizeof text) continue;
        if (used) text[used++] = ' ';
        memcpy(text + used, w.value, w.value_length);
        text[used += w.value_length] = 0;
    }
    name = mem_alloc(4 * (int64_t)used + 16, 1); // a byte may become four
    return name ? (char *)utf8_visible(text, name, 4 * used + 16) : NULL;
}

// Returns true if the word is the library of `s`, written with dashes for blanks.
static bool is_library(const struct observation *s, const struct word *w)
{
    if (!s->library || strlen(s->library) != w->value_length) return false;
    for (size_t i = 0; i < w->value_length; i++)
        if (w->value[i] != (s->library[i] == ' ' ? '-' : s->library[i])) return false;
    return true;
}

// Returns true if a key has the word. *named: the key has a word of the same name.
static bool has_word(const struct observation *s, const struct word *w, bool *named)
{
    const char *p = s->key, *end = end_of(s);
    struct word x;
    bool has = false;
    *named = false;
    for (int place = 0; next_word(&p, end, place, &x); place++) {
        *named |= x.name_length && x.name_length == w->name_length &&
                  !memcmp(x.name, w->name, x.name_length);
        has |= x.value_length == w->value_length && !memcmp(x.value, w->value, x.value_length);
    }
    return has;
}

// Sets `extra` to the words that b has and a lacks. Returns false if one is neither a library nor
// an option.
static bool take_extra(const struct observation *a, const struct observation *b,
                       char extra[WHY_MAX])
{
    const char *p = b->key, *end = end_of(b);
    struct word w;
    for (int place = 0; next_word(&p, end, place, &w); place++) {
        bool named;
        if (has_word(a, &w, &named) || (a->library && is_library(b, &w))) continue;
        if (place < FIXED || named || !w.name_length) return false;
        char text[WORD_ROOM];
        snprintf(text, sizeof text, "%.*s", (int)w.value_length, w.value);
        words_add(extra, WHY_MAX, ", ", text);
    }
    return true;
}

bool compared_differ(const struct observation *a, const struct observation *b, char text[WHY_MAX])
{
    char more[WHY_MAX] = "", less[WHY_MAX] = "";
    if (strcmp(a->matrix, b->matrix) || strcmp(a->alg, b->alg)) return false;
    if (strcmp(end_of(a), end_of(b)) || !a->library != !b->library) return false;
    if (!take_extra(a, b, more) || !take_extra(b, a, less)) return false;
    bool version = a->library && strcmp(a->library, b->library);
    snprintf(text, WHY_MAX, "%s%s%s%.100s%s%.100s", version ? "of " : "", version ? b->library : "",
             more[0] ? version ? ", with " : "with " : "", more,
             less[0] ? version || more[0] ? ", without " : "without " : "", less);
    return true;
}

int compared_names_make(struct compared_names *n, const struct comparison *c)
{
    struct words all = {.count = 0};
    *n = (struct compared_names){.text = mem_zero_alloc(c->count, sizeof *n->text)};
    if (!n->text) return ERR_MEMORY;
    for (int64_t i = 0; i < c->count; i++) note(&all, compared_any(&c->cases[i]));
    for (; n->count < c->count; n->count++) {
        n->text[n->count] = name_of(&all, compared_any(&c->cases[n->count]));
        if (!n->text[n->count]) return ERR_MEMORY;
    }
    return OK;
}

void compared_names_free(struct compared_names *n)
{
    for (int64_t i = 0; i < n->count; i++) mem_free(n->text[i]);
    mem_free(n->text);
    *n = (struct compared_names){0};
}
