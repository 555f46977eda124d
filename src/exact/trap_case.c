#include "exact/trap_case.h"

#include <stdio.h>

#include "exact/inputs.h"

bool trap_has_room(struct trap_case *c, int64_t bytes)
{
    char need[32], have[32];
    const bool host = device_is_host(c->dev);
    const int64_t room = host ? mem_available() : c->dev->memory_bytes;
    if (bytes <= room / 2) return true;
    snprintf(c->why, sizeof c->why, "the case needs %s, more than half of the %s of %s",
             size_text(bytes, need), size_text(room, have), c->dev->id);
    return false;
}

void trap_differs(struct trap_case *c, int64_t i, int64_t j, double got, double want)
{
    snprintf(c->why, sizeof c->why, "C(%lld, %lld) is %.9g and should be %.9g", (long long)i,
             (long long)j, got, want);
}

enum exact_result trap_failed(struct trap_case *c, int err)
{
    snprintf(c->why, sizeof c->why, "%s", fail_text());
    return exact_of_error(err);
}
