#include "plugin/cubin.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/expression.h"
#include "records/json.h"

#define FILE_BYTES_MAX   ((int64_t)1 << 28)
#define ARGUMENTS_MAX    32
#define LIBRARY          "libcuda.so.1"
#define SHARED_DEFAULT   49152 // bytes of static and dynamic shared memory that need no attribute
#define ATTRIBUTE_STATIC 1     // CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES
#define ATTRIBUTE_SHARED 8     // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
#define SIZES            6     // names of sizes in expressions

// Functions of the driver library. They return 0 for success.
static struct driver {
    bool ready; // all functions are found
    int (*load)(void **module, const void *image);
    int (*function)(void **function, void *module, const char *name);
    int (*attribute)(int *value, int attribute, void *function);
    int (*set_attribute)(void *function, int attribute, int value);
    int (*launch)(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                  unsigned bz, unsigned shared, void *stream, void **arguments, void **extra);
    int (*error)(int status, const char **text);
} driver;

enum argument_type { ARGUMENT_I32, ARGUMENT_I64, ARGUMENT_F32, ARGUMENT_F64, ARGUMENT_POINTER };
static const char *const type_names[] = {"i32", "i64", "f32", "f64", "pointer", NULL};

// The kernel of a file. The JSON document owns all texts.
struct cubin {
    struct spbench_algorithm algorithm; // first: see cubin_of()
    struct spbench_option options[PARAMS_MAX];
    const char *kernel, *grid[3], *block[3], *shared;
    struct {
        enum argument_type type;
        const char *value;      // expression, or name of a pointer
    } arguments[ARGUMENTS_MAX]; // size argument_count
    int argument_count;
    char *image;       // bytes of the module, ended by a zero
    void *function;    // NULL: not loaded yet
    int static_shared; // bytes of static shared memory
};

// A launch, made by prepare().
struct launch {
    void *function;
    unsigned grid[3], block[3], shared;
    union {
        int32_t i32;
        int64_t i64;
        float f32;
        double f64;
        void *pointer;
    } values[ARGUMENTS_MAX];
    void *arguments[ARGUMENTS_MAX];
};

static const struct cubin *cubin_of(const struct spbench_task *task)
{
    return (const struct cubin *)plugin_algorithm_of(task);
}

static int find_driver(void)
{
    static const struct {
        const char *name;
        void *where;
    } list[] = {
        {"cuModuleLoadData", &driver.load},        {"cuModuleGetFunction", &driver.function},
        {"cuFuncGetAttribute", &driver.attribute}, {"cuFuncSetAttribute", &driver.set_attribute},
        {"cuLaunchKernel", &driver.launch},        {"cuGetErrorString", &driver.error}};
    void *lib = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!lib) return fail(ERR_DEVICE, "%s", dlerror());
    for (int i = 0; i < COUNT(list); i++) {
        void *p = dlsym(lib, list[i].name);
        if (!p) return fail(ERR_DEVICE, "%s: has no %s", LIBRARY, list[i].name);
        memcpy(list[i].where, &p, sizeof p);
    }
    driver.ready = true;
    return OK;
}

static int check(int status, const char *what, const char *name)
{
    const char *text = NULL;
    if (!status) return OK;
    driver.error(status, &text);
    return fail(ERR_DEVICE, "%s %s: %s", what, name, text ? text : "unknown error");
}

// Loads the module at the first case of the process.
static int load(struct cubin *c)
{
    void *module, *function;
    if (c->function) return OK;
    int err = driver.ready ? OK : find_driver();
    if (!err) err = check(driver.load(&module, c->image), "cuModuleLoadData", "");
    if (!err) err = check(driver.function(&function, module, c->kernel), "kernel", c->kernel);
    if (!err)
        err = check(driver.attribute(&c->static_shared, ATTRIBUTE_STATIC, function),
                    "static shared memory of", c->kernel);
    if (!err) c->function = function;
    return err;
}

// Returns the names of sizes in expressions: of A, of the dense operands, distances between lines.
static const char *const *size_names(const struct cubin *c)
{
    static const char *const spmm[] = {"m", "n", "nnz", "k", "ldb", "ldc", NULL};
    static const char *const sddmm[] = {"m", "n", "nnz", "k", "ldx", "ldy", NULL};
    return c->algorithm.operation == SPBENCH_SPMM ? spmm : sddmm;
}

