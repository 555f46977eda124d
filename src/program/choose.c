#include "program/choose.h"

#include <fnmatch.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "base/suggest.h"

static int open_device(struct choice *c, enum device_kind kind, const char *spec)
{
    int err = device_open(spec, &c->devices[kind]);
    if (!err) c->used[kind] = (struct bench_device){.dev = &c->devices[kind]};
    return err;
}

int choice_open(struct choice *c, const struct options *o)
{
    *c = (struct choice){0};
    c->used[DEVICE_CUDA].missing = "this run is for the CPU alone (-device cpu)";
    if (o->threads) omp_set_num_threads(o->threads);
    int err = open_device(c, DEVICE_CPU, "cpu");
    if (err || !strcmp(o->device, "cpu")) return err;

    if (!strcmp(o->device, "auto")) {
        const char *missing = device_missing(DEVICE_CUDA);
        // A device that is there but cannot be opened is as good as none, and says why.
        if (!missing && open_device(c, DEVICE_CUDA, "cuda")) missing = fail_text();
        if (missing) {
            snprintf(c->missing, sizeof c->missing, "%s", missing);
            c->used[DEVICE_CUDA].missing = c->missing;
            return OK;
        }
    } else {
        err = open_device(c, DEVICE_CUDA, o->device);
    }
    c->primary = DEVICE_CUDA;
    if (err) choice_free(c);
    return err;
}

static bool is_pattern(const char *item) { return strpbrk(item, "*?[") || !strcmp(item, "all"); }

static bool item_matches(const char *item, const char *name)
{
    return !strcmp(item, "all") || !fnmatch(item, name, 0);
}

static void plan_add(struct plan *plan, const struct algo_entry *entry)
{
    for (int i = 0; i < plan->entry_count; i++)
        if (plan->entries[i] == entry) return;
    plan->entries[plan->entry_count++] = entry;
}

// Adds what `item` names among the algorithms of one operation and device; false if nothing.
static bool add_matches(struct plan *plan, const char *item, enum op_kind op, enum device_kind kind)
{
    bool any = false;
    for (int i = 0; i < algo_count; i++) {
        if (algos[i].op != op || algos[i].device != kind) continue;
        if (!item_matches(item, algos[i].name)) continue;
        plan_add(plan, &algos[i]);
        any = true;
    }
    return any;
}

// An item means the algorithms of the chosen device, else those of the other, which then run beside
// them or say why they cannot.
static bool add_item(struct choice *c, const char *item, enum op_kind op)
{
    enum device_kind other = c->primary == DEVICE_CPU ? DEVICE_CUDA : DEVICE_CPU;
    return add_matches(&c->plan, item, op, c->primary) || add_matches(&c->plan, item, op, other);
}

// Whether an operation has an algorithm of this name or pattern, on any device.
static bool op_has(int op, const char *item)
{
    for (int i = 0; i < algo_count; i++)
        if ((int)algos[i].op == op && item_matches(item, algos[i].name)) return true;
    return false;
}

// "spmm and spgemm": the operations that have such an algorithm; "" if none has.
static const char *ops_of(const char *item, char text[64])
{
    text[0] = 0;
    for (int op = 0; op < op_count; op++)
        if (op_has(op, item))
            snprintf(text + strlen(text), 64 - strlen(text), "%s%s", text[0] ? " and " : "",
                     ops[op].name);
    return text;
}

