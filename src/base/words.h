// Lists of words: those of the command line, with commas between, and those of messages. Endings.
#ifndef WORDS_H
#define WORDS_H

#include "base/base.h"

#define WORD_MAX 64 // letters of an item, its end included

// The next item of the comma-separated list at *rest, which moves past it. 1: there is one, 0: the
// list is at its end, -1: the item is empty or too long.
int words_next(const char **rest, char item[WORD_MAX]);
// The error of the option `name` whose list has such an item.
int words_bad(const char *name, const char *text);
// Appends `word` to `text`, after `between` unless the text is empty. What does not fit is cut off.
void words_add(char *text, size_t size, const char *between, const char *word);
// Appends formatted text to `text`. What does not fit is cut off.
void words_print(char *text, size_t size, const char *format, ...) PRINTF_LIKE(3, 4);

// The same as a sentence has it: "a", "a and b", "a, b and c".
void words_and(char *text, size_t size, const char *word);
// And with an "or".
void words_or(char *text, size_t size, const char *word);

// Returns true if `text` ends with `end`.
bool ends_with(const char *text, const char *end);

#endif
