#include "sweep/crash_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "records/json.h"
#include "records/record.h"

// Beginning of a record with status crashed, as record_result() writes it.
#define HEAD                                                                                       \
    "{\"schema\":\"" RECORD_SCHEMA "\",\"kind\":\"result\",\"status\":\"crashed\",\"reason\":"     \
    "null,"

char *crash_record_make(const char *record, enum status status, const char *reason)
{
    struct json j;
    if (strncmp(record, HEAD, strlen(HEAD))) {
        fail(ERR_INPUT, "a worker's record of a case does not begin as one");
        return NULL;
    }
    json_start(&j);
    json_text(&j, j.root, "schema", RECORD_SCHEMA);
    json_text(&j, j.root, "kind", "result");
    json_text(&j, j.root, "status", status_name(status));
    json_text(&j, j.root, "reason", reason);
    char *head = json_line(&j); // {...}\n
    json_free(&j);
    if (!head) return NULL;
    int64_t length = (int64_t)strlen(head) - 2;
    const char *tail = record + strlen(HEAD) - 1; // from the comma on
    int64_t rest = (int64_t)strlen(tail);
    char *line = mem_alloc(length + rest + 2, 1);
    if (line) {
        memcpy(line, head, (size_t)length);
        memcpy(line + length, tail, (size_t)rest);
        memcpy(line + length + rest, "\n", 2);
    }
    mem_free(head);
    return line;
}

char *crash_record_key(const char *record)
{
    cJSON *o;
    if (json_parse(record, &o)) return NULL;
    const char *key = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, "case"));
    char *copy = key ? mem_copy_text(key, strlen(key)) : NULL;
    if (!key) fail(ERR_INPUT, "a worker's record of a case has no key");
    cJSON_Delete(o);
    return copy;
}

long long system_oom_kills(void)
{
    char line[128];
    long long kills = -1;
    FILE *f = fopen("/proc/vmstat", "re");
    while (f && kills < 0 && fgets(line, sizeof line, f))
        if (!strncmp(line, "oom_kill ", 9)) kills = atoll(line + 9);
    if (f) fclose(f);
    return kills;
}