// An item that no algorithm fits, whether -op was given or not.
static int no_such_algorithm(const struct options *o, const char *item)
{
    char guess[64], others[64];
    bool elsewhere = o->op && ops_of(item, others)[0];
    if (o->op && !op_has(op_find(o->op), "all"))
        return fail(ERR_USAGE, "-op %s: there is no algorithm for it; 'spbench list' shows all",
                    o->op);
    if (elsewhere && is_pattern(item))
        return fail(ERR_USAGE, "-alg %s: fits algorithms of %s, none of %s", item, others, o->op);
    if (elsewhere)
        return fail(ERR_USAGE, "-alg %s: is an algorithm of %s, not of %s", item, others, o->op);
    if (op_find(item) >= 0) return fail(ERR_USAGE, "-alg %s: is an operation: -op %s", item, item);
    if (is_pattern(item))
        return fail(ERR_USAGE, "-alg %s: no algorithm%s%s fits; 'spbench list' shows all", item,
                    o->op ? " of " : "", o->op ? o->op : "");
    struct suggestion s;
    suggest_start(&s, item);
    for (int i = 0; i < algo_count; i++)
        if (!o->op || !strcmp(o->op, ops[algos[i].op].name)) suggest_offer(&s, algos[i].name);
    suggest_offer(&s, "all");
    return fail(ERR_USAGE, "-alg %s: no such algorithm%s%s; %s'spbench list' shows all", item,
                o->op ? " of " : "", o->op ? o->op : "", suggest_text(&s, guess));
}

// Every item is one of some operation, but no operation has them all.
static int mixed_operations(const struct options *o)
{
    const char *rest = o->alg;
    char item[64], of[64], all[512] = "";
    while (list_next(&rest, item) > 0) {
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s is of %s", used ? ", " : "", item,
                 ops_of(item, of));
    }
    return fail(ERR_USAGE, "-alg: %s; a run is of one operation (-op): give each its own run", all);
}

// The first item that no algorithm (of the operation that -op names) fits; false: each has one.
static bool find_unknown(const struct options *o, char item[64])
{
    const char *rest = o->alg;
    char of[64];
    while (list_next(&rest, item) > 0)
        if (o->op ? !op_has(op_find(o->op), item) : !ops_of(item, of)[0]) return true;
    return false;
}

// The plan has one operation: the one that -op names, else the first that all items have.
static int choose_algorithms(struct choice *c, const struct options *o)
{
    struct plan *plan = &c->plan;
    char item[64];
    if (find_unknown(o, item)) return no_such_algorithm(o, item);
    plan->entries = mem_alloc(algo_count, sizeof *plan->entries);
    if (!plan->entries) return ERR_MEMORY;
    for (int op = 0; op < op_count; op++) {
        if (o->op && op != op_find(o->op)) continue;
        const char *rest = o->alg;
        bool all = true;
        plan->entry_count = 0;
        while (all && list_next(&rest, item) > 0) all = add_item(c, item, op);
        if (all) return OK;
    }
    return mixed_operations(o);
}

static int check_limits(const struct option_setting *s, const struct algo_option *a,
                        const char *algo)
{
    if (!(s->value >= a->min && s->value <= a->max))
        return fail(ERR_USAGE, "-opt %s=%.10g: %s of %s is from %.10g to %.10g", s->name, s->value,
                    a->name, algo, a->min, a->max);
    if (a->whole && s->value != floor(s->value))
        return fail(ERR_USAGE, "-opt %s=%.10g: %s of %s is a whole number", s->name, s->value,
                    a->name, algo);
    return OK;
}

static int no_such_setting(const struct plan *plan, const struct option_setting *s)
{
    char all[400] = "", guess[64];
    size_t used = 0;
    struct suggestion near;
    suggest_start(&near, s->name);
    for (int i = 0; i < plan->entry_count; i++) {
        const struct algo *algo = plan->entries[i]->algo;
        const struct algo_option *o = algo->options;
        for (int a = 0; o && o[a].name && used < sizeof all; a++) {
            const char *before = a ? ", " : used ? "; " : "";
            used += (size_t)snprintf(all + used, sizeof all - used, "%s%s%s%s", before,
                                     a ? "" : algo->name, a ? "" : " has ", o[a].name);
            suggest_offer(&near, o[a].name);
        }
    }
    if (!used)
        return fail(ERR_USAGE, "-opt %s=%.10g: the chosen algorithms have no parameters", s->name,
                    s->value);
    return fail(ERR_USAGE, "-opt %s=%.10g: no chosen algorithm has it; %s%s", s->name, s->value,
                suggest_text(&near, guess), all);
}

