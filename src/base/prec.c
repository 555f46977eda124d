#include "base/prec.h"

#include "base/fail.h"

const struct type_facts type_list[TYPES] = {
#define TYPE(symbol, name, words, bits, prefix, sum, unit, largest, smallest)                      \
    [symbol] = {unit, largest, smallest},
#include "base/precs.def"
};

const struct prec_facts prec_list[PRECS] = {
#define TYPE(symbol, name, words, bits, prefix, sum, ...) [symbol] = {name, symbol, symbol, sum},
#define MIXED(symbol, name, words, in, out, sum)          [symbol] = {name, in, out, sum},
#include "base/precs.def"
};

bool prec_is_f32(enum prec prec)
{
    if (prec != F32 && prec != F64) bug("%s is neither f32 nor f64", prec_name(prec));
    return prec == F32;
}
