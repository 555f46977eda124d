// Errors, sizes, memory, random numbers; lists of words, stats, sorting.
#include <stdlib.h>

#include "base/algo_stats.h"
#include "base/sort.h"
#include "base/suggest.h"
#include "base/words.h"
#include "dies.h"

static void test_sizes(void)
{
    int64_t x = -1;
    CHECK(size_mul(3, 4, &x) == OK && x == 12, "3 * 4 gives %lld", (long long)x);
    CHECK(size_mul(INT64_MAX, 2, &x) == ERR_MEMORY, "an overflow was accepted");
    CHECK(size_mul(-1, 2, &x) == ERR_MEMORY, "a negative size was accepted");
    CHECK(size_add(INT64_MAX, 1, &x) == ERR_MEMORY, "an overflow was accepted");
    CHECK(size_add(5, 6, &x) == OK && x == 11, "5 + 6 gives %lld", (long long)x);

    char text[32];
    CHECK_TEXT(size_text(0, text), "0 bytes");
    CHECK_TEXT(size_text(999, text), "999 bytes");
    CHECK_TEXT(size_text(1500, text), "1.5 kB");
    CHECK_TEXT(size_text(999999, text), "1.0 MB");
    CHECK_TEXT(size_text((int64_t)141 * 1000 * 1000 * 1000, text), "141 GB");
}

static void test_memory(void)
{
    char *p = mem_alloc(0, 8);
    CHECK(p, "an allocation of nothing failed");
    mem_free(p);
    mem_free(NULL);

    p = mem_zero_alloc(100, 1);
    int sum = 0;
    for (int i = 0; i < 100; i++) sum += p[i];
    CHECK(sum == 0 && (uintptr_t)p % 64 == 0, "sum %d, address %p", sum, (void *)p);
    p[99] = 7;
    p = mem_resize(p, 100, 1000, 1);
    CHECK(p && p[99] == 7, "the contents were not kept");
    mem_free(p);

    CHECK(!mem_alloc(INT64_MAX, 8) && strstr(fail_text(), "out of range"), "%s", fail_text());
    CHECK(!mem_alloc((int64_t)1 << 50, 1) && strstr(fail_text(), "out of host memory"), "%s",
          fail_text());
}

// The n-th allocation fails, and what can be done without is not counted.
static void test_failures(void)
{
    mem_fail_at(2);
    char *p = mem_alloc(1, 1), *tried = mem_try_alloc(1);
    void *q = mem_alloc(1, 1), *r = mem_alloc(1, 1);
    CHECK(p && tried && !q && r, "the second allocation should fail: %p %p %p", (void *)p, q, r);
    mem_fail_at(0);
    mem_free(r);
    mem_free(tried);
    fail(ERR_INPUT, "what was told before");
    CHECK(!mem_try_alloc((int64_t)1 << 50), "1 PB was there");
    CHECK_TEXT(fail_text(), "what was told before");
    *p = 5;
    mem_fail_at(1);
    CHECK(!mem_resize(p, 1, 100, 1) && *p == 5, "the old block is gone");
    mem_fail_at(0);
    mem_free(p);
}

static void test_random(void)
{
    // Pinned: recorded runs are repeated with these numbers.
    CHECK(random_at(0, 0) == 0xa706dd2f4d197e6fu, "the stream has changed: %llx",
          (unsigned long long)random_at(0, 0));
    CHECK(random_at(1, 5) != random_at(2, 5), "the seed does not matter");
    double low = 1, high = -1, sum = 0;
    for (uint64_t i = 0; i < 100000; i++) {
        double x = random_value(42, i);
        if (x < low) low = x;
        if (x > high) high = x;
        sum += x;
        if ((double)(float)x != x) CHECK(false, "%.17g is not exact in f32", x);
    }
    CHECK(low >= -1 && low < -0.999 && high < 1 && high > 0.999, "range %g .. %g", low, high);
    CHECK(sum / 100000 < 0.01 && sum / 100000 > -0.01, "mean %g", sum / 100000);
}

static void test_words(void)
{
    static const struct {
        const char *list;
        int count, end; // words before the end, and how it ends
    } table[] = {{"a", 1, 0},   {"a,b,c", 3, 0}, {"", 0, -1},    {",", 0, -1},
                 {"a,", 1, -1}, {"a,,b", 1, -1}, {" a, b", 2, 0}};
    char item[WORD_MAX], list[2 * WORD_MAX], text[12] = "";
    for (int i = 0; i < COUNT(table); i++) {
        const char *rest = table[i].list;
        int count = 0, more;
        while ((more = words_next(&rest, item)) > 0) count++;
        CHECK(count == table[i].count && more == table[i].end, "\"%s\": %d words, then %d",
              table[i].list, count, more);
    }
    for (int length = WORD_MAX - 2; length <= WORD_MAX + 1; length++) {
        const char *rest = list;
        memset(list, 'x', sizeof list);
        strcpy(list + length, ",y");
        int got = words_next(&rest, item);
        CHECK(got == (length < WORD_MAX ? 1 : -1) && (got < 0 || (int)strlen(item) == length),
              "a word of %d letters", length);
    }
    CHECK(words_bad("alg", "") == ERR_USAGE && !strcmp(fail_text(), "-alg: its value is empty"),
          "%s", fail_text());
    CHECK(words_bad("alg", "a,") == ERR_USAGE && strstr(fail_text(), "-alg a,: "), "%s",
          fail_text());
    words_add(text, sizeof text, " and ", "one");
    CHECK_TEXT(text, "one");
    words_add(text, sizeof text, " and ", "two");
    CHECK_TEXT(text, "one and two");
    words_add(text, sizeof text, " and ", "three");
    CHECK_TEXT(text, "one and two");
    text[0] = 0;
    words_and(text, sizeof text, "a");
    words_and(text, sizeof text, "b");
    CHECK_TEXT(text, "a and b");
    words_and(text, sizeof text, "c");
    CHECK_TEXT(text, "a, b and c");
    words_and(text, sizeof text, "d"); // as far as there is room
    CHECK_TEXT(text, "a, b, c and");
    text[0] = 0;
    words_or(text, sizeof text, "a");
    words_or(text, sizeof text, "b");
    words_or(text, sizeof text, "c");
    CHECK_TEXT(text, "a, b or c");
}

