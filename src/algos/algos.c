#include "algos/algo.h"

#include <string.h>

// Declares and lists every operation and descriptor.
#define OP(name) extern const struct op op_##name;
#include "algos/ops.def"
#undef OP
#define ALGO(op, symbol, name, device, idea) extern const struct algo op##_##symbol##_##device;
#include "algos/algos.def"
#undef ALGO

#define ALGO(op, symbol, name, device, idea) +1
enum {
    OWN = 0
#include "algos/algos.def"
};
#undef ALGO

#define ALGO(op, symbol, name, device, idea) idea,
static const char *ideas[OWN + ALGOS_ADDED_MAX] = {
#include "algos/algos.def"
};
#undef ALGO

#define ALGO(op, symbol, name, device, idea)                                                       \
    {name, &op_##op, KIND_##device, &op##_##symbol##_##device},
static struct algo_entry entries[OWN + ALGOS_ADDED_MAX] = {
#include "algos/algos.def"
};
#undef ALGO
const struct algo_entry *const algos = entries;
int algo_count = OWN;

int algo_add(const struct algo_entry *entry, const char *idea)
{
    if (algo_find(entry->op, entry->name, entry->device))
        return fail(ERR_USAGE, "%s: there is an algorithm of this name for %s on %s", entry->name,
                    entry->op->name, device_list[entry->device].name);
    if (algo_count == COUNT(entries))
        return fail(ERR_USAGE, "%s: more than %d algorithms of plug-ins", entry->name,
                    ALGOS_ADDED_MAX);
    entries[algo_count] = *entry;
    ideas[algo_count++] = idea;
    return OK;
}

const char *algo_idea(const struct algo_entry *entry) { return ideas[entry - algos]; }

const struct algo_entry *algo_find(const struct op *op, const char *name, enum device_kind device)
{
    for (int i = 0; i < algo_count; i++)
        if (algos[i].op == op && algos[i].device == device && !strcmp(algos[i].name, name))
            return &algos[i];
    return NULL;
}

const char *algo_not_built(const struct algo_entry *entry)
{
    const struct device_entry *device = &device_list[entry->device];
    if (entry->algo->plugin) return NULL;
    if (!device->ops) return device->missing;
    return entry->algo->run ? NULL : "built without its library";
}

const char *algo_missing(const struct algo_entry *entry)
{
    const char *why = algo_not_built(entry);
    return why || !entry->algo->missing ? why : entry->algo->missing();
}

// Appends the options of a list whose names are not in found[] yet.
static int add_options(const struct algo_option *list,
                       const struct algo_option *found[ALGO_OPTIONS_MAX], int count)
{
    for (; list && list->name; list++) {
        bool known = false;
        for (int i = 0; i < count; i++) known |= !strcmp(found[i]->name, list->name);
        if (known) continue;
        if (count == ALGO_OPTIONS_MAX)
            bug("option '%s': there are %d already", list->name, ALGO_OPTIONS_MAX);
        found[count++] = list;
    }
    return count;
}

static int options_of(const struct algo *a, const struct algo_option *found[ALGO_OPTIONS_MAX])
{
    int count = add_options(a->options, found, 0);
    for (int f = 0; f < FORMATS_MAX; f++) {
        if (a->A[f]) count = add_options(a->A[f]->options, found, count);
        if (a->S[f]) count = add_options(a->S[f]->options, found, count);
    }
    return count;
}

const struct algo_option *algo_option_at(const struct algo *a, int i)
{
    const struct algo_option *found[ALGO_OPTIONS_MAX];
    return i < options_of(a, found) ? found[i] : NULL;
}

int algo_option_find(const struct algo *a, const char *name)
{
    const struct algo_option *found[ALGO_OPTIONS_MAX];
    for (int i = options_of(a, found) - 1; i >= 0; i--)
        if (!strcmp(found[i]->name, name)) return i;
    return -1;
}

void algo_defaults(const struct algo *a, double opt[ALGO_OPTIONS_MAX])
{
    const struct algo_option *found[ALGO_OPTIONS_MAX];
    for (int i = options_of(a, found) - 1; i >= 0; i--) opt[i] = found[i]->value;
}

int algo_refuse_layout(const struct algo *a, enum layout layout)
{
    char text[32];
    if (a->layouts & BIT(layout)) return OK;
    return fail(ERR_UNSUPPORTED, "the %s-major layout is not supported by this algorithm",
                axis_text(&axis_layout, layout, text));
}

bool algo_takes_columns(const struct algo_entry *entry, const int64_t *axis)
{
    const int columns = entry->algo->columns;
    bool takes = true;
    for (int a = 0; entry->op->axes[a] && columns; a++)
        takes &= entry->op->axes[a] != &axis_k || axis[a] <= columns;
    return takes;
}

int task_refuse_gaps(const struct task *t)
{
    const struct dense_dev *B = &t->in[0], *C = &t->C;
    if (C->layout == LAYOUT_COL || (B->ld == 1 && C->ld == 1)) return OK;
    return fail(ERR_UNSUPPORTED, "the library takes no vector with gaps between its elements");
}

double task_option(const struct task *t, const char *name)
{
    int i = algo_option_find(t->algo, name);
    if (i < 0) bug("%s has no option '%s'", t->entry->name, name);
    return t->opt[i];
}

void task_choose(struct task *t, const char *name, double value)
{
    if (task_option(t, name) == 0) t->opt[algo_option_find(t->algo, name)] = value;
}

void task_format_options(const struct task *t, const struct format *format,
                         double opt[ALGO_OPTIONS_MAX])
{
    const struct algo_option *list = format->options;
    memset(opt, 0, ALGO_OPTIONS_MAX * sizeof *opt);
    for (int i = 0; list && list[i].name; i++) {
        int place = algo_option_find(t->algo, list[i].name);
        opt[i] = place < 0 ? list[i].value : t->opt[place];
    }
}

void task_number(struct task *t, const char *name, double number)
{
    algo_stats_number(&t->stats, name, number);
}

void task_text(struct task *t, const char *name, const char *text)
{
    algo_stats_text(&t->stats, name, text);
}

// Returns the index of the phase of this name. p->count: there is none.
static int find_phase(const struct phases *p, const char *name)
{
    int i = 0;
    while (i < p->count && strcmp(p->list[i].name, name)) i++;
    return i;
}

bool task_phase_fits(const struct task *t, const char *name)
{
    const struct phases *p = t->phases;
    return !p || !name || (strlen(name) < sizeof p->list->name && find_phase(p, name) < PHASES_MAX);
}

int task_phase(struct task *t, const char *name)
{
    struct phases *p = t->phases;
    if (!p) return OK;
    int err = device_sync(t->dev);
    double now = clock_ms();
    if (p->current >= 0) p->list[p->current].ms += now - p->since;
    p->current = name ? find_phase(p, name) : -1;
    if (!task_phase_fits(t, name))
        bug("phase '%s': there are %d already, or the name is too long", name, p->count);
    if (p->current == p->count) strcpy(p->list[p->count++].name, name);
    p->since = now;
    return err;
}

int task_run(struct task *t)
{
    device_run_begin(t->dev, t->entry->op->result != RESULT_SPARSE);
    int err = t->algo->run(t);
    int left = device_run_end(t->dev);
    return err ? err : left;
}

void task_free_state(struct task *t)
{
    mem_free(t->state);
    t->state = NULL;
}

void task_release_result(struct task *t)
{
    if (t->entry->op->result != RESULT_SPARSE) return;
    if (t->algo->release) t->algo->release(t);
    device_free(t->dev, t->R.ptr);
    device_free(t->dev, t->R.idx);
    device_free(t->dev, t->R.val);
    t->R = (struct csr_dev){.format = &format_csr, .type = prec_out(t->prec)};
}
