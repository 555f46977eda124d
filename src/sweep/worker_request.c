#include "sweep/worker_request.h"

#include <string.h>

#include "records/json.h"

int texts_add(struct texts *t, const char *text)
{
    size_t size = strlen(text) + 1;
    bool full = !(t->count & (t->count - 1)); // at each power of two, and at 0
    const char **list = t->list;
    if (full) list = mem_resize(t->list, t->count, t->count ? 2 * t->count : 1, sizeof *list);
    char *copy = list ? mem_alloc((int64_t)size, 1) : NULL;
    if (list) t->list = list;
    if (!copy) return ERR_MEMORY;
    memcpy(copy, text, size);
    t->list[t->count++] = copy;
    return OK;
}

void texts_free(struct texts *t)
{
    for (int64_t i = 0; i < t->count; i++) mem_free((void *)t->list[i]);
    mem_free(t->list);
    *t = (struct texts){0};
}

static void add_texts(struct json *j, const char *name, const struct texts *texts)
{
    cJSON *list = json_array(j, j->root, name);
    for (int64_t i = 0; i < texts->count; i++) json_text(j, list, NULL, texts->list[i]);
}

char *worker_request_text(const struct worker_request *r)
{
    struct json j;
    json_start(&j);
    json_number(&j, j.root, "parent", (double)r->parent);
    json_bool(&j, j.root, "survey", r->survey);
    json_bool(&j, j.root, "standby", r->standby);
    json_text(&j, j.root, "matrix", r->matrix);
    json_text(&j, j.root, "device", r->device);
    json_text(&j, j.root, "expected", r->expected);
    json_text(&j, j.root, "library", r->library);
    json_text(&j, j.root, "cpus", r->cpus);
    json_text(&j, j.root, "run", r->run);
    add_texts(&j, "command", &r->command);
    add_texts(&j, "done", &r->done);
    add_texts(&j, "unverified", &r->unverified);
    add_texts(&j, "without", &r->without);
    json_number(&j, j.root, "memory_bytes", (double)r->memory_bytes);
    json_text(&j, j.root, "lost", r->lost);
    json_text(&j, j.root, "lost_as", status_name(r->lost_as));
    char *text = json_line(&j);
    json_free(&j);
    return text;
}

static const cJSON *get(const struct worker_request *r, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(r->document, name);
}

static int get_texts(const struct worker_request *r, const char *name, struct texts *out)
{
    const cJSON *list = get(r, name), *x;
    if (!cJSON_IsArray(list)) return fail(ERR_INPUT, "a request without '%s'", name);
    out->list = mem_alloc(cJSON_GetArraySize(list), sizeof *out->list);
    if (!out->list) return ERR_MEMORY;
    cJSON_ArrayForEach(x, list)
    {
        if (!cJSON_IsString(x)) return fail(ERR_INPUT, "a request whose '%s' has no texts", name);
        out->list[out->count++] = x->valuestring;
    }
    return OK;
}

static int get_number(const struct worker_request *r, const char *name, int64_t *out)
{
    const cJSON *x = get(r, name);
    if (!cJSON_IsNumber(x) || !(x->valuedouble >= 0 && x->valuedouble < 0x1p62))
        return fail(ERR_INPUT, "a request without '%s'", name);
    *out = (int64_t)x->valuedouble;
    return OK;
}

static int get_all(struct worker_request *r)
{
    const char *lost_as = cJSON_GetStringValue(get(r, "lost_as"));
    int status = lost_as ? status_find(lost_as) : -1;
    r->survey = cJSON_IsTrue(get(r, "survey"));
    r->standby = cJSON_IsTrue(get(r, "standby"));
    r->matrix = cJSON_GetStringValue(get(r, "matrix"));
    r->device = cJSON_GetStringValue(get(r, "device"));
    r->expected = cJSON_GetStringValue(get(r, "expected"));
    r->library = cJSON_GetStringValue(get(r, "library"));
    r->cpus = cJSON_GetStringValue(get(r, "cpus"));
    r->run = cJSON_GetStringValue(get(r, "run"));
    r->lost = cJSON_GetStringValue(get(r, "lost"));
    if (status < 0 || !r->device || !r->run)
        return fail(ERR_INPUT, "a request with missing fields");
    if (!r->matrix && !r->survey && !r->standby)
        return fail(ERR_INPUT, "a request without a matrix");
    r->lost_as = (enum status)status;
    int err = get_number(r, "parent", &r->parent);
    if (!err) err = get_number(r, "memory_bytes", &r->memory_bytes);
    if (!err) err = get_texts(r, "command", &r->command);
    if (!err) err = get_texts(r, "done", &r->done);
    if (!err) err = get_texts(r, "unverified", &r->unverified);
    if (!err) err = get_texts(r, "without", &r->without);
    return err;
}

int worker_request_read(const char *text, struct worker_request *r)
{
    *r = (struct worker_request){0};
    int err = json_parse(text, &r->document);
    if (!err) err = get_all(r);
    if (err) worker_request_free(r);
    return err;
}

void worker_request_free(struct worker_request *r)
{
    mem_free(r->command.list);
    mem_free(r->done.list);
    mem_free(r->unverified.list);
    mem_free(r->without.list);
    cJSON_Delete(r->document);
    *r = (struct worker_request){0};
}
