#include "cli/ab_narrow.h"

#include <stdio.h>
#include <string.h>

static bool has_word(const char *list, const char *word)
{
    char item[WORD_MAX];
    bool has = false;
    while (words_next(&list, item) > 0) has |= !strcmp(item, word);
    return has;
}

// Returns true if one of the algorithms has the parameter, on any device.
static bool have_param(const struct narrowed *n, const char *param)
{
    bool have = false;
    for (int i = 0; i < algo_count; i++)
        if (algos[i].algo && !strcmp(algos[i].op->name, n->op) && has_word(n->algs, algos[i].name))
            have |= algo_param_find(algos[i].algo, param) >= 0;
    return have;
}

// Adds a word to a list. Returns false if the list is full.
static bool add(char list[512], const char *word)
{
    bool fits = strlen(list) + strlen(word) + 2 <= 512 && strlen(word) < WORD_MAX;
    if (fits) words_add(list, 512, ",", word);
    return fits;
}

bool narrow_cases(struct narrowed *n, const struct options *o, const struct comparison *all,
                  const char *matrix)
{
    bool unclear = false, fits = true;
    *n = (struct narrowed){.op = ""};
    for (int64_t i = 0; i < all->count; i++) {
        const struct sighting *s = compared_any(&all->cases[i]);
        if (all->cases[i].verdict != VERDICT_UNCLEAR || strcmp(s->matrix, matrix)) continue;
        unclear = true;
        snprintf(n->op, sizeof n->op, "%.*s", (int)strcspn(s->key, " "), s->key);
        if (!has_word(n->algs, s->alg)) fits &= add(n->algs, s->alg);
    }
    for (int i = 0; i < o->setting_count; i++) {
        char word[WORD_MAX + 32];
        snprintf(word, sizeof word, "%s=%.10g", o->settings[i].name, o->settings[i].value);
        if (have_param(n, o->settings[i].name)) fits &= add(n->opts, word);
    }
    if (!fits) n->algs[0] = 0;
    return unclear;
}

// Returns true if the word is -op, -alg or -opt, with one dash or two, with or without a value.
static bool is_narrowed(const char *word)
{
    size_t length = strcspn(word, "=");
    while (*word == '-') word++, length--;
    return (length == 2 && !strncmp(word, "op", 2)) || (length == 3 && !strncmp(word, "alg", 3)) ||
           (length == 3 && !strncmp(word, "opt", 3));
}

int narrow_words(const struct narrowed *n, const struct options *o, const char **argv)
{
    int count = 0;
    for (int i = 0; i < o->passed_count; i++) {
        const char *word = o->passed[i];
        if (n->algs[0] && word[0] == '-' && is_narrowed(word))
            i += !strchr(word, '='); // the value is the next word
        else
            argv[count++] = word;
    }
    if (!n->algs[0]) return count;
    argv[count++] = "-op", argv[count++] = n->op;
    argv[count++] = "-alg", argv[count++] = n->algs;
    if (n->opts[0]) argv[count++] = "-opt", argv[count++] = n->opts;
    return count;
}
