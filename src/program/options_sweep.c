#include "program/options_sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_BYTES ((double)(64 << 20)) // of memory: with less there is no worker

int parse_timeout(struct options *o, const struct option *self, const char *text)
{
    return parse_seconds(self, text, &o->sweep.timeout_ms);
}

// "512M", "4G", "1.5G"; a plain number is of bytes.
int parse_mem_limit(struct options *o, const struct option *self, const char *text)
{
    static const char units[] = "KMGT";
    char *end;
    double bytes = strtod(text, &end);
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (end == text || (*end && !unit) || (unit && end[1]) || !(bytes > 0))
        return fail(ERR_USAGE, "-%s %s: not a size; 512M and 4G are", self->name, text);
    for (const char *u = units; unit && u <= unit; u++) bytes *= 1024;
    if (!(bytes >= LEAST_BYTES && bytes < 0x1p62))
        return fail(ERR_USAGE, "-%s %s: must be at least 64M%s", self->name, text,
                    bytes > LEAST_BYTES ? ", and less than 4 EB" : "");
    o->sweep.memory_bytes = (int64_t)bytes;
    return OK;
}

int parse_shard(struct options *o, const struct option *self, const char *text)
{
    int used = 0;
    bool good = sscanf(text, "%9d/%9d%n", &o->sweep.shard, &o->sweep.shards, &used) == 2 &&
                !text[used] && o->sweep.shard >= 1 && o->sweep.shard <= o->sweep.shards;
    if (good) return OK;
    return fail(ERR_USAGE, "-%s %s: must be I/N, with I from 1 to N", self->name, text);
}

const char *const missing_words[] = {"error", "skip", NULL};

int parse_missing(struct options *o, const struct option *self, const char *text)
{
    int64_t skip;
    int err = parse_word(self, text, missing_words, &skip);
    o->sweep.skip_missing = skip;
    return err;
}

// Text that others look at.
#define WORD(field)                                                                                \
    int parse_##field(struct options *o, const struct option *self, const char *text)              \
    {                                                                                              \
        if (!*text) return fail(ERR_USAGE, "-%s: its value is empty", self->name);                 \
        o->sweep.field = text;                                                                     \
        return OK;                                                                                 \
    }
WORD(sets)
WORD(folder)
WORD(libraries)
