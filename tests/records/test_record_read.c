// Records read back: what was written comes back, and a broken line is refused with a reason,
// whatever is broken in it.
#include <sys/wait.h>

#include "records.h"
#include "records/record_read.h"

// The line of a result; it is gone with the next one.
static const char *line_of(const struct result *r)
{
    int err = write_one(r);
    CHECK(!err, "%s", fail_text());
    return read_file();
}

static bool near(double got, double want)
{
    return isnan(want) ? isnan(got) : fabs(got - want) <= 1e-6 * fabs(want);
}

// What a reader needs of a result, whether the case is known here or not.
static void check_record(const struct record *x, const struct result *r)
{
    char key[CASE_KEY_MAX];
    double none = NAN;
    CHECK(x->kind == RECORD_RESULT && x->status == r->status, "status %d", x->status);
    CHECK(r->reason[0] ? x->reason && !strcmp(x->reason, r->reason) : !x->reason, "reason %s",
          x->reason ? x->reason : "none");
    CHECK_TEXT(x->key, case_key(&r->c, r->matrix, key));
    CHECK_TEXT(x->op, r->c.entry->op->name);
    CHECK_TEXT(x->alg, r->c.entry->name);
    CHECK_TEXT(x->device, r->c.device);
    CHECK_TEXT(x->matrix, r->matrix->name);
    CHECK_TEXT(x->path, r->matrix->path);
    CHECK(x->run && strlen(x->run) == 16, "run %s", x->run ? x->run : "none");
    CHECK(near(x->gflops, r->timed ? r->gflops : none) &&
              near(x->median, r->timed ? r->timing.median : none) &&
              near(x->ci_lo, r->timed ? r->timing.ci_lo : none) &&
              near(x->ci_hi, r->timed ? r->timing.ci_hi : none),
          "%g GFLOPS, %g ms, from %g to %g", x->gflops, x->median, x->ci_lo, x->ci_hi);
    CHECK(near(x->back_to_back, r->timed ? r->timing.back_to_back : none) &&
              near(x->back_ci_lo, r->timed ? r->timing.back_ci_lo : none) &&
              near(x->back_ci_hi, r->timed ? r->timing.back_ci_hi : none),
          "back to back %g ms, from %g to %g", x->back_to_back, x->back_ci_lo, x->back_ci_hi);
    CHECK(x->sample_count == (r->timed ? r->timing.count : 0), "%d samples", x->sample_count);
    for (int i = 0; i < x->sample_count; i++)
        CHECK(near(x->samples[i], r->timing.samples[i]), "sample %d: %g", i, x->samples[i]);
    CHECK(near(x->min_ms, r->timed ? r->timing.min : none), "fastest %g ms", x->min_ms);
    CHECK(near(x->prep_ms, r->prepared ? setup_prep_ms(&r->setup) : none), "prepared in %g ms",
          x->prep_ms);
    const struct algo_stat *picked = algo_stats_find(&r->stats, "picked");
    CHECK(picked ? x->picked && !strcmp(x->picked, picked->text) : !x->picked, "picked %s",
          x->picked ? x->picked : "none");
    CHECK(x->throttled == (r->timed && r->timing.throttled), "throttled");
    CHECK(x->busy == (r->timed && r->timing.busy), "busy");
    CHECK(x->overtakes == (r->check.method && r->in_order == ORDER_BROKEN), "order");
    const char *library = case_library(&r->c);
    CHECK(library ? x->library && !strcmp(x->library, library) : !x->library, "library %s",
          x->library ? x->library : "none");
}

static struct result with_status(enum status status)
{
    struct result r = good_result();
    r.status = status;
    if (status == STATUS_OK) return r;
    snprintf(r.reason, sizeof r.reason, "because of \"%s\"\t\xc3\xa9", status_name(status));
    r.timed = false;
    return r;
}

