#include "base/secret.h"

#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/mix.h"

uint64_t secret(void)
{
    uint64_t x;
    if (getrandom(&x, sizeof x, 0) == (ssize_t)sizeof x) return x;
    // A kernel without getrandom(): the nanoseconds of the clock.
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return mix((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec + (uint64_t)getpid());
}
