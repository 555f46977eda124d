// spbench list: a line per algorithm, device and format. "list NAME" describes algorithms, or all
// algorithms of an operation.
#include "cli/commands/request.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/suggest.h"
#include "base/words.h"

#define REASONS_MAX 8

static void print_fact(const char *what, const char *text)
{
    if (text && *text) printf("  %-12s  %s\n", what, text);
}

// Writes the formats that an algorithm takes a matrix in: "csr", "csr and coo".
static const char *formats_text(const struct format *const list[FORMATS_MAX], char text[128])
{
    text[0] = 0;
    for (int f = 0; f < FORMATS_MAX && list[f]; f++) words_and(text, 128, list[f]->name);
    return text;
}

static void print_limits(const struct algo *a)
{
    char word[32], text[64] = "";
    for (int p = 0; p < PRECS; p++)
        if (a->precs & BIT(p)) words_and(text, sizeof text, prec_name((enum prec)p));
    print_fact("precision", text);
    text[0] = 0;
    for (int l = LAYOUT_ROW; l <= LAYOUT_COL; l++)
        if (a->layouts & BIT(l)) words_and(text, sizeof text, axis_text(&axis_layout, l, word));
    print_fact("layout", text);
    snprintf(text, sizeof text, a->columns == 1 ? "%d only" : "up to %d", a->columns);
    print_fact("k", a->columns ? text : NULL);
    static const char *const sums[] = {
        [ARITH_PREC] = "sums in f64 for f64, else in f32",
        [ARITH_DOUBLE] = "products and sums in f64, rounded once at the end",
        [ARITH_RESULT] = "products and sums in the type of the result",
    };
    print_fact("arithmetic", sums[a->arith]);
}

static void print_relations(const struct algo *a)
{
    char text[256] = "";
    for (int i = 0; i < COUNT(a->picks) && a->picks[i]; i++)
        words_or(text, sizeof text, a->picks[i]);
    print_fact("picks", text);
    print_fact("tuned form", a->tuned_of);
    print_fact("leaves out", a->partial);
    if (a->dense)
        print_fact("dense", "A is a dense matrix, with all of its zeros: never the baseline");
    if (a->drops_zeros) print_fact("zeros", "elements whose sum is exactly 0 are not in C");
    if (a->reference) print_fact("reference", "the plain one: what others are compared with");
    print_fact("vendor", a->vendor);
    print_fact("call", a->call);
    if (a->model)
        print_fact("model", a->model == MODEL_TILED ? "tiled; spbench info -model predicts it"
                                                    : "naive; spbench info -model predicts it");
}

static void print_options(const struct algo *a)
{
    const struct algo_option *p;
    char text[512];
    for (int i = 0; (p = algo_option_at(a, i)); i++) {
        snprintf(text, sizeof text, "%s=%.10g  from %.10g to %.10g%s: %s", p->name, p->value,
                 p->min, p->max, p->whole ? ", whole" : "", p->about);
        print_fact("-opt", text);
    }
}

static void print_algorithm(const struct algo_entry *e)
{
    const struct algo *a = e->algo;
    const char *missing = algo_missing(e);
    char text[256];
    if (!missing) missing = device_missing(e->device);
    printf("%s: -op %s -alg %s on %s\n", e->name, e->op->name, e->name,
           device_list[e->device].name);
    print_fact("idea", algo_idea(e));
    print_fact("unavailable", missing);
    print_fact("computes", a->variant ? e->op->variants[a->variant] : e->op->formula);
    print_fact("from", a->cite);
    print_fact("deviations", a->differs);
    if (a->plugin) {
        snprintf(text, sizeof text, "%s, version %s, SHA-256 %s", a->plugin->own.file,
                 a->plugin->version, a->plugin->own.sha256);
        print_fact("plug-in", text);
    }
    print_fact("library", a->library && !missing ? a->library() : NULL);
    print_limits(a);
    print_fact("A as", formats_text(a->A, text));
    print_fact("factor as", formats_text(a->S, text));
    print_fact("transposes", a->transposes ? "reads A as A^T with -trans flag" : NULL);
    print_relations(a);
    print_options(a);
}

// Returns true if a name or pattern matches the algorithm or its operation.
static bool is_wanted(const char *wanted, const struct algo_entry *e)
{
    return !fnmatch(wanted, e->name, 0) || !strcmp(wanted, e->op->name);
}

// Prints the algorithms of this name or pattern. Returns false if there are none.
static bool print_algorithms(const char *wanted)
{
    int count = 0;
    for (int i = 0; i < algo_count; i++)
        if (is_wanted(wanted, &algos[i])) {
            if (count++) printf("\n");
            print_algorithm(&algos[i]);
        }
    return count;
}

// Offers all valid names as suggestions.
static void offer_names(struct suggestion *s)
{
    for (int i = 0; i < algo_count; i++) suggest_offer(s, algos[i].name);
    for (int i = 0; i < op_count; i++) suggest_offer(s, ops[i]->name);
}

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
    char devices[64] = "", words[64] = "", mark[16];
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
        bits |= e->algo->precs;
    }
    for (int p = 0; p < PRECS && bits != EVERY_PREC; p++)
        if (bits & BIT(p)) words_add(words, sizeof words, ",", prec_name((enum prec)p));
    printf("    %-*s  %-11s  %-7s  %s\n", width, first->name, devices,
           bits == EVERY_PREC ? "all" : words, algo_idea(first));
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
        for (int k = 0; k < DEVICE_KINDS; k++)
            if (format_is_made_on(f, (enum device_kind)k))
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
    if (err || any || print_algorithms(wanted)) return err;
    offer_names(&s);
    return fail(ERR_USAGE,
                "list %s: no such list, algorithm or operation; %s'spbench list' shows all", wanted,
                suggest_text(&s, guess));
}
