// Files of records -> the record of each case that counts.
#include "report/collect.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "test.h"

static char path[] = P_tmpdir "/test_collect.XXXXXX";

// A record: of a run of its own revision where that is given.
struct line {
    const char *run, *revision; // revision: an environment comes first; NULL: none
    double ms;
    const char *status, *content; // NULL: ok, "c"
    const char *host;             // NULL: "h"
};

static const char *text_or(const char *text, const char *other) { return text ? text : other; }

static void put(FILE *f, const struct line *l)
{
    if (l->revision)
        fprintf(f,
                "{\"schema\":\"spbench/1\",\"kind\":\"environment\",\"run\":\"%s\",\"revision\":"
                "\"%s\",\"host\":\"%s\",\"devices\":[{\"id\":\"cuda:0\",\"name\":\"GPU\"}],"
                "\"algorithms\":[{\"name\":\"x\",\"device\":\"cuda\",\"vendor\":\"Lib\","
                "\"call\":\"lib_multiply\"}]}\n",
                l->run, l->revision, text_or(l->host, "h"));
    fprintf(f,
            "{\"schema\":\"spbench/1\",\"kind\":\"result\",\"status\":\"%s\",\"case\":"
            "\"made-up x cuda:0 f32 cache=warm 5x5:9 web\",\"op\":\"made-up\",\"alg\":\"x\","
            "\"device\":\"cuda:0\",\"prec\":\"f32\",\"run\":\"%s\",\"matrix\":{\"name\":\"web\","
            "\"path\":\"web.mtx\",\"content\":\"%s\"},\"check\":{\"method\":\"full\"},",
            text_or(l->status, "ok"), l->run, text_or(l->content, "c"));
    if (l->ms > 0)
        fprintf(f,
                "\"gflops\":%.9g,\"time_ms\":{\"median\":%.9g,\"ci_lo\":%.9g,\"ci_hi\":%.9g,"
                "\"back_to_back\":%.9g,\"samples\":[1]},\"setup_ms\":{\"analyse\":1},\"formats\":[{\"format\":\"csr\","
                "\"convert_ms\":0},{\"format\":\"coo\",\"convert_ms\":2}]}\n",
                1 / l->ms, l->ms, l->ms - 0.5, l->ms + 0.5, l->ms / 2);
    else
        fprintf(f, "\"time_ms\":null}\n");
}

#define LINES 5

// A record of the run, with its environment if `rev` is not NULL.
#define RUN(id, rev, time, ...)                                                                    \
    {                                                                                              \
        .run = id, .revision = rev, .ms = time, __VA_ARGS__                                        \
    }

static const struct collect_row {
    struct line line[LINES];
    double ms; // NAN: none counts with a time
    int runs;
    enum status status;
    const char *about;
} rows[] = {
    {{RUN("a", "r", 2), RUN("a", NULL, 3)}, 3, 1, STATUS_OK, "the last record of a run"},
    {{RUN("a", "r", 2), RUN("b", "r", 9), RUN("c", "r", 4)},
     4,
     3,
     STATUS_OK,
     "the median of three runs"},
    {{RUN("a", "r", 2), RUN("b", "r", 4)}, 3, 2, STATUS_OK, "the mean of the two in the middle"},
    {{RUN("a", "r", 2), RUN("b", "r", 4, .host = "i")}, 4, 1, STATUS_OK, "another machine"},
    {{RUN("a", "r", 2), RUN("b", "r", 4, .content = "d")}, 4, 1, STATUS_OK, "another content"},
    {{RUN("a", "r-dirty", 2), RUN("b", "r-dirty", 4)}, 4, 1, STATUS_OK, "code that cannot be told"},
    {{RUN("a", "r", 2), RUN("b", "r", 0, .status = "wrong"), RUN("c", "r", 4)},
     NAN,
     1,
     STATUS_WRONG,
     "wrong in one"},
    {{RUN("a", "r", 2), RUN("b", "r", 0, .status = "oom")},
     NAN,
     1,
     STATUS_OOM,
     "the last has no time"},
    {{RUN("a", "r", 2), RUN("b", "r", 0, .status = "oom"), RUN("c", "r", 4)},
     3,
     2,
     STATUS_OK,
     "one has no time"},
};

