// Lists of words: comma-separated lists of the command line, and lists in messages.
#ifndef WORDS_H
#define WORDS_H

#include "base/base.h"

#define WORD_MAX 64 // bytes of an item, with its final zero

// Copies the next item of the comma-separated list at *rest and moves *rest past the item. Returns
// 1, 0 at the end of the list, or -1 if the item is empty or too long.
int words_next(const char **rest, char item[WORD_MAX]);
// Returns ERR_USAGE, with the text for an empty or too long item in the list of option `name`.
int words_bad(const char *name, const char *text);
// Appends `word` to `text`, after `between` unless the text is empty. Cuts off at `size`.
void words_add(char *text, size_t size, const char *between, const char *word);
// Appends formatted text to `text`. Cuts off at `size`.
void words_print(char *text, size_t size, const char *format, ...) PRINTF_LIKE(3, 4);

// Appends `word` to a list in a sentence: "a", "a and b", "a, b and c".
void words_and(char *text, size_t size, const char *word);
// Appends `word` to a list with "or": "a, b or c".
void words_or(char *text, size_t size, const char *word);

// Returns true if `text` ends with `end`.
bool ends_with(const char *text, const char *end);

#endif
