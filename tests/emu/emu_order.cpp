// The order in which blocks, warps and lanes run, and the random numbers of the shuffled one.
#include "emu_internal.h"

#include <numeric>

#include "base/mix.h"

namespace emu
{

static uint64_t random_state = 1;

void random_seed(uint64_t seed) { random_state = seed; }

EMU_BARE uint64_t random_now() { return mix(random_state += MIX_STEP); }

EMU_BARE void order_fill(int *order, int n, enum emu_order how)
{
    for (int i = 0; i < n; i++) order[i] = how == EMU_REVERSE ? n - 1 - i : i;
    if (how != EMU_SHUFFLE) return;
    for (int i = n - 1; i > 0; i--) {
        int j = (int)(random_now() % (unsigned)(i + 1)), t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
}

// A step that has no divisor in common with the number of blocks visits them all.
block_order::block_order(uint64_t count, enum emu_order how)
    : n(count), step(1), start(0), reverse(how == EMU_REVERSE)
{
    if (how != EMU_SHUFFLE) return;
    start = random_now() % n;
    do step = random_now() % n + 1;
    while (std::gcd(step, n) != 1);
}

uint64_t block_order::at(uint64_t i) const
{
    if (reverse) i = n - 1 - i;
    return (uint64_t)(((unsigned __int128)i * step + start) % n);
}

} // namespace emu