// Every algorithm with every status, at some values of its axes and options.
static void test_back(void)
{
    for (int i = 0; i < algo_count * STATUS_COUNT; i++) {
        const struct algo_entry *e = &algos[i / STATUS_COUNT];
        struct result r = with_status((enum status)(i % STATUS_COUNT));
        struct record x;
        const struct algo_option *p;
        int64_t *axis = r.c.axis;
        r.c.entry = e;
        r.c.prec = i % 2 ? F32 : F64;
        r.c.cold = i % 3 == 0;
        r.c.stream = i % 5 == 0;
        if (i % 4 == 0) r.setup.formats[0].of = OF_TRANSPOSE; // its conversion is preparation
        device_id(e->device, i % 4, r.c.device);
        if (r.status == STATUS_UNSUPPORTED)
            snprintf(r.c.device, 16, "%s", device_list[e->device].name);
        axes_start(e->op, i % 5, axis);
        for (int w = 0; w < i % 3; w++) axes_next_words(e->op, axis);
        memset(r.c.opt, 0, sizeof r.c.opt);
        for (int o = 0; e->algo && (p = algo_option_at(e->algo, o)); o++)
            r.c.opt[o] = i % 2 ? p->min : p->whole ? p->max : (p->min + p->max) / 3;
        int err = record_read(line_of(&r), &x);
        CHECK(!err, "%s", fail_text());
        if (err) continue;
        check_record(&x, &r);
        CHECK(x.entry == e, "%s is not known again", x.key);
        CHECK(x.own_values == case_has_own_values(&r.c), "%s: values of options", x.key);
        record_free(&x);
        CHECK(!x.key && !x.samples && !x.reason, "a record that was freed");
    }
}

// Of an operation that this build does not have all is there but the case.
static void test_foreign(void)
{
    struct record x;
    struct matrix lost = {.name = (char *)"web", .path = (char *)"-"};
    for (int status = 0; status < STATUS_COUNT; status++) {
        struct result r = with_status((enum status)status);
        if (status == STATUS_FAILED) r.matrix = &lost;
        CHECK(!record_read(line_of(&r), &x), "%s", fail_text());
        check_record(&x, &r);
        CHECK(!x.entry, "the algorithm of an operation that is in no list");
        record_free(&x);
    }
}

// The key in a record is that of the case, whatever the name of the matrix is.
static void test_names(void)
{
    static char longest[1500];
    static char *const names[] = {(char *)"caf\xc3\xa9", (char *)"latin \xe9", (char *)"", longest};
    for (size_t i = 0; i + 3 < sizeof longest; i += 2) memcpy(longest + i, "\xc3\xa9", 2);
    for (int i = 0; i < 2 * COUNT(names); i++) {
        struct matrix M = web;
        struct record x;
        char key[CASE_KEY_MAX];
        struct result r = good_result();
        M.name = names[i / 2] + (i % 2 && names[i / 2] == longest ? 2 : 0);
        M.A.nnz += i % 2 ? 0 : 5; // a letter more before the name
        r.matrix = &M;
        CHECK(!record_read(line_of(&r), &x), "%s", fail_text());
        CHECK_TEXT(x.key, case_key(&r.c, &M, key));
        record_free(&x);
    }
}

static bool is_refused(const char *line, const char *says)
{
    struct record x, none = {0};
    fail(ERR_USAGE, "(nothing was told)");
    fail_drop();
    int err = record_read(line, &x);
    bool refused = err == ERR_INPUT && strstr(fail_text(), says) && !memcmp(&x, &none, sizeof x);
    if (!err) record_free(&x);
    return refused;
}

static const char line_end[] = "another one";