// Lists the names that expressions can use: sizes and options.
static void list_names(const struct cubin *c, const struct spbench_task *t,
                       struct expression_name names[SIZES + PARAMS_MAX + 1])
{
    const int64_t ld = t->Y ? t->Y->ld : t->C->ld;
    const int64_t sizes[SIZES] = {t->A->m, t->A->n, t->A->nnz, t->B->cols, t->B->ld, ld};
    int n = 0;
    for (; n < SIZES; n++) names[n] = (struct expression_name){size_names(c)[n], sizes[n]};
    for (int64_t i = 0; i < c->algorithm.option_count; i++)
        names[n++] = (struct expression_name){c->options[i].name, (int64_t)t->options[i]};
    names[n] = (struct expression_name){NULL, 0};
}

static int pointer_value(const struct spbench_task *t, const char *name, void **value)
{
    const struct {
        const char *name;
        void *value;
    } list[] = {{"A.ptr", t->A->ptr},
                {"A.idx", t->A->idx},
                {"A.val", t->A->val},
                {t->Y ? "X" : "B", t->B->val},
                {t->Y ? "Y" : "0", t->Y ? t->Y->val : NULL},
                {"C", t->C ? t->C->val : t->C_val},
                {"0", NULL}};
    for (int i = 0; i < COUNT(list); i++)
        if (!strcmp(list[i].name, name)) return *value = list[i].value, OK;
    return fail(ERR_USAGE, "'%s': no pointer; A.ptr, A.idx, A.val, %s, C and 0 are", name,
                t->Y ? "X, Y" : "B");
}

// Sets a size from 0 to `most`. A grid of 0 blocks is not launched.
static int size_value(const char *text, const struct expression_name *names, int64_t most,
                      unsigned *value)
{
    int64_t x;
    int err = expression_value(text, names, &x);
    if (!err && (x < 0 || x > most))
        err = fail(ERR_UNSUPPORTED, "'%s' is %lld", text, (long long)x);
    if (!err) *value = (unsigned)x;
    return err;
}

static int set_argument(const struct cubin *c, int i, const struct spbench_task *t,
                        const struct expression_name *names, struct launch *l)
{
    const enum argument_type type = c->arguments[i].type;
    const char *text = c->arguments[i].value;
    int64_t x = 0;
    l->arguments[i] = &l->values[i];
    if (type == ARGUMENT_POINTER) return pointer_value(t, text, &l->values[i].pointer);
    int err = expression_value(text, names, &x);
    if (!err && type == ARGUMENT_I32 && x != (int32_t)x)
        err = fail(ERR_UNSUPPORTED, "i32 '%s' is %lld", text, (long long)x);
    if (type == ARGUMENT_I32) l->values[i].i32 = (int32_t)x;
    if (type == ARGUMENT_I64) l->values[i].i64 = x;
    if (type == ARGUMENT_F32) l->values[i].f32 = (float)x;
    if (type == ARGUMENT_F64) l->values[i].f64 = (double)x;
    return err;
}

static int make_launch(const struct cubin *c, const struct spbench_task *t, struct launch *l)
{
    struct expression_name names[SIZES + PARAMS_MAX + 1];
    int err = OK;
    list_names(c, t, names);
    for (int i = 0; i < 3 && !err; i++) {
        err = size_value(c->grid[i], names, i ? 65535 : INT32_MAX, &l->grid[i]);
        if (!err) err = size_value(c->block[i], names, 1024, &l->block[i]);
        if (!err && !l->block[i])
            err = fail(ERR_UNSUPPORTED, "'%s' is 0: a block has no threads", c->block[i]);
    }
    if (!err) err = size_value(c->shared, names, 1 << 20, &l->shared);
    for (int i = 0; i < c->argument_count && !err; i++) err = set_argument(c, i, t, names, l);
    l->function = c->function;
    if (!err && c->static_shared + (int64_t)l->shared > SHARED_DEFAULT)
        err = check(driver.set_attribute(l->function, ATTRIBUTE_SHARED, (int)l->shared),
                    "shared memory", c->shared);
    return err;
}

static int prepare(struct spbench_task *t)
{
    struct cubin *c = (struct cubin *)cubin_of(t);
    struct launch *l = mem_zero_alloc(1, sizeof *l);
    t->state = l;
    int err = l ? load(c) : ERR_MEMORY;
    if (!err) err = make_launch(c, t, l);
    if (!err) return SPBENCH_OK;
    t->host->log(t, fail_text());
    return err == ERR_UNSUPPORTED ? SPBENCH_UNSUPPORTED
           : err == ERR_MEMORY    ? SPBENCH_NO_MEMORY
                                  : SPBENCH_FAILED;
}

