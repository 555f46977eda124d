// spbench list: algorithms, devices, formats; what is unavailable says why.
#include "program/cli.h"

#include <stdio.h>
#include <string.h>

#include "base/suggest.h"

static void list_options(const struct algo *a)
{
    for (const struct algo_option *o = a->options; o && o->name; o++)
        printf("      -opt %s=%.10g  from %.10g to %.10g%s: %s\n", o->name, o->value, o->min,
               o->max, o->whole ? ", whole" : "", o->about);
}

static void list_algorithm(const struct algo_entry *e)
{
    const struct algo *a = e->algo;
    const char *missing = a ? device_missing(e->device) : e->missing;
    printf("    %-18s %-4s  ", e->name, device_kind_name(e->device));
    if (!a) {
        printf("unavailable: %s\n", missing);
        return;
    }
    printf("%s%s%s", a->precs & BIT(F32) ? prec_name(F32) : "", a->precs == BOTH_PRECS ? "," : "",
           a->precs & BIT(F64) ? prec_name(F64) : "");
    if (!ops[a->op].sparse_row) // else there is nothing dense to lay out
        printf(", %s%s%s", a->layouts & BIT(LAYOUT_ROW) ? layout_name(LAYOUT_ROW) : "",
               a->layouts == (BIT(LAYOUT_ROW) | BIT(LAYOUT_COL)) ? "," : "",
               a->layouts & BIT(LAYOUT_COL) ? layout_name(LAYOUT_COL) : "");
    printf("; %s%s%s%s\n", a->about, missing ? " (unavailable: " : "", missing ? missing : "",
           missing ? ")" : "");
    if (a->cite) printf("      from %s\n", a->cite);
    list_options(a);
}

static int list_algorithms(void)
{
    printf("algorithms (-alg)\n");
    for (int op = 0; op < op_count; op++) {
        bool any = false;
        for (int i = 0; i < algo_count; i++) {
            if ((int)algos[i].op != op) continue;
            if (!any) printf("  -op %s: %s\n", ops[op].name, ops[op].formula);
            any = true;
            list_algorithm(&algos[i]);
        }
    }
    return OK;
}

static int list_device(const char *spec)
{
    struct device d;
    int err = device_open(spec, &d);
    if (err) return err;
    char memory[32], cache[32];
    printf("  %-7s %s; %s; %s of memory, %s of cache", d.id, d.name, d.detail,
           size_text(d.memory_bytes, memory), size_text(d.cache_bytes, cache));
    if (d.kind == DEVICE_CUDA) printf(", %d multiprocessors", d.units); // threads are in the detail
    printf("\n");
    device_close(&d);
    return OK;
}

static int list_devices(void)
{
    printf("devices (-device)\n");
    int err = list_device("cpu");
    const char *missing = device_missing(DEVICE_CUDA);
    if (missing) printf("  %-7s unavailable: %s\n", device_kind_name(DEVICE_CUDA), missing);
    for (int i = 0; !err && !missing && i < device_count(DEVICE_CUDA); i++) {
        char spec[32];
        snprintf(spec, sizeof spec, "cuda:%d", i);
        // One that cannot be opened does not hide the others.
        if (list_device(spec)) printf("  %-7s unavailable: %s\n", spec, fail_text());
    }
    return err;
}

static int list_formats(void)
{
    printf("formats of the sparse matrix\n");
    for (int i = 0; i < format_count; i++) printf("  %-7s %s\n", formats[i].name, formats[i].about);
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
    for (size_t i = 0; i < sizeof lists / sizeof *lists && !err; i++) {
        suggest_offer(&s, lists[i].name);
        if (wanted && strcmp(wanted, lists[i].name)) continue;
        if (any) printf("\n");
        any = true;
        err = lists[i].print();
    }
    if (err || any) return err;
    return fail(ERR_USAGE, "list %s: no such list; %sit is one of algorithms, devices, formats",
                wanted, suggest_text(&s, guess));
}