// Cut off at every byte, and with something behind.
static void test_cut(void)
{
    struct result r = good_product();
    char *line = strdup(line_of(&r)), *cut = strdup(line);
    int passed = 0, length = (int)strlen(line);
    for (int at = 0; at < length - 1; at++) {
        cut[at] = 0;
        passed += !is_refused(cut, "no record");
        cut[at] = line[at];
    }
    CHECK(!passed, "%d of %d cut lines pass", passed, length);
    static const char *const behind[] = {"x", "{}", "]", "\"", "1", line_end};
    for (int i = 0; i < COUNT(behind); i++) {
        cut[length - 1] = 0; // the end of the line
        char *both = mem_alloc(2 * length + 2, 1);
        sprintf(both, "%s%s", cut, behind[i] == line_end ? line : behind[i]);
        CHECK(is_refused(both, "record"), "a line with %.30s behind it passes", behind[i]);
        mem_free(both);
    }
    free(line);
    free(cut);
}

static void test_others(void)
{
    static const char *const lines[] = {
        "",
        "\n",
        "null",
        "1",
        "\"text\"",
        "[]",
        "[1, {}]",
        "{}",
        "{\"schema\":\"spbench/2\",\"kind\":\"result\"}",
        "{\"schema\":1,\"kind\":\"result\"}",
        "{\"schema\":\"spbench/1\"}",
        "{\"schema\":\"spbench/1\",\"kind\":\"summary\"}",
        "{\"schema\":\"spbench/1\",\"kind\":7}",
        "{\"schema\":\"spbench/1\",\"kind\":\"result\"}",
        "{\"kind\":\"environment\"}",
        "\xff\xfe{}",
        "{\"schema\":\"spbench/1\\u0000\",\"kind\":\"nothing\"}",
    };
    for (int i = 0; i < COUNT(lines); i++)
        CHECK(is_refused(lines[i], "record"), "passes: %s", lines[i]);
    char deep[4000]; // of brackets, as no record is
    memset(deep, '[', sizeof deep);
    deep[sizeof deep - 1] = 0;
    CHECK(is_refused(deep, "record"), "brackets pass");
    struct record x;
    CHECK(is_refused("{\"schema\":\"spbench/1\",\"kind\":\"environment\"}", "'run'"), "no run");
    CHECK(!record_read("{\"schema\":\"spbench/1\",\"kind\":\"doctor\"}", &x) &&
              x.kind == RECORD_DOCTOR,
          "%s", fail_text());
    record_free(&x);
    CHECK(!record_read("{\"schema\":\"spbench/1\",\"kind\":\"environment\",\"run\":\"0a\","
                       "\"date\":\"2026-11-22T03:11:09Z\"}",
                       &x) &&
              x.when == 1795317069,
          "%lld", (long long)x.when);
    record_free(&x);
    CHECK(!record_read("{\"schema\":\"spbench/1\",\"kind\":\"environment\",\"run\":\"0a\","
                       "\"date\":\"2026-11-22 or so\"}",
                       &x) &&
              !x.when,
          "%lld", (long long)x.when);
    record_free(&x);
    CHECK(!record_read("{\"schema\":\"spbench/1\",\"kind\":\"environment\",\"run\":\"0a\"}", &x) &&
              x.run && !strcmp(x.run, "0a") && !x.when,
          "%s", fail_text());
    record_free(&x);
    CHECK(is_refused("{\"schema\":\"spbench/1\",\"kind\":\"environment\",\"run\":7}", "'run'"),
          "a run that is a number");
}

// A good line of the first algorithm that has options.
static cJSON *good_line(void)
{
    struct result r = good_result();
    const struct algo_entry *e = algos;
    while (!algo_option_at(e->algo, 0)) e++;
    r.c.entry = e;
    axes_start(e->op, 0, r.c.axis);
    algo_defaults(e->algo, r.c.opt);
    device_id(e->device, 0, r.c.device);
    return cJSON_Parse(line_of(&r));
}

// Reads it, and frees it.
static int read_tree(cJSON *line, struct record *out)
{
    char *text = cJSON_PrintUnformatted(line);
    int err = record_read(text, out);
    cJSON_free(text);
    cJSON_Delete(line);
    return err;
}

static bool tree_is_refused(cJSON *line, const char *says)
{
    char *text = cJSON_PrintUnformatted(line);
    bool refused = is_refused(text, says);
    cJSON_free(text);
    cJSON_Delete(line);
    return refused;
}

