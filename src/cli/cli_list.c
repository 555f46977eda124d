// spbench list: a line per algorithm, device and format. cli_about.c has `spbench list NAME`.
#include "cli/cli_list.h"

#include <stdio.h>
#include <string.h>

#include "base/words.h"

#define REASONS_MAX 8

// Reasons why algorithms are unavailable, each once. The mark of a reason is its index plus 1.
struct reasons {
    char text[REASONS_MAX][FAIL_TEXT_MAX];
    int count;
};

// Returns the mark of a reason. Reasons past REASONS_MAX get the last mark.
static int reason_mark(struct reasons *r, const char *why)
{
    for (int i = 0; i < r->count; i++)
        if (!strcmp(r->text[i], why)) return i + 1;
    if (r->count < REASONS_MAX) snprintf(r->text[r->count++], sizeof r->text[0], "%s", why);
    return r->count;
}

// Returns the first entry of the same operation and name: the same algorithm on another device.
static const struct algo_entry *first_of(const struct algo_entry *e)
{
    for (const struct algo_entry *f = algos; f < e; f++)
        if (f->op == e->op && !strcmp(f->name, e->name)) return f;
    return e;
}

// Prints name, devices, precisions and idea. "cpu,cuda(1)": reason 1 says why cuda is unavailable.
static void list_algorithm(const struct algo_entry *first, int width, struct reasons *reasons)
{
    char devices[64] = "", precs[64] = "", mark[16];
    unsigned bits = 0;
    for (const struct algo_entry *e = first; e < algos + algo_count; e++) {
        if (first_of(e) != first) continue;
        const char *why = device_missing(e->device);
        if (!why) why = algo_missing(e);
        words_add(devices, sizeof devices, ",", device_list[e->device].name);
        if (why) {
            snprintf(mark, sizeof mark, "(%d)", reason_mark(reasons, why));
            words_add(devices, sizeof devices, "", mark);
        }
        if (e->algo) bits |= e->algo->precs;
    }
    for (int p = F32; p <= F64; p++)
        if (bits & BIT(p)) words_add(precs, sizeof precs, ",", prec_name((enum prec)p));
    printf("    %-*s  %-11s  %-7s  %s\n", width, first->name, devices, bits ? precs : "-",
           algo_idea(first));
}

static int list_algorithms(void)
{
    struct reasons reasons = {.count = 0};
    int width = 0;
    for (int i = 0; i < algo_count; i++) width = (int)max64(width, (int64_t)strlen(algos[i].name));
    printf("algorithms (-alg NAME); 'spbench list NAME' shows options and source\n");
    for (int x = 0; x < op_count; x++) {
        printf("  -op %s: %s\n", ops[x]->name, ops[x]->formula);
        for (int i = 0; i < algo_count; i++)
            if (algos[i].op == ops[x] && first_of(&algos[i]) == &algos[i])
                list_algorithm(&algos[i], width, &reasons);
    }
    for (int i = 0; i < reasons.count; i++)
        printf("  (%d) unavailable here: %s\n", i + 1, reasons.text[i]);
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
            // A device that cannot be opened gets a line; the list continues.
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
