// spbench test: runs the exact cases of the algorithms of plug-ins, in a worker process.
#include "cli/cli.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "cli/worker_test.h"
#include "sweep/worker_config.h"

#define LOOK_MS 100 // longest time until Ctrl-C is seen

// Results of an algorithm.
struct tested {
    char name[TEST_NAME_MAX];
    char skipped[FAIL_TEXT_MAX]; // reason; "": not skipped
    long long right, unsupported, wrong;
    long long size;                                // of the smallest wrong input
    char input[FAIL_TEXT_MAX], why[FAIL_TEXT_MAX]; // of that case
};

struct test {
    struct tested list[ALGOS_ADDED_MAX]; // size count
    int count;
    struct texts without;      // names of the algorithms that workers leave out
    char input[FAIL_TEXT_MAX]; // input of the case under way; "": none
    long long size;
    double begin_ms; // of the case, or of the worker
    enum { TEST_RUNS, TEST_NEEDS_WORKER, TEST_DONE } state;
};

// Counts a wrong case, and keeps the smallest.
static void add_wrong(struct test *t, const char *why)
{
    struct tested *x = &t->list[t->count - 1];
    if (!x->wrong++ || t->size < x->size) {
        x->size = t->size;
        snprintf(x->input, sizeof x->input, "%s", t->input);
        snprintf(x->why, sizeof x->why, "%s", why);
    }
    t->input[0] = 0;
}

static int start_algorithm(struct test *t, const char *name)
{
    if (t->count == ALGOS_ADDED_MAX) return fail(ERR_INPUT, "a worker tests too many algorithms");
    struct tested *x = &t->list[t->count++];
    *x = (struct tested){.size = 0};
    snprintf(x->name, sizeof x->name, "%s", name);
    return texts_add(&t->without, name);
}

static int take_line(struct test *t, const char *line)
{
    const char *rest, *text;
    int used = 0;
    enum protocol_line kind = protocol_parse(line, &rest);
    if (kind == LINE_ALGORITHM) return start_algorithm(t, rest);
    if (kind == LINE_DONE) return t->state = TEST_DONE, OK;
    if (kind == LINE_AGAIN) return t->state = TEST_NEEDS_WORKER, OK;
    if (kind == LINE_ERROR) {
        enum err code = protocol_error(rest, &text);
        return fail(code, "%s", text);
    }
    if (!t->count) return OK;
    struct tested *x = &t->list[t->count - 1];
    if (kind == LINE_SKIPPED) snprintf(x->skipped, sizeof x->skipped, "%s", rest);
    if (kind == LINE_TESTING && sscanf(rest, "%lld %n", &t->size, &used) == 1) {
        snprintf(t->input, sizeof t->input, "%s", rest + used);
        t->begin_ms = clock_ms();
    }
    if (kind != LINE_TESTED) return OK;
    if (!strcmp(rest, "right"))
        x->right++;
    else if (!strcmp(rest, "unsupported"))
        x->unsupported++;
    else
        add_wrong(t, rest);
    t->input[0] = 0;
    return OK;
}

static int take_lines(struct test *t, struct worker *w)
{
    int err = worker_read(w);
    for (char *line; !err && t->state == TEST_RUNS && (line = worker_line(w));)
        err = take_line(t, line);
    return err;
}

// Follows a worker to its end, or until another worker is needed. A case that ends the worker is
// wrong.
static int follow(struct test *t, struct worker *w, double timeout_ms)
{
    int err = OK, state;
    char why[FAIL_TEXT_MAX];
    t->begin_ms = clock_ms();
    t->input[0] = 0;
    t->state = TEST_RUNS;
    while (!err && t->state == TEST_RUNS) {
        struct pollfd look[2] = {{w->channel, POLLIN, 0}, {w->talk, POLLIN, 0}};
        poll(look, 2, w->channel < 0 ? 10 : LOOK_MS);
        err = interrupted ? fail(ERR_INTERRUPTED, "interrupted") : take_lines(t, w);
        if (err || t->state != TEST_RUNS) break;
        if (clock_ms() - t->begin_ms > timeout_ms) {
            snprintf(why, sizeof why, "had not ended after %g s (-timeout)", timeout_ms * 1e-3);
        } else {
            if (w->channel >= 0 || !worker_over(w, &state)) continue;
            worker_end_text(w, state, why);
        }
        if (!t->input[0]) return fail(ERR_DEVICE, "no case was under way: %s", why);
        add_wrong(t, why);
        return OK;
    }
    return err;
}

static int test_all(struct test *t, const struct options *o)
{
    char plugin[] = "-plugin", alg[] = "-alg";
    char *words[2 * PLUGINS_MAX + 2];
    struct worker_config config = {.words = words,
                                   .device = "auto",
                                   .threads = o->threads,
                                   .plugins = {(const char **)o->plugin_sha256, o->plugin_count}};
    int err = OK;
    for (int i = 0; i < o->plugin_count; i++) {
        words[config.word_count++] = plugin;
        words[config.word_count++] = o->plugins[i];
    }
    words[config.word_count++] = alg;
    words[config.word_count++] = (char *)o->alg;
    while (!err && t->state != TEST_DONE) {
        const struct worker_args args = {.test = true, .run = "", .without = t->without};
        struct worker w;
        err = worker_config_start(&config, &args, &w);
        if (!err) err = follow(t, &w, o->sweep.timeout_ms);
        worker_free(&w);
    }
    return err;
}

static void print_algorithm(const struct tested *x)
{
    char text[FAIL_TEXT_MAX];
    printf("%-28s ", x->name);
    if (x->skipped[0]) {
        printf("not tested: %s\n", utf8_visible(x->skipped, text, sizeof text));
        return;
    }
    printf("%lld right, %lld wrong", x->right, x->wrong);
    if (x->unsupported) printf(", %lld unsupported", x->unsupported);
    printf("\n");
    if (!x->wrong) return;
    printf("  smallest wrong input: %s\n", utf8_visible(x->input, text, sizeof text));
    printf("  %s\n", utf8_visible(x->why, text, sizeof text));
}

int cli_test(const struct request *q)
{
    if (!q->o->plugin_count)
        return fail(ERR_USAGE, "test: -plugin FILE is missing; 'spbench new-kernel' writes one");
    struct test *t = mem_zero_alloc(1, sizeof *t);
    if (!t) return ERR_MEMORY;
    int err = test_all(t, q->o);
    long long cases = 0;
    for (int i = 0; i < t->count; i++) {
        print_algorithm(&t->list[i]);
        cases += t->list[i].right + t->list[i].wrong;
        q->outcome->bad_result |= t->list[i].wrong > 0;
    }
    if (!err && !t->count)
        err = fail(ERR_USAGE, "-alg %s: matches no algorithm of the plug-ins", q->o->alg);
    if (!err && !cases) err = fail(ERR_UNSUPPORTED, "nothing was tested");
    texts_free(&t->without);
    mem_free(t);
    return err;
}
