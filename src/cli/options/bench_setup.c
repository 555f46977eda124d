#include "cli/options/bench_setup.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/suggest.h"

// Resolves -device. `auto` looks for a GPU without opening one.
static int resolve_device(struct bench_setup *setup, const struct options *o)
{
    int index;
    int err = device_parse(o->device, &setup->primary, &index);
    if (err) return err;
    device_id(setup->primary, index, setup->device);
    setup->only = strcmp(o->device, "auto") != 0;
    for (int kind = DEVICE_KINDS - 1;
         kind > (int)setup->primary && !setup->only && !setup->fallback[0]; kind--)
        snprintf(setup->fallback, sizeof setup->fallback, "%s",
                 device_missing((enum device_kind)kind));
    return OK;
}

// Sets the id of the device for a kind: the chosen device, or the CPU.
static void device_of(const struct bench_setup *setup, enum device_kind kind, char id[16])
{
    if (kind == setup->primary)
        snprintf(id, 16, "%s", setup->device);
    else
        snprintf(id, 16, "%s", device_list[kind].name);
}

static bool is_pattern(const char *item) { return strpbrk(item, "*?[") || !strcmp(item, "all"); }

static bool item_matches(const char *item, const char *name)
{
    return !strcmp(item, "all") || !fnmatch(item, name, 0);
}

// Algorithms chosen so far, size at most algo_count.
struct chosen {
    struct choice_entry *list;
    int count;
};

static void chosen_add(const struct bench_setup *setup, struct chosen *chosen,
                       const struct algo_entry *entry, bool by_pattern)
{
    int i = 0;
    while (i < chosen->count && chosen->list[i].entry != entry) i++;
    struct choice_entry *e = &chosen->list[i];
    e->by_pattern = by_pattern && (i == chosen->count || e->by_pattern);
    if (i < chosen->count) return;
    chosen->count++;
    e->entry = entry;
    device_of(setup, entry->device, e->device);
}

// Adds the algorithms of one operation and device that match `item`. Returns false if there are
// none.
static bool add_matches(const struct bench_setup *setup, struct chosen *chosen, const char *item,
                        const struct op *op, enum device_kind kind)
{
    bool any = false;
    for (int i = 0; i < algo_count; i++) {
        if (algos[i].op != op || algos[i].device != kind) continue;
        if (!item_matches(item, algos[i].name)) continue;
        chosen_add(setup, chosen, &algos[i], is_pattern(item));
        any = true;
    }
    return any;
}

// Adds the algorithms that match `item` on the chosen device. If there are none, adds those of
// other devices.
static void add_item(const struct bench_setup *setup, struct chosen *chosen, const char *item,
                     const struct op *op)
{
    bool any = add_matches(setup, chosen, item, op, setup->primary);
    for (int kind = 0; kind < DEVICE_KINDS && !any; kind++)
        any = add_matches(setup, chosen, item, op, (enum device_kind)kind);
}

// Returns true if an operation has a matching algorithm on any device.
static bool op_has(const struct op *op, const char *item)
{
    for (int i = 0; i < algo_count; i++)
        if (algos[i].op == op && item_matches(item, algos[i].name)) return true;
    return false;
}

static bool op_has_all(const struct op *op, const char *items)
{
    char item[WORD_MAX];
    bool all = true;
    while (all && words_next(&items, item) > 0) all = op_has(op, item);
    return all;
}

// Writes the operations that have a matching algorithm: "spmm and spgemm"; "": none.
static const char *ops_of(const char *item, char text[64])
{
    text[0] = 0;
    for (int x = 0; x < op_count; x++)
        if (op_has(ops[x], item)) words_and(text, 64, ops[x]->name);
    return text;
}

bool bench_setup_is_algorithm(const char *name)
{
    for (int i = 0; i < algo_count; i++)
        if (!strcmp(algos[i].name, name)) return true;
    return false;
}

// Sets the error for an item that matches no algorithm.
static int fail_unknown_algorithm(const struct options *o, const char *item)
{
    char guess[64], others[64];
    bool elsewhere = o->op && ops_of(item, others)[0];
    if (elsewhere && is_pattern(item))
        return fail(ERR_USAGE, "-alg %s: matches algorithms of %s, not of %s", item, others, o->op);
    if (elsewhere)
        return fail(ERR_USAGE, "-alg %s: is an algorithm of %s, not of %s", item, others, o->op);
    if (op_find(item)) return fail(ERR_USAGE, "-alg %s: is an operation: -op %s", item, item);
    if (is_pattern(item))
        return fail(ERR_USAGE, "-alg %s: no algorithm%s%s matches; 'spbench list' shows all", item,
                    o->op ? " of " : "", o->op ? o->op : "");
    struct suggestion s;
    suggest_start(&s, item);
    for (int i = 0; i < algo_count; i++)
        if (!o->op || !strcmp(o->op, algos[i].op->name)) suggest_offer(&s, algos[i].name);
    suggest_offer(&s, "all");
    return fail(ERR_USAGE, "-alg %s: no such algorithm%s%s; %s'spbench list' shows all", item,
                o->op ? " of " : "", o->op ? o->op : "", suggest_text(&s, guess));
}

