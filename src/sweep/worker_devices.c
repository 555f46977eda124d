#include "sweep/worker_devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"

#define ALL ":all"

// Returns the last kind of which a machine can have several.
static enum device_kind many_kind(void)
{
    for (int k = DEVICE_KINDS - 1; k > 0; k--)
        if (device_list[k].numbered) return (enum device_kind)k;
    return DEVICE_CPU;
}

// Returns true for "cuda:all" or "all", and sets *kind.
static bool all_of(const char *item, enum device_kind *kind)
{
    *kind = many_kind();
    if (!strcmp(item, "all")) return true;
    for (int k = 0; k < DEVICE_KINDS; k++) {
        size_t length = strlen(device_list[k].name);
        *kind = (enum device_kind)k;
        if (device_list[k].numbered && !strncmp(item, device_list[k].name, length) &&
            !strcmp(item + length, ALL))
            return true;
    }
    return false;
}

static int add(struct worker_devices *p, enum device_kind kind, int index, const char *text)
{
    if (p->count && kind != p->kind)
        return fail(ERR_USAGE, "-device %s: a sweep is on devices of one kind", text);
    for (int i = 0; i < p->count; i++)
        if (p->index[i] == index)
            return fail(ERR_USAGE, "-device %s: a device is given twice", text);
    if (p->count == WORKER_DEVICES_MAX)
        return fail(ERR_USAGE, "-device %s: more than %d devices", text, WORKER_DEVICES_MAX);
    p->kind = kind;
    p->index[p->count++] = index;
    return OK;
}

// Adds an item of the list: a device, or the number of a further device.
static int add_item(struct worker_devices *p, const char *item, const char *text)
{
    char id[WORD_MAX + 16];
    enum device_kind kind;
    int index;
    bool number = p->count && item[strspn(item, "0123456789")] == 0;
    if (number)
        snprintf(id, sizeof id, "%s:%s", device_list[p->kind].name, item);
    else
        snprintf(id, sizeof id, "%s", item);
    if (!strcmp(id, "auto") || all_of(id, &kind))
        return fail(ERR_USAGE, "-device %s: %s excludes other devices", text, item);
    int err = device_parse(id, &kind, &index);
    return err ? err : add(p, kind, index, text);
}

int worker_devices_parse(const char *text, struct worker_devices *out)
{
    const char *rest = text;
    char item[WORD_MAX];
    int more, err = OK;
    *out = (struct worker_devices){.automatic = !strcmp(text, "auto")};
    out->all = all_of(text, &out->kind);
    if (out->automatic || out->all) {
        out->count = 1;
        return OK;
    }
    while (!err && (more = words_next(&rest, item)) > 0) err = add_item(out, item, text);
    if (!err && more < 0) err = words_bad("device", text);
    return err;
}

// Returns the i-th word of a list; NULL: the list is shorter.
static const char *word_of(const char *list, int i, char word[WORKER_DEVICES_TEXT / 2])
{
    for (; i > 0 && list; i--) list = strchr(list, ','), list += list != NULL;
    if (!list || !*list) return NULL;
    int length = (int)strcspn(list, ",");
    return snprintf(word, WORKER_DEVICES_TEXT / 2, "%.*s", length, list) < WORKER_DEVICES_TEXT / 2
               ? word
               : NULL;
}

const char *worker_devices_setting(const struct worker_devices *p, int place,
                                   char text[WORKER_DEVICES_TEXT])
{
    const struct device_entry *entry = &device_list[p->kind];
    const char *visible = !p->automatic && entry->ops ? entry->ops->visible : NULL;
    if (!visible) return NULL;
    char word[WORKER_DEVICES_TEXT / 2];
    const char *seen = getenv(visible), *own = seen ? word_of(seen, p->index[place], word) : NULL;
    // A device outside the list does not exist: no machine has the number -1.
    if (seen && !own) own = "-1";
    if (own)
        snprintf(text, WORKER_DEVICES_TEXT, "%s=%s", visible, own);
    else
        snprintf(text, WORKER_DEVICES_TEXT, "%s=%d", visible, p->index[place]);
    return text;
}

const char *worker_devices_option(const struct worker_devices *p, char id[16])
{
    if (p->automatic) return "auto";
    device_id(p->kind, 0, id);
    return id;
}

const char *worker_devices_name(const struct worker_devices *p, int place, char id[16])
{
    if (p->automatic) return "auto";
    device_id(p->kind, p->index[place], id);
    return id;
}