static cJSON *outer_of(cJSON *line, const char *name)
{
    const char *const inner[] = {"matrix", "time_ms", "options"};
    for (int i = 0; i < COUNT(inner); i++)
        if (at(line, inner[i], name) && !at(line, NULL, name)) return at(line, NULL, inner[i]);
    return line;
}

// Without a name that tells what the line is there is no record.
static void test_missing(void)
{
    static const char *const needed[] = {"schema", "kind",   "status", "case", "op", "alg",
                                         "device", "matrix", "name",   "path", "run"};
    for (int i = 0; i < COUNT(needed); i++)
        for (int null = 0; null < 2; null++) {
            cJSON *line = good_line(), *outer = outer_of(line, needed[i]);
            if (null)
                cJSON_ReplaceItemInObjectCaseSensitive(outer, needed[i], cJSON_CreateNull());
            else
                cJSON_DeleteItemFromObjectCaseSensitive(outer, needed[i]);
            CHECK(tree_is_refused(line, "record"), "without %s it passes: %s", needed[i],
                  fail_text());
        }
}

// Each of these in the place of each item.
static const char *const strange[] = {"null",      "true",
                                      "-1",        "1.5",
                                      "1e400",     "-1e400",
                                      "\"\"",      "[]",
                                      "[1]",       "[[1],{\"a\":2}]",
                                      "{\"a\":1}", "\"a very long word, longer than any\""};

static void read_strange(const char *part)
{
    char *good = cJSON_PrintUnformatted(good_line());
    for (int i = 0;; i++)
        for (int s = 0; s < COUNT(strange); s++) {
            cJSON *line = cJSON_Parse(good), *outer = part ? at(line, NULL, part) : line;
            cJSON *child = cJSON_GetArrayItem(outer, i), *other = cJSON_Parse(strange[s]);
            struct record x;
            if (!child) return;
            cJSON_ReplaceItemInObjectCaseSensitive(outer, child->string, other);
            char *text = cJSON_PrintUnformatted(line);
            int err = record_read(text, &x);
            if (err && err != ERR_INPUT) _exit(3);
            if (!err) record_free(&x);
            cJSON_free(text);
            cJSON_Delete(line);
        }
}

// In a child, as what is to be found is a crash.
static void test_strange(void)
{
    static const char *const parts[] = {NULL, "matrix", "time_ms", "options", "check", "stats"};
    for (int i = 0; i < COUNT(parts); i++) {
        int status = -1;
        fflush(stdout);
        pid_t child = fork();
        if (!child) {
            read_strange(parts[i]);
            _exit(0);
        }
        waitpid(child, &status, 0);
        CHECK(WIFEXITED(status) && !WEXITSTATUS(status),
              "a strange value %s%s ends the program, status %x", parts[i] ? "in " : "at the top",
              parts[i] ? parts[i] : "", status);
    }
}

// The field, of an inner object or (NULL) of the line itself, becomes this text of JSON.
static cJSON *line_with(const char *outer, const char *name, const char *value)
{
    cJSON *line = good_line(), *o = outer ? at(line, NULL, outer) : line;
    CHECK(at(o, NULL, name) != NULL, "no %s in a good line", name);
    cJSON_ReplaceItemInObjectCaseSensitive(o, name, cJSON_CreateRaw(value));
    return line;
}

static void check_unknown(const char *name, const char *value)
{
    struct record x;
    int err = read_tree(line_with(NULL, name, value), &x);
    CHECK(!err && !x.entry && !x.own_values, "%s of %s: error %d, or known", name, value, err);
    if (!err) record_free(&x);
}

// Algorithms that this build does not have.
static void test_unknown(void)
{
    static const char *const devices[] = {"\"tpu:0\"", "\"cpux\"", "\"\"", "\"CPU\"", "\"cuda0\""};
    check_unknown("alg", "\"no-such\"");
    check_unknown("op", "\"no-such\"");
    for (int i = 0; i < COUNT(devices); i++) check_unknown("device", devices[i]);
}