static void test_suggestions(void)
{
    static const struct {
        const char *word, *best;
    } table[] = {{"merg", "merge"},   {"mereg", "merge"},
                 {"MERGE", "merge"},  {"merge-tunde", "merge-tuned"},
                 {"row", "rowsplit"}, {"rowsplitter", "rowsplit"},
                 {"x", NULL},         {"", NULL},
                 {"banana", NULL}};
    static const char *const names[] = {"merge", "merge-tuned", "rowsplit"};
    for (int i = 0; i < COUNT(table); i++) {
        struct suggestion s;
        char text[64], want[64] = "";
        suggest_start(&s, table[i].word);
        for (int n = 0; n < COUNT(names); n++) suggest_offer(&s, names[n]);
        if (table[i].best) snprintf(want, sizeof want, "did you mean %s? ", table[i].best);
        CHECK_TEXT(suggest_text(&s, text), want);
    }
}

static void test_sort(void)
{
    static const int64_t counts[] = {0, 1, 2, INSERTION_MAX, INSERTION_MAX + 1, 257, 5000};
    for (int c = 0; c < COUNT(counts); c++)
        for (int range = 1; range <= 32; range += 31)
            for (int low = 0; low <= 32; low += 16) {
                int64_t count = counts[c], wrong = 0;
                uint64_t *key = mem_alloc(count, 8), *spare = mem_alloc(count, 8), sum = 0;
                // What is below the digits that count is a key's place among the others.
                for (int64_t i = 0; i < count; i++) {
                    uint64_t digits = random_at(5, (uint64_t)i) >> (64 - (range == 1 ? 8 : 32));
                    uint64_t tail = low ? (uint64_t)i % ((uint64_t)1 << low) : 0;
                    key[i] = digits << low | tail;
                    sum += key[i] * key[i];
                }
                sort_keys(key, spare, count, low);
                for (int64_t i = 0; i < count; i++) {
                    sum -= key[i] * key[i];
                    wrong += i && key[i - 1] > key[i]; // equal digits stay in order
                }
                CHECK(!wrong && !sum, "%lld keys of %d bits from %d on: %lld out of order",
                      (long long)count, range == 1 ? 8 : 32, low, (long long)wrong);
                mem_free(key);
                mem_free(spare);
            }
}

static void test_stats(void)
{
    struct algo_stats f = {0};
    algo_stats_number(&f, "tiles", 3);
    algo_stats_text(&f, "picked", "merge");
    algo_stats_number(&f, "tiles", 4);
    CHECK(f.count == 2 && algo_stats_find(&f, "tiles")->number == 4 &&
              !algo_stats_find(&f, "tiles")->text[0],
          "%d stats", f.count);
    CHECK_TEXT(algo_stats_find(&f, "picked")->text, "merge");
    algo_stats_number(&f, "picked", 1);
    CHECK(!algo_stats_find(&f, "picked")->text[0] && algo_stats_find(&f, "picked")->number == 1,
          "a number that replaces a text");
    CHECK(!algo_stats_find(&f, "tile") && !algo_stats_find(&f, ""), "a missing stat is found");
    algo_stats_number(&f, "a name of one and thirty lettrs", 1);
    algo_stats_text(&f, "text", "a text of one and thirty lettrs");
    CHECK(f.count == 4 && algo_stats_find(&f, "a name of one and thirty lettrs"), "%d", f.count);
}

// Adds so many stats, or a stat whose name or text has 32 letters.
static void add_stats(void *arg)
{
    struct algo_stats f = {0};
    char name[16];
    for (int i = 0; i < *(int *)arg; i++) {
        snprintf(name, sizeof name, "f%d", i);
        algo_stats_number(&f, name, i);
    }
    if (f.count == *(int *)arg) algo_stats_number(&f, "f0", 7); // it is there
}
static void add_long_name(void *name)
{
    struct algo_stats f = {0};
    algo_stats_number(&f, name, 1);
}
static void add_long_text(void *text)
{
    struct algo_stats f = {0};
    algo_stats_text(&f, "text", text);
}
static void have_a_bug(void *arg) { bug("%s is %d", (const char *)arg, 3); }

static void test_bugs(void)
{
    int most = ALGO_STATS_MAX, more = ALGO_STATS_MAX + 1;
    char letters[] = "a name of two and thirty letters";
    CHECK(strlen(letters) == 32, "%zu letters", strlen(letters));
    CHECK(dies(have_a_bug, (char[]){"one"}, "a mistake in the program: one is 3\n"), "no bug");
    CHECK(!dies(add_stats, &most, ""), "%d stats do not pass", most);
    CHECK(dies(add_stats, &more, "'f32'"), "%d stats pass", more);
    CHECK(dies(add_long_name, letters, letters), "a name of 32 letters passes");
    CHECK(dies(add_long_text, letters, letters), "a text of 32 letters passes");
}

int main(void)
{
    CHECK(fail(ERR_INPUT, "%s:%d", "file", 3) == ERR_INPUT, "the code was lost");
    CHECK_TEXT(fail_text(), "file:3");
    RUN_ALL(test_sizes, test_memory, test_failures, test_random, test_words, test_suggestions,
            test_sort, test_stats, test_bugs);
    return TEST_END();
}