static int check_settings(const struct plan *plan)
{
    for (int i = 0; i < plan->setting_count; i++) {
        const struct option_setting *s = &plan->settings[i];
        bool found = false;
        for (int e = 0; e < plan->entry_count; e++) {
            const struct algo *algo = plan->entries[e]->algo;
            // What is not in this build may have it; its record says that it is not there.
            if (!algo) found = true;
            for (const struct algo_option *a = algo ? algo->options : NULL; a && a->name; a++) {
                if (strcmp(a->name, s->name)) continue;
                int err = check_limits(s, a, algo->name);
                if (err) return err;
                found = true;
            }
        }
        if (!found) return no_such_setting(plan, s);
    }
    return OK;
}

static int needless_mul(const struct plan *plan, const struct options *o)
{
    const char *rest = o->alg, *sparse = ops[OP_SPGEMM].name;
    char item[64];
    bool could = !o->op; // what was named exists there as well
    while (could && list_next(&rest, item) > 0) could = op_has(OP_SPGEMM, item);
    return fail(ERR_USAGE, "-mul %s: is for %s, and the algorithms are of %s%s%s", o->mul, sparse,
                ops[plan->entries[0]->op].name, could ? "; add -op " : "", could ? sparse : "");
}

static int needless_dense(const char *option, const char *text)
{
    return fail(ERR_USAGE, "-%s %s: is for dense matrices, and %s has none", option, text,
                ops[OP_SPGEMM].name);
}

// A sparse product has factors to choose, but no k and no layout: one case where there were many.
static int choose_factors(struct plan *plan, const struct options *o)
{
    static int64_t no_k = 0; // the plan only reads
    if (plan->entries[0]->op != OP_SPGEMM) return o->mul ? needless_mul(plan, o) : OK;
    if (o->k) return needless_dense("k", o->k);
    if (o->layout) return needless_dense("layout", o->layout);
    plan->mul = o->mul && !strcmp(o->mul, mul_name(MUL_AAT)) ? MUL_AAT : MUL_AA;
    plan->ks = &no_k;
    plan->k_count = plan->layout_count = 1;
    plan->layouts[0] = LAYOUT_ROW;
    return OK;
}

int choice_make(struct choice *c, const struct options *o)
{
    int err = choice_open(c, o);
    if (err) return err;
    struct plan *plan = &c->plan;
    memcpy(plan->precs, o->precs, sizeof plan->precs);
    memcpy(plan->layouts, o->layouts, sizeof plan->layouts);
    plan->prec_count = o->prec_count;
    plan->layout_count = o->layout_count;
    plan->ks = (int64_t *)o->ks; // the plan only reads
    plan->k_count = o->k_count;
    plan->settings = (struct option_setting *)o->settings;
    plan->setting_count = o->setting_count;
    plan->rule = o->rule;
    plan->check = o->check;
    plan->seed = o->seed;
    err = choose_algorithms(c, o);
    if (!err) err = check_settings(plan);
    if (!err) err = choose_factors(plan, o);
    if (err) choice_free(c);
    return err;
}

int choice_measure_roofs(struct choice *c, bool fresh)
{
    bool needed[2] = {0};
    needed[c->primary] = true;
    for (int i = 0; i < c->plan.entry_count; i++) needed[c->plan.entries[i]->device] = true;
    int err = OK;
    for (int kind = 0; kind < 2 && !err; kind++)
        if (needed[kind] && c->used[kind].dev)
            err = model_roof(c->used[kind].dev, fresh, &c->used[kind].roof);
    return err;
}

void choice_free(struct choice *c)
{
    mem_free(c->plan.entries);
    device_close(&c->devices[DEVICE_CPU]);
    device_close(&c->devices[DEVICE_CUDA]);
    *c = (struct choice){0};
}
