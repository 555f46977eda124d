#include "sweep/worker_request.h"

#include <stddef.h>
#include <string.h>

#include "records/json.h"

int texts_add(struct texts *t, const char *text)
{
    bool full = !(t->count & (t->count - 1)); // at each power of two, and at 0
    const char **list = t->list;
    if (full) list = mem_resize(t->list, t->count, t->count ? 2 * t->count : 1, sizeof *list);
    char *copy = list ? mem_copy_text(text, strlen(text)) : NULL;
    if (list) t->list = list;
    if (!copy) return ERR_MEMORY;
    t->list[t->count++] = copy;
    return OK;
}

bool texts_has(const struct texts *t, const char *text)
{
    for (int64_t i = 0; i < t->count; i++)
        if (!strcmp(t->list[i], text)) return true;
    return false;
}

void texts_free(struct texts *t)
{
    for (int64_t i = 0; i < t->count; i++) mem_free((void *)t->list[i]);
    mem_free(t->list);
    *t = (struct texts){0};
}

// Fields of a request, for writing and reading.
enum field_type { FLAG, NUMBER, TEXT, TEXTS };
#define AT(name) #name, offsetof(struct worker_request, name)
static const struct field {
    const char *name;
    size_t at;
    enum field_type type;
} fields[] = {
    {AT(parent), NUMBER}, {AT(survey), FLAG},         {AT(describe), FLAG}, {AT(conform), TEXT},
    {AT(skip), NUMBER},   {AT(standby), FLAG},        {AT(matrix), TEXT},   {AT(device), TEXT},
    {AT(expected), TEXT}, {AT(library), TEXT},        {AT(cpus), TEXT},     {AT(run), TEXT},
    {AT(plugins), TEXTS}, {AT(command), TEXTS},       {AT(done), TEXTS},    {AT(unverified), TEXTS},
    {AT(without), TEXTS}, {AT(memory_bytes), NUMBER}, {AT(lost), TEXT},
};

static void write_field(struct json *j, const struct field *f, const void *value)
{
    const struct texts *texts = value;
    switch (f->type) {
    case FLAG: json_bool(j, j->root, f->name, *(const bool *)value); break;
    case NUMBER: json_number(j, j->root, f->name, (double)*(const int64_t *)value); break;
    case TEXT: json_bytes(j, j->root, f->name, *(const char *const *)value); break;
    case TEXTS: {
        cJSON *list = json_array(j, j->root, f->name);
        for (int64_t i = 0; i < texts->count; i++) json_bytes(j, list, NULL, texts->list[i]);
    }
    }
}

char *worker_request_text(const struct worker_request *r)
{
    struct json j;
    json_start(&j);
    for (int i = 0; i < COUNT(fields); i++)
        write_field(&j, &fields[i], (const char *)r + fields[i].at);
    json_text(&j, j.root, "lost_as", status_name(r->lost_as));
    char *text = json_line(&j);
    json_free(&j);
    return text;
}

static int read_texts(const char *name, const cJSON *list, struct texts *out)
{
    const cJSON *x;
    if (!cJSON_IsArray(list)) return fail(ERR_INPUT, "a request without '%s'", name);
    out->list = mem_alloc(cJSON_GetArraySize(list), sizeof *out->list);
    if (!out->list) return ERR_MEMORY;
    cJSON_ArrayForEach(x, list)
    {
        if (!cJSON_IsString(x)) return fail(ERR_INPUT, "a request whose '%s' has no texts", name);
        json_bytes_back(x->valuestring);
        out->list[out->count++] = x->valuestring;
    }
    return OK;
}

static int read_field(const struct field *f, const cJSON *x, void *value)
{
    switch (f->type) {
    case FLAG: *(bool *)value = cJSON_IsTrue(x); break;
    case TEXT:
        *(const char **)value = cJSON_GetStringValue(x);
        if (*(const char **)value) json_bytes_back(x->valuestring);
        break;
    case TEXTS: return read_texts(f->name, x, value);
    case NUMBER:
        if (!cJSON_IsNumber(x) || !(x->valuedouble >= 0 && x->valuedouble < 0x1p62))
            return fail(ERR_INPUT, "a request without '%s'", f->name);
        *(int64_t *)value = (int64_t)x->valuedouble;
    }
    return OK;
}

static int read_fields(struct worker_request *r)
{
    int err = OK;
    for (int i = 0; i < COUNT(fields) && !err; i++)
        err = read_field(&fields[i], cJSON_GetObjectItemCaseSensitive(r->document, fields[i].name),
                         (char *)r + fields[i].at);
    if (err) return err;
    const char *lost_as =
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(r->document, "lost_as"));
    int status = lost_as ? status_find(lost_as) : -1;
    if (status < 0 || !r->device || !r->run)
        return fail(ERR_INPUT, "a request with missing fields");
    if (!r->matrix && !r->survey && !r->standby)
        return fail(ERR_INPUT, "a request without a matrix");
    r->lost_as = (enum status)status;
    return OK;
}

int worker_request_read(const char *text, struct worker_request *r)
{
    *r = (struct worker_request){0};
    int err = json_parse(text, &r->document);
    if (!err) err = read_fields(r);
    if (err) worker_request_free(r);
    return err;
}

void worker_request_free(struct worker_request *r)
{
    mem_free(r->plugins.list);
    mem_free(r->command.list);
    mem_free(r->done.list);
    mem_free(r->unverified.list);
    mem_free(r->without.list);
    cJSON_Delete(r->document);
    *r = (struct worker_request){0};
}
