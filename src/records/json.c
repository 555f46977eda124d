#include "records/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

static bool lost; // an allocation failed: cJSON_Parse() reports that like bad text

static void *json_alloc(size_t size)
{
    void *p = mem_alloc((int64_t)size, 1);
    if (!p) lost = true;
    return p;
}

static cJSON *keep(struct json *j, cJSON *parent, const char *name, cJSON *item)
{
    bool added =
        name ? cJSON_AddItemToObject(parent, name, item) : cJSON_AddItemToArray(parent, item);
    if (added) return item;
    cJSON_Delete(item);
    j->lost = true;
    return NULL;
}

static void use_own_memory(void)
{
    cJSON_Hooks hooks = {json_alloc, mem_free};
    cJSON_InitHooks(&hooks);
}

int json_parse(const char *text, cJSON **out)
{
    use_own_memory();
    lost = false;
    *out = cJSON_ParseWithOpts(text, NULL, true);
    if (*out) return OK;
    return lost ? ERR_MEMORY : fail(ERR_INPUT, "not one JSON document");
}

const cJSON *json_get(const cJSON *o, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(o, name);
}

const char *json_get_text(const cJSON *o, const char *name)
{
    return cJSON_GetStringValue(json_get(o, name));
}

double json_get_number(const cJSON *o, const char *name)
{
    const cJSON *x = json_get(o, name);
    return cJSON_IsNumber(x) ? x->valuedouble : NAN;
}

void json_start(struct json *j)
{
    use_own_memory();
    *j = (struct json){.root = cJSON_CreateObject()};
    j->lost = !j->root;
}

void json_free(struct json *j)
{
    cJSON_Delete(j->root);
    *j = (struct json){0};
}

cJSON *json_object(struct json *j, cJSON *parent, const char *name)
{
    return keep(j, parent, name, cJSON_CreateObject());
}

cJSON *json_array(struct json *j, cJSON *parent, const char *name)
{
    return keep(j, parent, name, cJSON_CreateArray());
}

void json_number(struct json *j, cJSON *parent, const char *name, double x)
{
    keep(j, parent, name, isfinite(x) ? cJSON_CreateNumber(x) : cJSON_CreateNull());
}

void json_measure(struct json *j, cJSON *parent, const char *name, double x)
{
    char text[32];
    snprintf(text, sizeof text, "%.7g", x);
    json_number(j, parent, name, strtod(text, NULL));
}

void json_whole(struct json *j, cJSON *parent, const char *name, uint64_t x)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)x);
    keep(j, parent, name, cJSON_CreateRaw(text));
}

void json_bool(struct json *j, cJSON *parent, const char *name, bool x)
{
    keep(j, parent, name, cJSON_CreateBool(x));
}

void json_null(struct json *j, cJSON *parent, const char *name)
{
    keep(j, parent, name, cJSON_CreateNull());
}

void json_text(struct json *j, cJSON *parent, const char *name, const char *text)
{
    if (!text) {
        json_null(j, parent, name);
        return;
    }
    size_t size = strlen(text) + 1;
    char *clean = json_alloc(size);
    if (!clean) {
        j->lost = true;
        return;
    }
    memcpy(clean, text, size);
    utf8_clean(clean);
    keep(j, parent, name, cJSON_CreateString(clean));
    mem_free(clean);
}

void json_bytes(struct json *j, cJSON *parent, const char *name, const char *bytes)
{
    if (!bytes) {
        json_null(j, parent, name);
        return;
    }
    char *text = json_alloc(2 * strlen(bytes) + 1), *to = text;
    if (!text) {
        j->lost = true;
        return;
    }
    for (const unsigned char *c = (const unsigned char *)bytes; *c; c++) {
        if (*c >= 0x80) *to++ = (char)(0xc0 | *c >> 6);
        *to++ = (char)(*c >= 0x80 ? 0x80 | (*c & 0x3f) : *c);
    }
    *to = 0;
    keep(j, parent, name, cJSON_CreateString(text));
    mem_free(text);
}

void json_bytes_back(char *text)
{
    char *to = text;
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        bool two = (*c & 0xfc) == 0xc0 && (c[1] & 0xc0) == 0x80;
        *to++ = (char)(two ? *c << 6 | (c[1] & 0x3f) : *c);
        c += two;
    }
    *to = 0;
}

char *json_line(const struct json *j)
{
    if (j->lost) return NULL;
    char *text = cJSON_PrintUnformatted(j->root);
    if (!text) return NULL;
    int64_t size = (int64_t)strlen(text);
    char *line = mem_resize(text, size, size + 2, 1);
    if (!line) {
        mem_free(text);
        return NULL;
    }
    line[size] = '\n';
    line[size + 1] = 0;
    return line;
}

int json_end(struct json *j, FILE *out)
{
    char *line = json_line(j);
    if (line) fputs(line, out);
    mem_free(line);
    json_free(j);
    return line ? OK : ERR_MEMORY;
}
