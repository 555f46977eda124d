#include "algos/algo.h"

#include <stdio.h>
#include <string.h>

const char *layout_name(enum layout layout) { return layout == LAYOUT_ROW ? "row" : "col"; }

// Declares every descriptor of algos.def ...
#define ALGO(op, symbol, name, build) DECLARE_##build(op##_##symbol)
#define DECLARE_CPU(symbol)           extern const struct algo symbol##_cpu;
#define DECLARE_CUDA(symbol)          extern const struct algo symbol##_cuda;
#define DECLARE_CUSPARSE(symbol)      DECLARE_CUDA(symbol)
#include "algos/algos.def"
#undef ALGO

// ... and lists those that are in this build; the others keep a line that says why not.
#define KIND_spmm         OP_SPMM
#define KIND_sddmm        OP_SDDMM
#define KIND_spgemm       OP_SPGEMM
#define ENTRY_CPU(symbol) DEVICE_CPU, &symbol##_cpu, NULL
#ifdef SPBENCH_CUDA
#define ENTRY_CUDA(symbol) DEVICE_CUDA, &symbol##_cuda, NULL
#else
#define ENTRY_CUDA(symbol) DEVICE_CUDA, NULL, "built without CUDA"
#endif
#ifdef SPBENCH_CUSPARSE
#define ENTRY_CUSPARSE(symbol) ENTRY_CUDA(symbol)
#else
#define ENTRY_CUSPARSE(symbol) DEVICE_CUDA, NULL, "built without cuSPARSE"
#endif

#define ALGO(op, symbol, name, build) {name, KIND_##op, ENTRY_##build(op##_##symbol)},
const struct algo_entry algos[] = {
#include "algos/algos.def"
};
#undef ALGO
const int algo_count = sizeof algos / sizeof *algos;

int64_t csr_dev_bytes(const struct csr_dev *A, enum prec prec)
{
    return ((int64_t)A->m + 1) * A->ptr_bytes + A->nnz * (4 + (int64_t)prec_bytes(prec));
}

int task_phase(struct task *t, const char *name)
{
    struct phases *p = t->phases;
    if (!p) return OK;
    int err = device_sync(t->dev);
    double now = clock_ms();
    if (p->current >= 0) p->list[p->current].ms += now - p->since;
    p->current = -1;
    for (int i = 0; name && i < p->count; i++)
        if (!strcmp(p->list[i].name, name)) p->current = i;
    if (name && p->current < 0 && p->count < PHASES_MAX) {
        p->current = p->count++;
        p->list[p->current].name = name;
    }
    p->since = now;
    return err;
}

void task_release_result(struct task *t)
{
    if (t->algo->release) t->algo->release(t);
    device_free(t->dev, t->R.ptr);
    device_free(t->dev, t->R.idx);
    device_free(t->dev, t->R.val);
    t->R = (struct csr_dev){0};
}

double task_option(const struct task *t, const char *name)
{
    const struct algo_option *o = t->algo->options;
    for (int i = 0; o && o[i].name; i++)
        if (!strcmp(o[i].name, name)) return t->opt[i];
    return 0;
}

// A figure that is already there is replaced, so that run() may report each time.
static struct figure *figure_slot(struct task *t, const char *name)
{
    for (int i = 0; i < t->figure_count; i++)
        if (!strcmp(t->figures[i].name, name)) return &t->figures[i];
    if (t->figure_count == FIGURES_MAX) return NULL;
    struct figure *f = &t->figures[t->figure_count++];
    *f = (struct figure){0};
    snprintf(f->name, sizeof f->name, "%s", name);
    return f;
}

void task_number(struct task *t, const char *name, double number)
{
    struct figure *f = figure_slot(t, name);
    if (f) f->number = number;
}

void task_text(struct task *t, const char *name, const char *text)
{
    struct figure *f = figure_slot(t, name);
    if (f) snprintf(f->text, sizeof f->text, "%s", text);
}