static int collect(struct collected *c, struct summaries *s)
{
    int err = collect_file(c, path);
    if (!err) err = collect_choose(c);
    return err ? err : collect_rows(c, NULL, s);
}

static void fill(const struct collect_row *row)
{
    FILE *f = fopen(path, "w");
    for (int i = 0; f && i < LINES && row->line[i].run; i++) put(f, &row->line[i]);
    CHECK(f && !fclose(f), "%s cannot be written", path);
}

static void test_row(const struct collect_row *row)
{
    struct collected c = {0};
    struct summaries s = {0};
    fill(row);
    CHECK(!collect(&c, &s), "%s: %s", row->about, fail_text());
    CHECK(s.count == 1, "%s: %lld rows", row->about, (long long)s.count);
    const struct collected_case *x = s.rows[0].x;
    CHECK(isnan(row->ms) ? isnan(s.rows[0].rank.ms) : fabs(s.rows[0].rank.ms - row->ms) < 1e-9,
          "%s: %g ms", row->about, s.rows[0].rank.ms);
    CHECK(x->runs == row->runs && s.rows[0].status == row->status, "%s: %d runs", row->about,
          x->runs);
    CHECK(isnan(row->ms) || fabs(x->r.gflops * row->ms - 1) < 1e-9, "%s: %g", row->about,
          x->r.gflops);
    CHECK(isnan(row->ms) || fabs(x->r.back_to_back - row->ms / 2) < 1e-9, "%s: %g back to back",
          row->about, x->r.back_to_back);
    int64_t replaced = c.replaced, medians = c.medians;
    CHECK(!collect_choose(&c) && c.replaced == replaced && c.medians == medians, "%s: %lld",
          row->about, (long long)c.replaced);
    CHECK_TEXT(s.rows[0].device, "GPU");
    CHECK_TEXT(text_or(s.rows[0].rank.vendor, "none"), "Lib");
    CHECK_TEXT(text_or(s.rows[0].rank.call, "none"), "lib_multiply");
    CHECK(isnan(row->ms) || (s.rows[0].rank.prep_ms == 3 && s.rows[0].rank.samples == x->runs),
          "%s: prepared in %g ms", row->about, s.rows[0].rank.prep_ms);
    summaries_free(&s);
    collect_free(&c);
}

// The interval of a median holds those of all its runs.
static void test_interval(void)
{
    struct collected c = {0};
    struct summaries s = {0};
    fill(&rows[1]);
    CHECK(!collect(&c, &s), "%s", fail_text());
    const struct record *r = &s.rows[0].x->r;
    CHECK(r->ci_lo == 1.5 && r->ci_hi == 9.5, "%g to %g", r->ci_lo, r->ci_hi);
    summaries_free(&s);
    collect_free(&c);
}

static void test_memory(void)
{
    fill(&rows[1]);
    for (int64_t n = 1;; n++) {
        struct collected c = {0};
        struct summaries s = {0};
        mem_fail_at(n);
        int err = collect(&c, &s);
        mem_fail_at(0);
        summaries_free(&s);
        collect_free(&c);
        if (!err) break;
        CHECK(err == ERR_MEMORY && n < 1000, "allocation %lld: %d", (long long)n, err);
    }
}

int main(void)
{
    int fd = mkstemp(path);
    CHECK(fd >= 0 && !close(fd), "cannot make %s", path);
    for (int i = 0; i < COUNT(rows); i++) test_row(&rows[i]);
    test_interval();
    test_memory();
    unlink(path);
    return TEST_END();
}
