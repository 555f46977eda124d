#include "sweep/sweep_cpus.h"

#include <omp.h>
#include <stdlib.h>

#include "base/cgroup.h"
#include "sweep/cpu_split.h"

static bool is_bound(void)
{
    static const char *const names[] = {"OMP_PLACES", "OMP_PROC_BIND", "GOMP_CPU_AFFINITY"};
    bool bound = false;
    for (int i = 0; i < COUNT(names); i++) bound |= getenv(names[i]) != NULL;
    return bound;
}

int sweep_cpus_share(struct sweep_cpus *c, int wanted, int count, struct sweep_place *places)
{
    struct cpus mine, shares[WORKER_DEVICES_MAX];
    cpus_mine(&mine);
    shares_make(&mine, count, c->near, shares);
    int each = shares[0].count, most = omp_get_max_threads() / count;
    bool pinned = each && wanted <= each && !is_bound();
    for (int i = 0; i < count; i++)
        places[i].cpus = pinned ? cpus_text(&shares[i], c->text[i]) : NULL;
    if (wanted) return 0;
    return shares_threads(count, pinned && each < most ? each : most, cgroup_processors());
}
