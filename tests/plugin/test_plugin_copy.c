// Structs of plug-ins with older and newer headers than this program's.
#include <string.h>

#include "plugin/plugin.h"
#include "test.h"

// A struct of version 1, and the same struct with a field that a later header adds.
struct old {
    size_t size;
    int64_t value;
};
struct new
{
    size_t size;
    int64_t value, more;
};

static void test_struct(void)
{
    struct old old = {sizeof old, 5}, small = {sizeof old - 1, 5}, from_new;
    struct new new = {sizeof new, 6, 7}, from_old = {0, 8, 9};
    CHECK(plugin_copy_struct(&from_old, sizeof from_old, &old, sizeof old) &&
              from_old.size == sizeof from_old && from_old.value == 5 && from_old.more == 0,
          "an old struct: %zu, %lld, %lld", from_old.size, (long long)from_old.value,
          (long long)from_old.more);
    CHECK(plugin_copy_struct(&from_new, sizeof from_new, &new, sizeof old) &&
              from_new.size == sizeof from_new && from_new.value == 6,
          "a new struct: %zu, %lld", from_new.size, (long long)from_new.value);
    CHECK(!plugin_copy_struct(&from_new, sizeof from_new, &small, sizeof old), "a small struct");
}

// A plug-in whose structs have a field more.
static void test_newer(void)
{
    static const struct {
        struct spbench_option option;
        int64_t more;
    } options[2] = {{{sizeof options[0], "width", 4, 1, 8, 1, "a width"}, -1},
                    {{sizeof options[0], "height", 2, 1, 8, 1, "a height"}, -1}};
    static const struct {
        struct spbench_algorithm algorithm;
        int64_t more;
    } algorithm = {{.size = sizeof algorithm,
                    .name = "newer",
                    .operation = SPBENCH_SPMM,
                    .options = &options[0].option,
                    .option_count = 2},
                   -1};
    static const struct spbench_algorithm *const list[] = {&algorithm.algorithm};
    static const struct {
        struct spbench_plugin plugin;
        int64_t more;
    } exported = {{sizeof exported, "2.0", list, 1}, -1};
    struct plugin p = {.facts.own.file = "newer.so", .exported = &exported.plugin};
    CHECK(!plugin_copy(&p), "%s", fail_text());
    const struct spbench_algorithm *a = p.exported->algorithms[0];
    CHECK(p.exported->size == sizeof *p.exported && a->size == sizeof *a, "sizes %zu, %zu",
          p.exported->size, a->size);
    CHECK(!strcmp(p.exported->version, "2.0") && !strcmp(a->name, "newer") &&
              !strcmp(a->options[1].name, "height") && a->options[1].standard == 2,
          "%s, %s, %s", p.exported->version, a->name, a->options[1].name);
    mem_free((void *)a->options);
    mem_free((void *)a);
    mem_free((void *)p.exported->algorithms);
    mem_free((void *)p.exported);
}

int main(void)
{
    test_struct();
    test_newer();
    return TEST_END();
}
