#include "cli/commands/plugins.h"

#include <stdio.h>

#include "sweep/worker_config.h"

// Learns of a file from a worker of its own, so that an error has the name of the file.
static int learn(const char *file, const char **sha256)
{
    char option[] = "-plugin", *words[] = {option, (char *)file};
    const struct worker_config config = {.words = words, .word_count = 2, .device = "cpu"};
    const struct worker_args args = {.describe = true, .run = ""};
    struct survey s;
    int err = survey_make(&config, &args, &s);
    if (err == ERR_DEVICE) return fail(ERR_USAGE, "-plugin %s: %s", file, fail_text());
    if (err) return err;
    err = s.plugin ? plugin_learn(s.plugin, sha256)
                   : fail(ERR_USAGE, "-plugin %s: has no description", file);
    survey_free(&s);
    return err;
}

int plugins_learn(struct options *o)
{
    int err = OK;
    for (int i = 0; i < o->plugin_count && !err; i++)
        err = learn(o->plugins[i], &o->plugin_sha256[i]);
    return err;
}
