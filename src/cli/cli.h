// The command line.
#ifndef CLI_H
#define CLI_H

#include "cli/commands/request.h"

// Parses the command line and runs its command. The caller prints fail_text().
int cli_main(int argc, char **argv, struct outcome *outcome);

#endif
