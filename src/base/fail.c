#include "base/fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"

static _Thread_local char last_failure[FAIL_TEXT_MAX];
static _Thread_local bool is_open; // the text is neither taken nor dropped
volatile sig_atomic_t interrupted;

int fail(enum err code, const char *format, ...)
{
    char text[FAIL_TEXT_MAX], *whole = NULL; // not last_failure, which may be an argument
    if (is_open) return code;
    is_open = true;
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(text, sizeof text, format, args);
    // A long text is formatted whole, so that its end is kept. Without memory its beginning is.
    // malloc(), not mem_alloc(): memory.c calls fail().
    if (length >= FAIL_TEXT_MAX) whole = malloc((size_t)length + 1);
    if (whole) vsnprintf(whole, (size_t)length + 1, format, again);
    va_end(again);
    va_end(args);
    utf8_visible(whole ? whole : text, last_failure, sizeof last_failure);
    free(whole);
    return code;
}

const char *fail_text(void)
{
    is_open = false;
    return last_failure;
}

int fail_drop(void)
{
    is_open = false;
    return OK;
}

bool fail_is_open(void) { return is_open; }

void fail_check_ended(void)
{
    if (is_open)
        fprintf(stderr, "spbench: a mistake in the program: an error was not handled: %s\n",
                fail_text());
}

void bug(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "spbench: a mistake in the program: ");
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
    abort();
}
