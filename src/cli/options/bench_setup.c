#include "cli/options/bench_setup.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/suggest.h"

// The device that -device means. What `auto` comes to is looked for, not opened.
static int resolve_device(struct bench_setup *c, const struct options *o)
{
    int index;
    int err = device_parse(o->device, &c->primary, &index);
    if (err) return err;
    device_id(c->primary, index, c->device);
    c->only = strcmp(o->device, "auto") != 0;
    for (int kind = DEVICE_KINDS - 1; kind > (int)c->primary && !c->only && !c->fallback[0]; kind--)
        snprintf(c->fallback, sizeof c->fallback, "%s", device_missing((enum device_kind)kind));
    return OK;
}

// The id that algorithms of a kind run on: the chosen device, or the host, which is always there.
static void device_of(const struct bench_setup *c, enum device_kind kind, char id[16])
{
    if (kind == c->primary)
        snprintf(id, 16, "%s", c->device);
    else
        snprintf(id, 16, "%s", device_list[kind].name);
}

static bool is_pattern(const char *item) { return strpbrk(item, "*?[") || !strcmp(item, "all"); }

static bool item_matches(const char *item, const char *name)
{
    return !strcmp(item, "all") || !fnmatch(item, name, 0);
}

// The algorithms that were chosen so far, size algo_count at most.
struct chosen {
    struct choice_entry *list;
    int count;
};

static void chosen_add(const struct bench_setup *c, struct chosen *chosen,
                       const struct algo_entry *entry)
{
    for (int i = 0; i < chosen->count; i++)
        if (chosen->list[i].entry == entry) return;
    struct choice_entry *e = &chosen->list[chosen->count++];
    e->entry = entry;
    device_of(c, entry->device, e->device);
}

// Adds what `item` names among the algorithms of one operation and device; false if nothing.
static bool add_matches(const struct bench_setup *c, struct chosen *chosen, const char *item,
                        const struct op *op, enum device_kind kind)
{
    bool any = false;
    for (int i = 0; i < algo_count; i++) {
        if (algos[i].op != op || algos[i].device != kind) continue;
        if (!item_matches(item, algos[i].name)) continue;
        chosen_add(c, chosen, &algos[i]);
        any = true;
    }
    return any;
}

// An item means the algorithms of the chosen device, else those of the others, which then run
// beside them or say why they cannot.
static bool add_item(const struct bench_setup *c, struct chosen *chosen, const char *item,
                     const struct op *op)
{
    bool any = add_matches(c, chosen, item, op, c->primary);
    for (int kind = 0; kind < DEVICE_KINDS && !any; kind++)
        any = add_matches(c, chosen, item, op, (enum device_kind)kind);
    return any;
}

// Whether an operation has an algorithm of this name or pattern, on any device.
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

// "spmm and spgemm": the operations that have such an algorithm; "" if none has.
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

// An item that no algorithm fits, whether -op was given or not.
static int no_such_algorithm(const struct options *o, const char *item)
{
    char guess[64], others[64];
    bool elsewhere = o->op && ops_of(item, others)[0];
    if (elsewhere && is_pattern(item))
        return fail(ERR_USAGE, "-alg %s: fits algorithms of %s, none of %s", item, others, o->op);
    if (elsewhere)
        return fail(ERR_USAGE, "-alg %s: is an algorithm of %s, not of %s", item, others, o->op);
    if (op_find(item)) return fail(ERR_USAGE, "-alg %s: is an operation: -op %s", item, item);
    if (is_pattern(item))
        return fail(ERR_USAGE, "-alg %s: no algorithm%s%s fits; 'spbench list' shows all", item,
                    o->op ? " of " : "", o->op ? o->op : "");
    struct suggestion s;
    suggest_start(&s, item);
    for (int i = 0; i < algo_count; i++)
        if (!o->op || !strcmp(o->op, algos[i].op->name)) suggest_offer(&s, algos[i].name);
    suggest_offer(&s, "all");
    return fail(ERR_USAGE, "-alg %s: no such algorithm%s%s; %s'spbench list' shows all", item,
                o->op ? " of " : "", o->op ? o->op : "", suggest_text(&s, guess));
}

// Every item is one of some operation, but no operation has them all.
static int mixed_operations(const struct options *o)
{
    const char *rest = o->alg;
    char item[WORD_MAX], of[64], all[512] = "";
    while (words_next(&rest, item) > 0) {
        words_add(all, sizeof all, ", ", item);
        words_add(all, sizeof all, " is of ", ops_of(item, of));
    }
    return fail(ERR_USAGE, "-alg: %s; a run is of one operation (-op): give each its own run", all);
}