// Sets the error for items that belong to different operations.
static int mixed_operations(const struct options *o)
{
    const char *rest = o->alg;
    char item[WORD_MAX], of[64], all[512] = "";
    while (words_next(&rest, item) > 0) {
        words_add(all, sizeof all, ", ", item);
        words_add(all, sizeof all, " is of ", ops_of(item, of));
    }
    return fail(ERR_USAGE, "-alg: %s; a run has one operation (-op): use a run for each", all);
}

// Finds the first item that matches no algorithm. -op limits the search. Returns false if all items
// match.
static bool find_unknown(const struct options *o, char item[WORD_MAX])
{
    const char *rest = o->alg;
    char of[64];
    while (words_next(&rest, item) > 0)
        if (o->op ? !op_has(op_find(o->op), item) : !ops_of(item, of)[0]) return true;
    return false;
}

// Sets the operation: the one of -op, else the first in which all items match.
static int choose_algorithms(const struct bench_setup *setup, const struct options *o,
                             const struct op **op, struct chosen *chosen)
{
    char item[WORD_MAX];
    if (find_unknown(o, item)) return fail_unknown_algorithm(o, item);
    chosen->list = mem_zero_alloc(algo_count, sizeof *chosen->list);
    if (!chosen->list) return ERR_MEMORY;
    for (int x = 0; x < op_count; x++) {
        const char *rest = o->alg;
        *op = ops[x];
        if (o->op ? strcmp(o->op, ops[x]->name) : !op_has_all(ops[x], o->alg)) continue;
        while (words_next(&rest, item) > 0) add_item(setup, chosen, item, ops[x]);
        return OK;
    }
    return mixed_operations(o);
}

int bench_setup_check_opt(const struct given_option *s, const struct algo_option *p,
                          const char *algo)
{
    if (!(s->value >= p->min && s->value <= p->max))
        return fail(ERR_USAGE, "-opt %s=%.10g: %s of %s is from %.10g to %.10g", s->name, s->value,
                    p->name, algo, p->min, p->max);
    if (p->whole && s->value != floor(s->value))
        return fail(ERR_USAGE, "-opt %s=%.10g: %s of %s is a whole number", s->name, s->value,
                    p->name, algo);
    return OK;
}

static int no_such_opt(const struct chosen *chosen, const struct given_option *s)
{
    char all[400] = "", guess[64];
    struct suggestion near;
    suggest_start(&near, s->name);
    for (int i = 0; i < chosen->count; i++) {
        const struct algo_entry *e = chosen->list[i].entry;
        for (int a = 0; algo_option_at(e->algo, a); a++) {
            const char *name = algo_option_at(e->algo, a)->name;
            if (!a) words_add(all, sizeof all, "; ", e->name);
            words_add(all, sizeof all, a ? ", " : " has ", name);
            suggest_offer(&near, name);
        }
    }
    if (!all[0])
        return fail(ERR_USAGE, "-opt %s=%.10g: the chosen algorithms have no options", s->name,
                    s->value);
    return fail(ERR_USAGE, "-opt %s=%.10g: no chosen algorithm has this option; %s%s", s->name,
                s->value, suggest_text(&near, guess), all);
}

static int check_opts(const struct chosen *chosen, const struct options *o)
{
    for (int i = 0; i < o->opt_count; i++) {
        const struct given_option *s = &o->opts[i];
        bool found = false;
        for (int e = 0; e < chosen->count; e++) {
            const struct algo_entry *entry = chosen->list[e].entry;
            int place = algo_option_find(entry->algo, s->name);
            if (place < 0) continue;
            int err = bench_setup_check_opt(s, algo_option_at(entry->algo, place), entry->name);
            if (err) return err;
            found = true;
        }
        if (!found) return no_such_opt(chosen, s);
    }
    return OK;
}

// Sets the error for an axis that the operation lacks.
static int needless_axis(const struct op *op, const struct options *o, const struct axis *axis,
                         const char *text)
{
    char of[64], hint[64] = "";
    for (int x = 0; x < op_count && !o->op && !hint[0]; x++)
        for (int a = 0; ops[x]->axes[a]; a++)
            if (ops[x]->axes[a] == axis && op_has_all(ops[x], o->alg))
                snprintf(hint, sizeof hint, "; add -op %s", ops[x]->name);
    return fail(ERR_USAGE, "-%s %s: applies to %s, but the algorithms are of %s%s", axis->name,
                text, axis_ops(axis, of), op->name, hint);
}

// Sets the values of the operation's axes.
static int choose_axes(const struct op *op, const struct options *o,
                       struct axis_values axes[AXES_MAX])
{
    const struct axis *axis;
    for (int i = 0; (axis = axis_all(i)); i++) {
        int place = 0;
        while (op->axes[place] && op->axes[place] != axis) place++;
        if (op->axes[place])
            axes[place] = o->axes[i];
        else if (o->axes[i].text)
            return needless_axis(op, o, axis, o->axes[i].text);
    }
    return OK;
}

