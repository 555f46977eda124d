// "Did you mean": the nearest of some names to a word that is none of them, or the name that has
// the word as a synonym.
#ifndef SUGGEST_H
#define SUGGEST_H

#include <stdbool.h>

struct suggestion {
    const char *word; // what the user typed
    const char *best; // NULL: nothing is near enough
    int distance;     // of `best`: by letters to insert, drop, replace or swap
    bool synonym;     // `best` is another word for it
};

void suggest_start(struct suggestion *s, const char *word);
void suggest_offer(struct suggestion *s, const char *name);
// Suggestions for words that are no commands here; the list ends with NULL.
extern const char *const suggest_no_commands[];
// "did you mean merge? " or "". Writes into `text` and returns it.
const char *suggest_text(const struct suggestion *s, char text[64]);

#endif
