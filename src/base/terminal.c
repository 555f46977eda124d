#include "base/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool terminal_can_erase(void)
{
    const char *type = getenv("TERM");
    return type && *type && strcmp(type, "dumb") && isatty(STDERR_FILENO);
}