static int make_plan(struct bench_setup *setup, const struct options *o)
{
    struct chosen chosen = {0};
    struct plan_request r = {.precs = o->precs,
                             .prec_count = o->prec_count,
                             .opts = o->opts,
                             .opt_count = o->opt_count,
                             .cold = o->rule.cold,
                             .stream = o->rule.stream};
    setup->plan.rule = o->rule;
    setup->plan.check = o->check;
    setup->plan.race = o->race;
    setup->plan.seed = o->seed;
    setup->plan.profile = o->run.profile;
    int err = choose_algorithms(setup, o, &r.op, &chosen);
    r.entries = chosen.list;
    r.entry_count = chosen.count;
    if (!err) err = check_opts(&chosen, o);
    if (!err) err = choose_axes(r.op, o, r.axes);
    if (!err) err = plan_make(&setup->plan, &r);
    if (!err && !setup->plan.count) { // the cases say why they cannot run
        for (int e = 0; e < chosen.count; e++) chosen.list[e].by_pattern = false;
        plan_free(&setup->plan);
        err = plan_make(&setup->plan, &r);
    }
    mem_free(chosen.list);
    return err;
}

int bench_setup_make(struct bench_setup *setup, const struct options *o)
{
    *setup = (struct bench_setup){0};
    int err = resolve_device(setup, o);
    return err ? err : make_plan(setup, o);
}

int bench_setup_replan(struct bench_setup *setup, const struct options *o)
{
    plan_free(&setup->plan);
    return make_plan(setup, o);
}

// Sets the reason why a kind of device is not used.
static void set_missing(const struct bench_setup *setup, const struct options *o,
                        enum device_kind kind, struct bench_device *bd)
{
    const char *missing = device_missing(kind);
    if (setup->only)
        snprintf(bd->missing, sizeof bd->missing, "this run uses only %s (-device %s)",
                 setup->primary == DEVICE_CPU ? "the CPU" : setup->device, o->device);
    else
        snprintf(bd->missing, sizeof bd->missing, "%s", missing ? missing : setup->fallback);
}

// Opens a device of each kind, or sets the reason why there is none.
static int open_devices(struct bench_setup *setup, const struct options *o)
{
    int err = OK;
    setup->devices.count = DEVICE_KINDS;
    for (int k = 0; k < DEVICE_KINDS && !err; k++) {
        enum device_kind kind = (enum device_kind)k;
        struct bench_device *bd = &setup->devices.list[k];
        *bd = (struct bench_device){0};
        device_of(setup, kind, bd->id);
        if (kind != setup->primary && kind != DEVICE_CPU) {
            set_missing(setup, o, kind, bd);
            continue;
        }
        // -device as typed, for the message
        err = device_open(kind == setup->primary && setup->only ? o->device : bd->id,
                          &setup->opened[k]);
        if (!err) bd->dev = &setup->opened[k];
    }
    return err;
}

static void close_devices(struct bench_setup *setup)
{
    for (int k = 0; setup->opened && k < DEVICE_KINDS; k++) device_close(&setup->opened[k]);
}

int bench_setup_open(struct bench_setup *setup, const struct options *o)
{
    setup->opened = mem_zero_alloc(DEVICE_KINDS, sizeof *setup->opened);
    setup->devices.list = mem_zero_alloc(DEVICE_KINDS, sizeof *setup->devices.list);
    if (!setup->opened || !setup->devices.list) return ERR_MEMORY;
    int err = open_devices(setup, o);
    if (!err || setup->only || setup->primary == DEVICE_CPU) return err;
    // A GPU that cannot be opened counts as absent, with the reason.
    snprintf(setup->fallback, sizeof setup->fallback, "%s", fail_text());
    close_devices(setup);
    setup->primary = DEVICE_CPU;
    device_id(setup->primary, 0, setup->device);
    bool planned = setup->plan.cases != NULL;
    plan_free(&setup->plan);
    err = planned ? make_plan(setup, o) : OK;
    return err ? err : open_devices(setup, o);
}

int bench_setup_make_device(struct bench_setup *setup, const struct options *o)
{
    *setup = (struct bench_setup){0};
    int err = resolve_device(setup, o);
    return err ? err : bench_setup_open(setup, o);
}

int bench_setup_measure_roofs(struct bench_setup *setup, bool fresh)
{
    int err = OK;
    for (int k = 0; k < setup->devices.count && !interrupted; k++) {
        struct bench_device *bd = &setup->devices.list[k];
        bool needed = !strcmp(bd->id, setup->device);
        for (int64_t i = 0; i < setup->plan.count; i++)
            needed |= !strcmp(bd->id, setup->plan.cases[i].device);
        int failed = needed && bd->dev ? bound_roof(bd->dev, fresh, &bd->roof) : OK;
        if (failed) err = failed;
    }
    return interrupted ? fail(ERR_INTERRUPTED, "interrupted") : err;
}

void bench_setup_free(struct bench_setup *setup)
{
    plan_free(&setup->plan);
    close_devices(setup);
    mem_free(setup->opened);
    mem_free(setup->devices.list);
    *setup = (struct bench_setup){0};
}
