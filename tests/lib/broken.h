// A format's check() names what is broken: one invariant after the other is broken, found, and
// mended. A test of a format says once whose fields it breaks:
//
//     #define BREAK(place, value, want) BREAK_OF(&S->head, place, value, want)
//     BREAK(S->idx[6], 2, "columns not ascending");
#ifndef BROKEN_H
#define BROKEN_H

#include "formats/format.h"
#include "test.h"

static const char *what_is_broken(const struct sparse *X)
{
    const char *broken = X->format->check(X);
    return broken ? broken : "nothing";
}

#define BREAK_OF(X, place, value, want)                                                            \
    do {                                                                                           \
        __typeof__(place) kept = place;                                                            \
        place = value;                                                                             \
        CHECK_TEXT(what_is_broken(X), want);                                                       \
        place = kept;                                                                              \
        CHECK(!(X)->format->check(X), "not mended after: %s", want);                               \
    } while (0)

#endif
