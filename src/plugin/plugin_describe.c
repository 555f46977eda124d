#include "plugin/plugin.h"

#include <stddef.h>

#include "records/json.h"

// Fields of the structs of spbench_plugin.h, for writing and reading.
enum field_type { BYTES, TEXT, WHOLE, REAL };
struct field {
    const char *name;
    size_t at;
    enum field_type type;
};
#define FIELD(of, name, type)                                                                      \
    {                                                                                              \
#name, offsetof(struct of, name), type                                                     \
    }

static const struct field file_fields[] = {FIELD(algo_file, file, BYTES),
                                           FIELD(algo_file, sha256, TEXT)};
static const struct field option_fields[] = {
    FIELD(spbench_option, name, TEXT),   FIELD(spbench_option, standard, REAL),
    FIELD(spbench_option, min, REAL),    FIELD(spbench_option, max, REAL),
    FIELD(spbench_option, whole, WHOLE), FIELD(spbench_option, about, TEXT),
};
static const struct field algorithm_fields[] = {
    FIELD(spbench_algorithm, name, TEXT),     FIELD(spbench_algorithm, about, TEXT),
    FIELD(spbench_algorithm, cite, TEXT),     FIELD(spbench_algorithm, operation, WHOLE),
    FIELD(spbench_algorithm, device, WHOLE),  FIELD(spbench_algorithm, precisions, WHOLE),
    FIELD(spbench_algorithm, layouts, WHOLE), FIELD(spbench_algorithm, formats, WHOLE),
};

static void write_fields(struct json *j, cJSON *o, const struct field *fields, int count,
                         const void *from)
{
    for (int i = 0; i < count; i++) {
        const char *at = (const char *)from + fields[i].at;
        switch (fields[i].type) {
        case BYTES: json_bytes(j, o, fields[i].name, *(const char *const *)at); break;
        case TEXT: json_text(j, o, fields[i].name, *(const char *const *)at); break;
        case WHOLE: json_number(j, o, fields[i].name, (double)*(const int64_t *)at); break;
        case REAL: json_number(j, o, fields[i].name, *(const double *)at);
        }
    }
}

char *plugin_describe(const struct plugin *p)
{
    struct json j;
    json_start(&j);
    write_fields(&j, j.root, file_fields, COUNT(file_fields), &p->facts.own);
    cJSON *libraries = json_array(&j, j.root, "libraries");
    for (int i = 0; i < p->facts.library_count; i++)
        write_fields(&j, json_object(&j, libraries, NULL), file_fields, COUNT(file_fields),
                     &p->facts.libraries[i]);
    json_text(&j, j.root, "version", p->exported->version);
    cJSON *algorithms = json_array(&j, j.root, "algorithms");
    for (int64_t i = 0; i < p->exported->algorithm_count; i++) {
        const struct spbench_algorithm *a = p->exported->algorithms[i];
        cJSON *o = json_object(&j, algorithms, NULL);
        write_fields(&j, o, algorithm_fields, COUNT(algorithm_fields), a);
        cJSON *options = json_array(&j, o, "options");
        for (int64_t k = 0; k < a->option_count; k++)
            write_fields(&j, json_object(&j, options, NULL), option_fields, COUNT(option_fields),
                         &a->options[k]);
    }
    char *line = json_line(&j);
    json_free(&j);
    return line;
}

static bool read_fields(const cJSON *o, const struct field *fields, int count, void *to)
{
    for (int i = 0; i < count; i++) {
        char *at = (char *)to + fields[i].at;
        const cJSON *x = cJSON_GetObjectItemCaseSensitive(o, fields[i].name);
        if (fields[i].type <= TEXT ? !cJSON_IsString(x) : !cJSON_IsNumber(x)) return false;
        switch (fields[i].type) {
        case BYTES: json_bytes_back(x->valuestring); // fall through
        case TEXT: *(const char **)at = x->valuestring; break;
        case WHOLE:
            if (!(x->valuedouble >= 0 && x->valuedouble < INT32_MAX)) return false;
            *(int64_t *)at = (int64_t)x->valuedouble;
            break;
        case REAL: *(double *)at = x->valuedouble;
        }
    }
    return true;
}

