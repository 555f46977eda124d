// The line of progress on stderr, which each new text replaces.
#ifndef TERMINAL_H
#define TERMINAL_H

#include <stdbool.h>

// Returns true if stderr is a terminal that can erase a line. $TERM is empty, missing or "dumb" for
// a terminal that cannot.
bool terminal_can_erase(void);
// Moves to the start of the line and erases the line.
#define TERMINAL_ERASE "\r\033[K"

#endif
