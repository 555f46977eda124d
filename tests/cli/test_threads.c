// How many threads OpenMP gives after threads_use().
#include "cli/options/threads.h"

#include <omp.h>

#include "base/base.h"
#include "test.h"

static int threads_there(void)
{
    int count = 0;
#pragma omp parallel reduction(+ : count)
    count++;
    return count;
}

int main(void)
{
    omp_set_dynamic(1); // as OMP_DYNAMIC=true: the fewer, the more the machine has to do
    for (int wanted = 1; wanted <= 16; wanted *= 4) {
        CHECK(!threads_use(wanted), "%s", fail_text());
        CHECK(threads_there() == wanted, "%d threads, not %d", threads_there(), wanted);
    }
    CHECK(!threads_use(0) && threads_there() == 16, "0 leaves them as they are: %d",
          threads_there());
    return TEST_END();
}
