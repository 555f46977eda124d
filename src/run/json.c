#include "run/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *json_alloc(size_t size) { return mem_alloc((int64_t)size, 1); }

static cJSON *keep(struct json *j, cJSON *parent, const char *name, cJSON *item)
{
    bool added =
        name ? cJSON_AddItemToObject(parent, name, item) : cJSON_AddItemToArray(parent, item);
    if (added) return item;
    cJSON_Delete(item);
    j->lost = true;
    return NULL;
}

void json_start(struct json *j)
{
    cJSON_Hooks hooks = {json_alloc, mem_free};
    cJSON_InitHooks(&hooks);
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

void json_bool(struct json *j, cJSON *parent, const char *name, bool x)
{
    keep(j, parent, name, cJSON_CreateBool(x));
}

void json_null(struct json *j, cJSON *parent, const char *name)
{
    keep(j, parent, name, cJSON_CreateNull());
}

// Bytes of the UTF-8 character at s, 0 if there is none.
static int utf8_length(const unsigned char *s)
{
    int length = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    if (s[0] > 0xf4) return 0;
    for (int i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    // Overlong forms, surrogates, and what lies beyond the last character.
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f)) return 0;
    if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f)) return 0;
    return length;
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
    for (size_t i = 0; clean[i];) {
        int length = utf8_length((unsigned char *)clean + i);
        if (!length) clean[i] = '?';
        i += length ? (size_t)length : 1;
    }
    keep(j, parent, name, cJSON_CreateString(clean));
    mem_free(clean);
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
