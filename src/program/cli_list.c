// spbench list: algorithms, devices, formats; what is unavailable says why. Of one of them, by its
// name: cli_about.c.
#include "program/cli_list.h"

#include <stdio.h>
#include <string.h>

#include "base/words.h"

static void list_params(const struct algo *a)
{
    const struct param *p;
    for (int i = 0; (p = algo_param(a, i)); i++)
        printf("      -opt %s=%.10g  from %.10g to %.10g%s: %s\n", p->name, p->value, p->min,
               p->max, p->whole ? ", whole" : "", p->about);
}

// "f32,f64, row,col": what of the precisions and layouts it does.
static void list_limits(const struct algo *a)
{
    char text[32], list[64] = "";
    for (int p = F32; p <= F64; p++)
        if (a->precs & BIT(p)) words_add(list, sizeof list, ",", prec_name((enum prec)p));
    printf("%s", list);
    list[0] = 0;
    for (int l = LAYOUT_ROW; l <= LAYOUT_COL; l++)
        if (a->layouts & BIT(l))
            words_add(list, sizeof list, ",", axis_text(&axis_layout, l, text));
    if (list[0]) printf(", %s", list);
}

static void list_formats_of(const char *of, const struct format *const formats_of[FORMATS_MAX])
{
    for (int f = 0; f < FORMATS_MAX && formats_of[f]; f++)
        printf("%s%s", f ? " and " : of, formats_of[f]->name);
}

static void list_algorithm(const struct algo_entry *e)
{
    const struct algo *a = e->algo;
    const char *missing = algo_missing(e);
    if (!missing) missing = device_missing(e->device);
    printf("    %-18s %-4s  ", e->name, device_list[e->device].name);
    if (!a) {
        printf("unavailable: %s\n", missing);
        return;
    }
    list_limits(a);
    printf("; %s%s%s%s\n", a->about, missing ? " (unavailable: " : "", missing ? missing : "",
           missing ? ")" : "");
    if (a->cite) printf("      from %s\n", a->cite);
    if (a->tuned_of) printf("      a tuned form of %s\n", a->tuned_of);
    if (a->differs) printf("      not as there: %s\n", a->differs);
    if (a->partial) printf("      leaves out: %s\n", a->partial);
    if (a->variant) printf("      computes %s\n", e->op->variants[a->variant]);
    printf("      takes");
    list_formats_of(" A as ", a->A);
    list_formats_of(", the second factor as ", a->S);
    printf("\n");
    list_params(a);
}

static int list_algorithms(void)
{
    printf("algorithms (-alg)\n");
    for (int x = 0; x < op_count; x++) {
        printf("  -op %s: %s\n", ops[x]->name, ops[x]->formula);
        for (int i = 0; i < algo_count; i++)
            if (algos[i].op == ops[x]) list_algorithm(&algos[i]);
    }
    return OK;
}

static int list_device(const char *spec)
{
    struct device d;
    int err = device_open(spec, &d);
    if (err) return err;
    char memory[32], cache[32];
    printf("  %-7s %s; %s; %s of memory, %s of cache, %d %s\n", d.id, d.name, d.detail,
           size_text(d.memory_bytes, memory), size_text(d.cache_bytes, cache), d.units,
           d.ops->units);
    device_close(&d);
    return OK;
}

static int list_devices(void)
{
    printf("devices (-device)\n");
    for (int k = 0; k < DEVICE_KINDS; k++) {
        enum device_kind kind = (enum device_kind)k;
        const char *missing = device_missing(kind);
        if (missing) printf("  %-7s unavailable: %s\n", device_list[k].name, missing);
        for (int i = 0; !missing && i < device_count(kind); i++) {
            char id[16];
            device_id(kind, i, id);
            // One that cannot be opened does not hide the others.
            if (list_device(id)) printf("  %-7s unavailable: %s\n", id, fail_text());
        }
    }
    return OK;
}

static int list_formats(void)
{
    printf("formats of the sparse matrix\n");
    for (int i = 0; i < format_count; i++) {
        const struct format *f = formats[i];
        printf("  %-8s %s", f->name, f->about);
        if (f->from) printf("; made from %s", f->from->name);
        for (int k = 0; f->from && k < DEVICE_KINDS; k++)
            if (format_maker_of(f, (enum device_kind)k))
                printf("%s%s", k ? ", " : " on ", device_list[k].name);
        printf("\n");
    }
    return OK;
}

static const struct list {
    const char *name;
    int (*print)(void);
} lists[] = {{"algorithms", list_algorithms}, {"devices", list_devices}, {"formats", list_formats}};

int cli_list(const struct request *q)
{
    const char *wanted = q->o->operand_count ? q->o->operands[0] : NULL;
    struct suggestion s;
    char guess[64];
    bool any = false;
    int err = OK;
    suggest_start(&s, wanted ? wanted : "");
    for (size_t i = 0; i < (size_t)COUNT(lists) && !err; i++) {
        suggest_offer(&s, lists[i].name);
        if (wanted && strcmp(wanted, lists[i].name)) continue;
        if (any) printf("\n");
        any = true;
        err = lists[i].print();
    }
    if (err || any || list_one(wanted)) return err;
    list_offer(&s);
    return fail(ERR_USAGE,
                "list %s: no such list, algorithm, format or operation; %s'spbench list' shows all",
                wanted, suggest_text(&s, guess));
}
