#include "sweep/worker_request.h"

#include <string.h>

#include "records/json.h"

static void add_texts(struct json *j, const char *name, const struct texts *texts)
{
    cJSON *list = json_array(j, j->root, name);
    for (int64_t i = 0; i < texts->count; i++) json_text(j, list, NULL, texts->list[i]);
}

char *order_text(const struct order *o)
{
    struct json j;
    json_start(&j);
    json_number(&j, j.root, "parent", (double)o->parent);
    json_bool(&j, j.root, "survey", o->survey);
    json_bool(&j, j.root, "standby", o->standby);
    json_text(&j, j.root, "matrix", o->matrix);
    json_text(&j, j.root, "device", o->device);
    json_text(&j, j.root, "expected", o->expected);
    json_text(&j, j.root, "library", o->library);
    json_text(&j, j.root, "cpus", o->cpus);
    json_text(&j, j.root, "run", o->run);
    add_texts(&j, "command", &o->command);
    add_texts(&j, "done", &o->done);
    add_texts(&j, "maybe", &o->maybe);
    add_texts(&j, "without", &o->without);
    json_number(&j, j.root, "memory_bytes", (double)o->memory_bytes);
    json_text(&j, j.root, "lost", o->lost);
    json_text(&j, j.root, "lost_as", status_name(o->lost_as));
    char *text = json_line(&j);
    json_free(&j);
    return text;
}

static const cJSON *get(const struct order *o, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(o->document, name);
}

static int get_texts(const struct order *o, const char *name, struct texts *out)
{
    const cJSON *list = get(o, name), *x;
    if (!cJSON_IsArray(list)) return fail(ERR_INPUT, "an order without '%s'", name);
    out->list = mem_alloc(cJSON_GetArraySize(list), sizeof *out->list);
    if (!out->list) return ERR_MEMORY;
    cJSON_ArrayForEach(x, list)
    {
        if (!cJSON_IsString(x)) return fail(ERR_INPUT, "an order whose '%s' is no texts", name);
        out->list[out->count++] = x->valuestring;
    }
    return OK;
}

static int get_number(const struct order *o, const char *name, int64_t *out)
{
    const cJSON *x = get(o, name);
    if (!cJSON_IsNumber(x) || !(x->valuedouble >= 0 && x->valuedouble < 0x1p62))
        return fail(ERR_INPUT, "an order without '%s'", name);
    *out = (int64_t)x->valuedouble;
    return OK;
}

static int get_all(struct order *o)
{
    const char *lost_as = cJSON_GetStringValue(get(o, "lost_as"));
    int status = lost_as ? status_find(lost_as) : -1;
    o->survey = cJSON_IsTrue(get(o, "survey"));
    o->standby = cJSON_IsTrue(get(o, "standby"));
    o->matrix = cJSON_GetStringValue(get(o, "matrix"));
    o->device = cJSON_GetStringValue(get(o, "device"));
    o->expected = cJSON_GetStringValue(get(o, "expected"));
    o->library = cJSON_GetStringValue(get(o, "library"));
    o->cpus = cJSON_GetStringValue(get(o, "cpus"));
    o->run = cJSON_GetStringValue(get(o, "run"));
    o->lost = cJSON_GetStringValue(get(o, "lost"));
    if (status < 0 || !o->device || !o->run)
        return fail(ERR_INPUT, "an order that lacks something");
    if (!o->matrix && !o->survey && !o->standby)
        return fail(ERR_INPUT, "an order without a matrix");
    o->lost_as = (enum status)status;
    int err = get_number(o, "parent", &o->parent);
    if (!err) err = get_number(o, "memory_bytes", &o->memory_bytes);
    if (!err) err = get_texts(o, "command", &o->command);
    if (!err) err = get_texts(o, "done", &o->done);
    if (!err) err = get_texts(o, "maybe", &o->maybe);
    if (!err) err = get_texts(o, "without", &o->without);
    return err;
}

int order_read(const char *text, struct order *o)
{
    *o = (struct order){0};
    int err = json_parse(text, &o->document);
    if (!err) err = get_all(o);
    if (err) order_free(o);
    return err;
}

void order_free(struct order *o)
{
    mem_free(o->command.list);
    mem_free(o->done.list);
    mem_free(o->maybe.list);
    mem_free(o->without.list);
    cJSON_Delete(o->document);
    *o = (struct order){0};
}