// A time has samples, which are times; and what is no time has none.
static void test_samples(void)
{
    static const char *const lists[] = {
        "null",       "7",         "\"0.5\"",  "{}",      "{\"a\":1}",  "[]",     "[null]",
        "[0.5,null]", "[\"0.5\"]", "[0.5,{}]", "[[0.5]]", "[0.5,true]", "[-0.5]", "[0.5,1e400]"};
    static const char *const times[] = {"7", "true", "\"0.5\"", "[]", "[0.5]", "{}"};
    struct record x;
    for (int i = 0; i < COUNT(lists); i++)
        CHECK(tree_is_refused(line_with("time_ms", "samples", lists[i]), "'samples'"),
              "samples %s: %s", lists[i], fail_text());
    for (int i = 0; i < COUNT(times); i++)
        CHECK(tree_is_refused(line_with(NULL, "time_ms", times[i]), ""), "a time of %s: %s",
              times[i], fail_text());
    CHECK(!read_tree(line_with("time_ms", "samples", "[0,2.5]"), &x), "%s", fail_text());
    CHECK(x.sample_count == 2 && x.samples[0] == 0 && x.samples[1] == 2.5, "%d samples",
          x.sample_count);
    record_free(&x);
    CHECK(!read_tree(line_with(NULL, "time_ms", "null"), &x) && !x.sample_count, "%s", fail_text());
    record_free(&x);
}

// Of another version of a library it is another case, though this build cannot run it.
static void test_library(void)
{
    cJSON *line = line_with(NULL, "library", "\"Made-up 1.2\"");
    struct record x;
    char key[CASE_KEY_MAX], before[CASE_KEY_MAX];
    snprintf(before, sizeof before, "%s", text_at(line, "case"));
    char *size = strstr(before, " 3x4:5 web");
    CHECK(size != NULL, "%s", before);
    if (!size) return;
    snprintf(key, sizeof key, "%.*s Made-up-1.2%s", (int)(size - before), before, size);
    cJSON_ReplaceItemInObjectCaseSensitive(line, "case", cJSON_CreateString(key));
    int err = read_tree(line, &x);
    CHECK(!err && x.entry, "%s", fail_text());
    if (err) return;
    CHECK_TEXT(x.key, key);
    record_free(&x);
}

// Options that the algorithm does not have do not count.
static void test_options(void)
{
    cJSON *line = good_line(), *options = at(line, NULL, "options");
    struct record x;
    while (options->child) cJSON_DeleteItemFromObjectCaseSensitive(options, options->child->string);
    cJSON_AddNumberToObject(options, "older", -0.5);
    CHECK(!read_tree(line, &x) && x.entry && !x.own_values, "%s", fail_text());
    record_free(&x);
}

// The n-th allocation fails: no record, which is not the line's fault.
static void test_no_memory(void)
{
    struct result r = good_product();
    struct record x, none = {0};
    char *line = strdup(line_of(&r));
    int n = 0, blamed = 0, err;
    do {
        mem_fail_at(++n);
        err = record_read(line, &x);
        mem_fail_at(0);
        CHECK(!err || !memcmp(&x, &none, sizeof x), "allocation %d leaves something", n);
        blamed += err && err != ERR_MEMORY;
    } while (err && n < 10000);
    CHECK(!err && n > 50, "error %d after %d allocations", err, n);
    CHECK(!blamed, "%d of %d times a good line is blamed", blamed, n - 1);
    if (!err) record_free(&x);
    free(line);
}

int main(void)
{
    path_make();
    test_back();
    test_foreign();
    test_names();
    test_cut();
    test_others();
    test_missing();
    test_strange();
    test_unknown();
    test_samples();
    test_library();
    test_options();
    test_no_memory();
    unlink(path);
    return TEST_END();
}
