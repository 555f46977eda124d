// Running one case in a test: from a problem, an algorithm and its options to a comparison that
// must be exact, or at least right.
#ifndef CASES_H
#define CASES_H

#include "exact/inputs.h"
#include "test.h"

// The first device of a kind. False where there is none, which is a skip, or a failure.
static inline bool open_kind(enum device_kind kind, struct device *dev)
{
    const char *name = device_list[kind].name;
    if (device_missing(kind)) {
        SKIP("%s: %s", name, device_missing(kind));
        return false;
    }
    int err = device_open(name, dev);
    CHECK(!err, "%s: %s", name, fail_text());
    return !err;
}

// The whole of a program that tests what is for CUDA: opens the device, runs the tests, the last of
// which is NULL. `units`: of the device, as the tests have it; 0: its own.
static inline int main_on_cuda(struct device *dev, int units, void (*const tests[])(void))
{
    if (!open_kind(DEVICE_CUDA, dev)) return TEST_END();
    if (units) dev->units = units;
    for (int i = 0; tests[i]; i++) tests[i]();
    CHECK(dev->used_bytes == 0, "%lld bytes left", (long long)dev->used_bytes);
    device_close(dev);
    return TEST_END();
}

// The same for an exact SpMM; tells what is wrong.
static inline int spmm_inputs(struct inputs *in, struct device *dev, const struct csr *A,
                              enum prec prec, enum layout layout, int64_t k, int64_t pad)
{
    const int64_t axis[AXES_MAX] = {k, layout};
    int err = inputs_make(in, dev, op_find("spmm"), A, prec, axis, true, pad);
    CHECK(!err, "%s", fail_text());
    return err;
}

// Sets the option of this name; a CHECK if the algorithm has none.
static inline void set_option(const struct algo_entry *entry, double *opt, const char *name,
                              double value)
{
    int place = algo_option_find(entry->algo, name);
    CHECK(place >= 0, "%s has no option %s", entry->name, name);
    if (place >= 0) opt[place] = value;
}

static inline double stat_of(const struct case_outcome *out, const char *name)
{
    const struct algo_stat *f = algo_stats_find(&out->stats, name);
    return f ? f->number : -1;
}

#endif
