// "Did you mean ...?": for an unknown word, the name with the smallest edit distance, or the name
// that has the word as a synonym.
#ifndef SUGGEST_H
#define SUGGEST_H

#include <stdbool.h>

struct suggestion {
    const char *word; // as the user typed it
    const char *best; // nearest name so far; NULL: none is near enough
    int distance;     // edit distance of `best` from `word`
    bool synonym;     // `word` is a synonym of `best`
};

// Starts a search for `word`. Then suggest_offer() is called with each name, then suggest_text().
void suggest_start(struct suggestion *s, const char *word);
void suggest_offer(struct suggestion *s, const char *name);
// Names to offer for an unknown command that are not commands themselves; NULL ends the list.
extern const char *const suggest_no_commands[];
// Writes "did you mean merge? " or "" into `text` and returns `text`.
const char *suggest_text(const struct suggestion *s, char text[64]);

#endif
