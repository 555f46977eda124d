// The line of progress on stderr, which each new text replaces.
#ifndef TERMINAL_H
#define TERMINAL_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Moves to the start of the line and erases the line.
#define TERMINAL_ERASE "\r\033[K"

// Returns true if stderr is a terminal that can erase a line. $TERM is empty, missing or "dumb" for
// a terminal that cannot.
static inline bool terminal_can_erase(void)
{
    const char *type = getenv("TERM");
    return type && *type && strcmp(type, "dumb") && isatty(STDERR_FILENO);
}

#endif
