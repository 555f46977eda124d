// A plug-in with one wrong field, which the variable SPBENCH_TEST_FIELD names.
#include "spbench_plugin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int run(struct spbench_task *t, void *stream)
{
    (void)t;
    (void)stream;
    return SPBENCH_OK;
}

static struct spbench_option options[] = {{sizeof *options, "width", 4, 1, 8, 1, "a width"},
                                          {sizeof *options, "height", 1, 0, 8, 0, "a height"}};
static struct spbench_algorithm algorithm = {.size = sizeof algorithm,
                                             .name = "fields",
                                             .about = "does nothing",
                                             .cite = "Own work",
                                             .operation = SPBENCH_SPMM,
                                             .device = SPBENCH_ON_CPU,
                                             .precisions = SPBENCH_F32,
                                             .layouts = SPBENCH_ROW_MAJOR,
                                             .formats = SPBENCH_CSR,
                                             .options = options,
                                             .option_count = 2,
                                             .run = run};
static const struct spbench_algorithm *list[] = {&algorithm, &algorithm};
// This symbol is not constant, so that the constructor can spoil a field.
struct spbench_plugin_open {
    struct spbench_plugin x;
};
__attribute__((visibility("default"))) struct spbench_plugin_open spbench_plugin_v1_open __asm__(
    "spbench_plugin_v1") = {{sizeof(struct spbench_plugin), "1.0", list, 1}};
#define x spbench_plugin_v1_open.x

__attribute__((constructor)) static void spoil(void)
{
    const char *field = getenv("SPBENCH_TEST_FIELD");
    if (!field) return;
#define IF(name) if (!strcmp(field, name))
    IF("size") x.size = 8;
    IF("version") x.version = "one two";
    IF("no version") x.version = NULL;
    IF("no algorithms") x.algorithm_count = 0;
    IF("null algorithm") list[0] = NULL;
    IF("twice") x.algorithm_count = 2;
    IF("algorithm size") algorithm.size--;
    IF("name") algorithm.name = "a name";
    IF("name all") algorithm.name = "all";
    IF("name known") algorithm.name = "rowsplit";
    IF("about") algorithm.about = "two\nlines";
    IF("cite") algorithm.cite = "";
    IF("operation") algorithm.operation = 4;
    IF("device") algorithm.device = 3;
    IF("precisions") algorithm.precisions = 64;
    IF("layouts") algorithm.layouts = 4;
    IF("negative layouts") algorithm.operation = SPBENCH_SDDMM, algorithm.layouts = -1;
    IF("formats") algorithm.formats = 3;
    IF("run") algorithm.run = NULL;
    IF("option count") algorithm.option_count = 17;
    IF("option size") options[1].size = 8;
    IF("option name") options[0].name = "a=b";
    IF("option twice") options[1].name = "width";
    IF("option range") options[0].max = 2;
    IF("option nan") options[1].standard = NAN;
    IF("option whole") options[0].whole = 2;
    IF("option fraction") options[0].standard = 1.5;
    IF("option about") options[0].about = NULL;
    IF("exit") exit(9);
    IF("crash") abort();
    IF("wild") list[0] = (const struct spbench_algorithm *)8;
}