// Stands for the run() of an algorithm until its plug-in is loaded.
static int run_elsewhere(struct spbench_task *task, void *stream)
{
    (void)task;
    (void)stream;
    bug("an algorithm of a plug-in runs in a process that has not loaded the plug-in");
}

// Reads an algorithm into one block with its options.
static int read_algorithm(const cJSON *o, const struct spbench_algorithm **out)
{
    const cJSON *options = cJSON_GetObjectItemCaseSensitive(o, "options"), *x;
    struct spbench_algorithm *a = mem_zero_alloc(1, sizeof *a);
    struct spbench_option *list = mem_zero_alloc(cJSON_GetArraySize(options), sizeof *list);
    *out = a;
    if (!a || !list) return ERR_MEMORY;
    a->size = sizeof *a;
    a->run = run_elsewhere;
    a->options = list;
    bool good = read_fields(o, algorithm_fields, COUNT(algorithm_fields), a);
    cJSON_ArrayForEach(x, options)
    {
        list->size = sizeof *list;
        good = good && read_fields(x, option_fields, COUNT(option_fields), list);
        list++;
        a->option_count++;
    }
    return good ? OK : fail(ERR_INPUT, "a worker's description of a plug-in lacks a field");
}

// Reads a document, which keeps the texts.
static int read_plugin(const cJSON *o, struct plugin *p)
{
    const cJSON *algorithms = cJSON_GetObjectItemCaseSensitive(o, "algorithms"), *x;
    const cJSON *libraries = cJSON_GetObjectItemCaseSensitive(o, "libraries");
    const int count = cJSON_GetArraySize(algorithms);
    struct spbench_plugin *exported = mem_zero_alloc(1, sizeof *exported);
    const struct spbench_algorithm **list = mem_zero_alloc(count, sizeof *list);
    struct algo_file *files = mem_zero_alloc(cJSON_GetArraySize(libraries), sizeof *files);
    p->exported = exported;
    p->facts.libraries = files;
    if (!exported || !list || !files) return ERR_MEMORY;
    *exported = (struct spbench_plugin){
        .size = sizeof *exported,
        .version = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, "version")),
        .algorithms = list};
    bool good = read_fields(o, file_fields, COUNT(file_fields), &p->facts.own);
    cJSON_ArrayForEach(x, libraries)
    {
        good = good &&
               read_fields(x, file_fields, COUNT(file_fields), &files[p->facts.library_count++]);
    }
    if (!good) return fail(ERR_INPUT, "a worker's description of a plug-in lacks a file");
    int err = OK;
    cJSON_ArrayForEach(x, algorithms)
    {
        if (!err) err = read_algorithm(x, &list[exported->algorithm_count++]);
    }
    return err;
}

// Descriptions stay allocated to the end of the process: entries of the list of algorithms use
// their texts. A compiler removes a variable that is never read, unless the variable is `used`:
// LeakSanitizer then reports the descriptions.
static __attribute__((used)) struct {
    struct plugin plugin;
    cJSON *document;
} kept[PLUGINS_MAX];
static int kept_count;

int plugin_learn(const char *json, const struct algo_plugin **facts)
{
    if (kept_count == PLUGINS_MAX) return fail(ERR_USAGE, "more than %d plug-ins", PLUGINS_MAX);
    struct plugin *p = &kept[kept_count].plugin;
    int err = json_parse(json, &kept[kept_count].document);
    if (!err) err = read_plugin(kept[kept_count++].document, p);
    if (!err) err = plugin_check(p);
    if (!err) err = plugin_add(p);
    *facts = &p->facts;
    return err;
}
