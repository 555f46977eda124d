#include "base/prec.h"

const struct type_facts type_list[TYPES] = {
#define TYPE(symbol, bytes, unit, largest, smallest) [symbol] = {bytes, unit, largest, smallest},
#include "base/precs.def"
#undef TYPE
};

const struct prec_facts prec_list[PRECS] = {
#define PREC(symbol, in, out, sum, name) [symbol] = {name, in, out, sum},
#include "base/precs.def"
#undef PREC
};

int prec_find(const char *name)
{
    for (int i = 0; i < PRECS; i++)
        if (!strcmp(prec_list[i].name, name)) return i;
    return -1;
}