// The first item that no algorithm (of the operation that -op names) fits; false: each has one.
static bool find_unknown(const struct options *o, char item[WORD_MAX])
{
    const char *rest = o->alg;
    char of[64];
    while (words_next(&rest, item) > 0)
        if (o->op ? !op_has(op_find(o->op), item) : !ops_of(item, of)[0]) return true;
    return false;
}

// The operation: the one that -op names, else the first that has all items.
static int choose_algorithms(const struct bench_setup *c, const struct options *o, const struct op **op,
                             struct chosen *chosen)
{
    char item[WORD_MAX];
    if (find_unknown(o, item)) return no_such_algorithm(o, item);
    chosen->list = mem_zero_alloc(algo_count, sizeof *chosen->list);
    if (!chosen->list) return ERR_MEMORY;
    for (int x = 0; x < op_count; x++) {
        const char *rest = o->alg;
        *op = ops[x];
        if (o->op ? strcmp(o->op, ops[x]->name) : !op_has_all(ops[x], o->alg)) continue;
        while (words_next(&rest, item) > 0) add_item(c, chosen, item, ops[x]);
        return OK;
    }
    return mixed_operations(o);
}

int bench_setup_check_setting(const struct option_setting *s, const struct param *p, const char *algo)
{
    if (!(s->value >= p->min && s->value <= p->max))
        return fail(ERR_USAGE, "-opt %s=%.10g: %s of %s is from %.10g to %.10g", s->name, s->value,
                    p->name, algo, p->min, p->max);
    if (p->whole && s->value != floor(s->value))
        return fail(ERR_USAGE, "-opt %s=%.10g: %s of %s is a whole number", s->name, s->value,
                    p->name, algo);
    return OK;
}

static int no_such_setting(const struct chosen *chosen, const struct option_setting *s)
{
    char all[400] = "", guess[64];
    struct suggestion near;
    suggest_start(&near, s->name);
    for (int i = 0; i < chosen->count; i++) {
        const struct algo_entry *e = chosen->list[i].entry;
        for (int a = 0; algo_param(e->algo, a); a++) {
            const char *name = algo_param(e->algo, a)->name;
            if (!a) words_add(all, sizeof all, "; ", e->name);
            words_add(all, sizeof all, a ? ", " : " has ", name);
            suggest_offer(&near, name);
        }
    }
    if (!all[0])
        return fail(ERR_USAGE, "-opt %s=%.10g: the chosen algorithms have no parameters", s->name,
                    s->value);
    return fail(ERR_USAGE, "-opt %s=%.10g: no chosen algorithm has it; %s%s", s->name, s->value,
                suggest_text(&near, guess), all);
}

static int check_settings(const struct chosen *chosen, const struct options *o)
{
    for (int i = 0; i < o->setting_count; i++) {
        const struct option_setting *s = &o->settings[i];
        bool found = false;
        for (int e = 0; e < chosen->count; e++) {
            const struct algo_entry *entry = chosen->list[e].entry;
            // What is not in this build may have it; its record says that it is not there.
            if (!entry->algo) found = true;
            int place = entry->algo ? algo_param_find(entry->algo, s->name) : -1;
            if (place < 0) continue;
            int err = bench_setup_check_setting(s, algo_param(entry->algo, place), entry->name);
            if (err) return err;
            found = true;
        }
        if (!found) return no_such_setting(chosen, s);
    }
    return OK;
}

// An axis that was given, and that the operation does not have.
static int needless_axis(const struct op *op, const struct options *o, const struct axis *axis,
                         const char *text)
{
    char of[64], hint[64] = "";
    for (int x = 0; x < op_count && !o->op && !hint[0]; x++)
        for (int a = 0; ops[x]->axes[a]; a++)
            if (ops[x]->axes[a] == axis && op_has_all(ops[x], o->alg))
                snprintf(hint, sizeof hint, "; add -op %s", ops[x]->name);
    return fail(ERR_USAGE, "-%s %s: is for %s, and the algorithms are of %s%s", axis->name, text,
                axis_ops(axis, of), op->name, hint);
}

// The values of the operation's axes, in its order.
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