static int run(struct spbench_task *t, void *stream)
{
    const struct launch *l = t->state;
    const unsigned *g = l->grid, *b = l->block;
    if (!g[0] || !g[1] || !g[2]) return SPBENCH_OK; // an empty result
    int status = driver.launch(l->function, g[0], g[1], g[2], b[0], b[1], b[2], l->shared, stream,
                               (void **)l->arguments, NULL);
    if (check(status, "cuLaunchKernel", cubin_of(t)->kernel)) t->host->log(t, fail_text());
    return status ? SPBENCH_FAILED : SPBENCH_OK;
}

static void teardown(struct spbench_task *t) { mem_free(t->state); }

// Reads a whole file with a zero behind it, and adds it to the hash.
static int read_file(const char *path, struct sha256 *hash, char **text)
{
    FILE *f = fopen(path, "re");
    int64_t bytes = 0, room = 1 << 16;
    char *all = f ? mem_alloc(room, 1) : NULL;
    size_t n;
    if (!f) return fail(ERR_USAGE, "%s: %s", path, strerror(errno));
    while (all && (n = fread(all + bytes, 1, (size_t)(room - bytes - 1), f)) > 0) {
        bytes += (int64_t)n;
        if (bytes == room - 1 && room < FILE_BYTES_MAX) {
            char *more = mem_resize(all, room, 2 * room, 1);
            if (!more) mem_free(all);
            all = more;
            room *= 2;
        }
    }
    bool failed = ferror(f) || (all && bytes == FILE_BYTES_MAX - 1);
    fclose(f);
    if (!all) return ERR_MEMORY;
    all[bytes] = 0;
    *text = all;
    sha256_add(hash, all, (size_t)bytes);
    return failed ? fail(ERR_USAGE, "%s: cannot be read", path) : OK;
}

static const cJSON *get(const cJSON *o, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(o, name);
}

static const char *text_of(const cJSON *o, const char *name)
{
    return cJSON_GetStringValue(get(o, name));
}

// Reads one to three texts. The other sizes are "1".
static bool read_sizes(const cJSON *list, const char *sizes[3])
{
    const int count = cJSON_GetArraySize(list);
    for (int i = 0; i < 3; i++)
        sizes[i] = i < count ? cJSON_GetStringValue(cJSON_GetArrayItem(list, i)) : "1";
    return cJSON_IsArray(list) && count >= 1 && count <= 3 && sizes[0] && sizes[1] && sizes[2];
}

// Reads an argument, such as "i32 m".
static bool read_argument(const char *text, struct cubin *c)
{
    size_t length = text ? strcspn(text, " ") : 0;
    for (int type = 0; type_names[type] && length; type++)
        if (strlen(type_names[type]) == length && !strncmp(type_names[type], text, length) &&
            text[length]) {
            c->arguments[c->argument_count].type = (enum argument_type)type;
            c->arguments[c->argument_count++].value = text + length + 1;
            return true;
        }
    return false;
}

static int read_arguments(const char *file, const cJSON *list, struct cubin *c)
{
    const cJSON *x;
    if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) > ARGUMENTS_MAX)
        return fail(ERR_USAGE, "%s: `arguments` is no list of at most %d", file, ARGUMENTS_MAX);
    cJSON_ArrayForEach(x, list)
    {
        if (!read_argument(cJSON_GetStringValue(x), c))
            return fail(ERR_USAGE,
                        "%s: argument %d is not a type (i32, i64, f32, f64, pointer), a blank and "
                        "a value",
                        file, c->argument_count + 1);
    }
    return OK;
}

// Returns the place of the text in a list ended by NULL, plus 1; 0: not there.
static int64_t place_of(const char *text, const char *const *words)
{
    for (int64_t i = 0; text && words[i]; i++)
        if (!strcmp(words[i], text)) return i + 1;
    return 0;
}

// Fails for an option that no expression can use. plugin_check() refuses a missing name.
static int check_option(const char *file, const char *name, const struct cubin *c)
{
    if (name && !expression_is_name(name))
        return fail(ERR_USAGE,
                    "%s: option %s: the name must start with a letter and have only letters, "
                    "digits and _",
                    file, name);
    if (place_of(name, size_names(c)))
        return fail(ERR_USAGE, "%s: option %s: is the name of a size in expressions", file, name);
    return OK;
}

