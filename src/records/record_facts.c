#include "records/record_facts.h"

#include <stdio.h>
#include <string.h>

#include "base/words.h"

#define CHANGED "-dirty" // behind a revision: the code is not that of the revision

// Sets *out to a copy of a text of the object; NULL: no such text.
static int get_text(const cJSON *o, const char *name, char **out)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, name));
    *out = NULL;
    if (!text) return OK;
    *out = mem_copy_text(text, strlen(text));
    return *out ? OK : ERR_MEMORY;
}

static int get_algo(const cJSON *o, struct record_algo *a)
{
    int err = get_text(o, "name", &a->name);
    if (!err) err = get_text(o, "device", &a->device);
    if (!err) err = get_text(o, "vendor", &a->vendor);
    if (!err) err = get_text(o, "call", &a->call);
    if (!err) err = get_text(o, "partial", &a->partial);
    a->reference = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(o, "reference"));
    a->dense = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(o, "dense"));
    return err;
}

static int get_device(const cJSON *o, struct record_device *d)
{
    int err = get_text(o, "id", &d->id);
    return err ? err : get_text(o, "name", &d->name);
}

// Sets *program to a text that is equal in all environments of a program.
static int get_program(const cJSON *o, char **program)
{
    static const char *const names[] = {"revision", "compiler", "flags", "host"};
    const char *part[COUNT(names)];
    int64_t size = 1;
    for (int i = 0; i < COUNT(names); i++) {
        const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, names[i]));
        part[i] = text ? text : "";
        size += (int64_t)strlen(part[i]) + 1;
    }
    if (!*part[0] || ends_with(part[0], CHANGED)) return OK;
    *program = mem_alloc(size, 1);
    if (!*program) return ERR_MEMORY;
    char *end = *program;
    for (int i = 0; i < COUNT(names); i++)
        end += snprintf(end, (size_t)size, "%s\n", part[i]), size -= (int64_t)strlen(part[i]) + 1;
    return OK;
}

int record_facts_read(const cJSON *o, struct record_facts *f)
{
    const cJSON *algos = cJSON_GetObjectItemCaseSensitive(o, "algorithms"), *x;
    const cJSON *devices = cJSON_GetObjectItemCaseSensitive(o, "devices");
    *f = (struct record_facts){0};
    int err = get_program(o, &f->program);
    f->algos = mem_zero_alloc(cJSON_GetArraySize(algos), sizeof *f->algos);
    f->devices = mem_zero_alloc(cJSON_GetArraySize(devices), sizeof *f->devices);
    if (!f->algos || !f->devices) err = ERR_MEMORY;
    cJSON_ArrayForEach(x, algos) if (!err) err = get_algo(x, &f->algos[f->algo_count++]);
    cJSON_ArrayForEach(x, devices) if (!err) err = get_device(x, &f->devices[f->device_count++]);
    if (err) record_facts_free(f);
    return err;
}

void record_facts_free(struct record_facts *f)
{
    for (int i = 0; i < f->algo_count; i++) {
        mem_free(f->algos[i].name);
        mem_free(f->algos[i].device);
        mem_free(f->algos[i].vendor);
        mem_free(f->algos[i].call);
        mem_free(f->algos[i].partial);
    }
    for (int i = 0; i < f->device_count; i++) {
        mem_free(f->devices[i].id);
        mem_free(f->devices[i].name);
    }
    mem_free(f->program);
    mem_free(f->algos);
    mem_free(f->devices);
    *f = (struct record_facts){0};
}

const struct record_algo *record_facts_algo(const struct record_facts *f, const char *name,
                                            const char *id)
{
    size_t kind = strcspn(id, ":");
    for (int i = 0; i < f->algo_count; i++) {
        const struct record_algo *a = &f->algos[i];
        if (a->name && a->device && !strcmp(a->name, name) && strlen(a->device) == kind &&
            !memcmp(a->device, id, kind))
            return a;
    }
    return NULL;
}

const char *record_facts_device(const struct record_facts *f, const char *id)
{
    for (int i = 0; i < f->device_count; i++)
        if (f->devices[i].id && !strcmp(f->devices[i].id, id)) return f->devices[i].name;
    return NULL;
}
