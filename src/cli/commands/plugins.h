// The plug-ins of a command line.
#ifndef PLUGINS_H
#define PLUGINS_H

#include "cli/options/options.h"

// Adds the algorithms of all plug-ins to the list of algorithms, without functions: a worker loads
// each file and describes it. Sets o->plugin_sha256.
int plugins_learn(struct options *o);

#endif