static int read_options(const char *file, const cJSON *list, struct cubin *c)
{
    const cJSON *x;
    if (list && (!cJSON_IsArray(list) || cJSON_GetArraySize(list) > PARAMS_MAX))
        return fail(ERR_USAGE, "%s: `options` is no list of at most %d", file, PARAMS_MAX);
    cJSON_ArrayForEach(x, list)
    {
        const cJSON *standard = get(x, "standard"), *min = get(x, "min"), *max = get(x, "max");
        if (!cJSON_IsNumber(standard) || !cJSON_IsNumber(min) || !cJSON_IsNumber(max))
            return fail(ERR_USAGE, "%s: an option lacks `standard`, `min` or `max`", file);
        int err = check_option(file, text_of(x, "name"), c);
        if (err) return err;
        c->options[c->algorithm.option_count++] =
            (struct spbench_option){sizeof *c->options, text_of(x, "name"), standard->valuedouble,
                                    min->valuedouble,   max->valuedouble,   1,
                                    text_of(x, "about")};
    }
    c->algorithm.options = c->options;
    return OK;
}

static int read_kernel(const char *file, const cJSON *o, struct cubin *c)
{
    static const char *const operations[] = {"spmm", "sddmm", NULL}, *const layouts[] = {
                                                                         "row", "col", NULL};
    const char *prec = text_of(o, "precision");
    struct spbench_algorithm *a = &c->algorithm;
    *a = (struct spbench_algorithm){.size = sizeof *a,
                                    .name = text_of(o, "name"),
                                    .about = text_of(o, "about"),
                                    .cite = text_of(o, "cite"),
                                    .operation = place_of(text_of(o, "operation"), operations),
                                    .device = SPBENCH_ON_CUDA,
                                    .precisions =
                                        prec && prec_find(prec) >= 0 ? BIT(prec_find(prec)) : 0,
                                    .layouts = place_of(text_of(o, "layout"), layouts),
                                    .formats = SPBENCH_CSR,
                                    .prepare = prepare,
                                    .run = run,
                                    .teardown = teardown};
    c->kernel = text_of(o, "kernel");
    c->shared = text_of(o, "shared") ? text_of(o, "shared") : "0";
    if (!c->kernel) return fail(ERR_USAGE, "%s: `kernel` is no text", file);
    if (!read_sizes(get(o, "grid"), c->grid) || !read_sizes(get(o, "block"), c->block))
        return fail(ERR_USAGE, "%s: `grid` or `block` is no list of one to three texts", file);
    int err = read_options(file, get(o, "options"), c);
    return err ? err : read_arguments(file, get(o, "arguments"), c);
}

// Reads the module. A relative path begins at the folder of the file.
static int read_module(const char *file, const char *module, struct sha256 *hash, char **image)
{
    char path[PATH_MAX];
    const char *slash = strrchr(file, '/');
    int folder_length = module && module[0] != '/' && slash ? (int)(slash + 1 - file) : 0;
    if (!module) return fail(ERR_USAGE, "%s: `module` is no text", file);
    if (snprintf(path, sizeof path, "%.*s%s", folder_length, file, module) >= (int)sizeof path)
        return fail(ERR_USAGE, "%s: the path of the module is too long", file);
    int err = read_file(path, hash, image);
    return err == ERR_USAGE ? fail(err, "%s: module %s", file, fail_text()) : err;
}

int cubin_read(const char *file, char sha256[SHA256_LETTERS + 1],
               const struct spbench_plugin **exported)
{
    struct sha256 hash;
    cJSON *o;
    char *text;
    struct {
        struct spbench_plugin plugin;
        const struct spbench_algorithm *list[1];
        struct cubin cubin;
    } *x = mem_zero_alloc(1, sizeof *x);
    if (!x) return ERR_MEMORY;
    sha256_start(&hash);
    int err = read_file(file, &hash, &text);
    if (!err) err = json_parse(text, &o);
    if (err) return err == ERR_INPUT ? fail(ERR_USAGE, "%s: %s", file, fail_text()) : err;
    err = read_kernel(file, o, &x->cubin);
    if (!err) err = read_module(file, text_of(o, "module"), &hash, &x->cubin.image);
    sha256_end(&hash, sha256);
    x->list[0] = &x->cubin.algorithm;
    x->plugin = (struct spbench_plugin){sizeof x->plugin, text_of(o, "version"), x->list, 1};
    *exported = &x->plugin;
    return err;
}