static int make_plan(struct bench_setup *c, const struct options *o)
{
    struct chosen chosen = {0};
    struct plan_request r = {.precs = o->precs,
                             .prec_count = o->prec_count,
                             .settings = o->settings,
                             .setting_count = o->setting_count,
                             .cold = o->rule.cold,
                             .stream = o->rule.stream};
    c->plan.rule = o->rule;
    c->plan.check = o->check;
    c->plan.seed = o->seed;
    c->plan.profile = o->profile;
    int err = choose_algorithms(c, o, &r.op, &chosen);
    r.entries = chosen.list;
    r.entry_count = chosen.count;
    if (!err) err = check_settings(&chosen, o);
    if (!err) err = choose_axes(r.op, o, r.axes);
    if (!err) err = plan_make(&c->plan, &r);
    mem_free(chosen.list);
    return err;
}

int bench_setup_make(struct bench_setup *c, const struct options *o)
{
    *c = (struct bench_setup){0};
    int err = resolve_device(c, o);
    return err ? err : make_plan(c, o);
}

// What stands for a kind that this run does not use.
static void set_missing(const struct bench_setup *c, const struct options *o, enum device_kind kind,
                        struct bench_device *bd)
{
    const char *missing = device_missing(kind);
    if (c->only)
        snprintf(bd->missing, sizeof bd->missing, "this run is for %s alone (-device %s)",
                 c->primary == DEVICE_CPU ? "the CPU" : c->device, o->device);
    else
        snprintf(bd->missing, sizeof bd->missing, "%s", missing ? missing : c->fallback);
}

// A device of each kind: the chosen one, the host, and for the others why there is none.
static int open_devices(struct bench_setup *c, const struct options *o)
{
    int err = OK;
    c->devices.count = DEVICE_KINDS;
    for (int k = 0; k < DEVICE_KINDS && !err; k++) {
        enum device_kind kind = (enum device_kind)k;
        struct bench_device *bd = &c->devices.list[k];
        *bd = (struct bench_device){0};
        device_of(c, kind, bd->id);
        if (kind != c->primary && kind != DEVICE_CPU) {
            set_missing(c, o, kind, bd);
            continue;
        }
        // As it was typed, for the message.
        err = device_open(kind == c->primary && c->only ? o->device : bd->id, &c->opened[k]);
        if (!err) bd->dev = &c->opened[k];
    }
    return err;
}

static void close_devices(struct bench_setup *c)
{
    for (int k = 0; c->opened && k < DEVICE_KINDS; k++) device_close(&c->opened[k]);
}

int bench_setup_open(struct bench_setup *c, const struct options *o)
{
    c->opened = mem_zero_alloc(DEVICE_KINDS, sizeof *c->opened);
    c->devices.list = mem_zero_alloc(DEVICE_KINDS, sizeof *c->devices.list);
    if (!c->opened || !c->devices.list) return ERR_MEMORY;
    int err = open_devices(c, o);
    if (!err || c->only || c->primary == DEVICE_CPU) return err;
    // One that is there but cannot be opened is as good as none, and says why.
    snprintf(c->fallback, sizeof c->fallback, "%s", fail_text());
    close_devices(c);
    c->primary = DEVICE_CPU;
    device_id(c->primary, 0, c->device);
    bool planned = c->plan.cases != NULL;
    plan_free(&c->plan);
    err = planned ? make_plan(c, o) : OK;
    return err ? err : open_devices(c, o);
}

int bench_setup_make_device(struct bench_setup *c, const struct options *o)
{
    *c = (struct bench_setup){0};
    int err = resolve_device(c, o);
    return err ? err : bench_setup_open(c, o);
}

int bench_setup_measure_roofs(struct bench_setup *c, bool fresh)
{
    int err = OK;
    for (int k = 0; k < c->devices.count && !interrupted; k++) {
        struct bench_device *bd = &c->devices.list[k];
        bool needed = !strcmp(bd->id, c->device);
        for (int64_t i = 0; i < c->plan.count; i++)
            needed |= !strcmp(bd->id, c->plan.cases[i].device);
        int failed = needed && bd->dev ? bound_roof(bd->dev, fresh, &bd->roof) : OK;
        if (failed) err = failed;
    }
    return interrupted ? fail(ERR_INTERRUPTED, "interrupted") : err;
}

void bench_setup_free(struct bench_setup *c)
{
    plan_free(&c->plan);
    close_devices(c);
    mem_free(c->opened);
    mem_free(c->devices.list);
    *c = (struct bench_setup){0};
}
