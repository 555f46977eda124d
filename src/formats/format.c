#include "formats/format.h"

#include <string.h>

// Declares and lists the descriptors and makers of formats.def. A maker that is not in this build
// is NULL.
#define FORMAT(name) extern const struct format format_##name;
#define MAKER(name, kind)                                                                          \
    __attribute__((weak)) int name##_make_##kind(struct device *d, const struct sparse *from,      \
                                                 const double *opt, struct sparse *out);
#include "formats/formats.def"
#undef FORMAT
#undef MAKER

#define FORMAT(name) &format_##name,
#define MAKER(name, kind)
const struct format *const formats[] = {
#include "formats/formats.def"
};
#undef FORMAT
#undef MAKER
const int format_count = COUNT(formats);

#define FORMAT(name)
#define MAKER(name, kind) {&format_##name, KIND_##kind, name##_make_##kind},
static const struct maker {
    const struct format *format;
    enum device_kind device;
    format_maker make;
} makers[] = {
#include "formats/formats.def"
};
#undef FORMAT
#undef MAKER

// Returns the line of a format and a device, or NULL.
static const struct maker *find_maker(const struct format *format, enum device_kind kind)
{
    for (int i = 0; i < COUNT(makers); i++)
        if (makers[i].format == format && makers[i].device == kind) return &makers[i];
    return NULL;
}

format_maker format_maker_of(const struct format *format, enum device_kind kind)
{
    const struct maker *m = find_maker(format, kind);
    return kind == DEVICE_CPU ? format->make : m ? m->make : NULL;
}

bool format_is_made_on(const struct format *format, enum device_kind kind)
{
    return format->from && (kind == DEVICE_CPU || find_maker(format, kind));
}

struct sparse *sparse_new(const struct format *format)
{
    struct sparse *X = mem_zero_alloc(1, format->size);
    if (X) X->format = format;
    return X;
}

int64_t sparse_bytes(const struct sparse *X)
{
    struct array list[ARRAYS_MAX];
    int64_t bytes = 0;
    for (int i = X->format->arrays(X, list) - 1; i >= 0; i--)
        if (*list[i].data) bytes += list[i].count * (int64_t)list[i].size;
    return bytes;
}

int sparse_alloc(struct device *d, struct sparse *X)
{
    struct array list[ARRAYS_MAX];
    int err = OK, count = X->format->arrays(X, list);
    for (int i = 0; i < count && !err; i++)
        if (!*list[i].data) err = device_alloc(d, list[i].count, list[i].size, list[i].data);
    return err;
}

void sparse_release(struct device *d, struct sparse *X)
{
    struct array list[ARRAYS_MAX];
    for (int i = X->format->arrays(X, list) - 1; i >= 0; i--) {
        device_free(d, *list[i].data);
        *list[i].data = NULL;
    }
}

void sparse_free(struct device *d, struct sparse *X)
{
    if (!X) return;
    sparse_release(d, X);
    mem_free(X);
}

int sparse_make(struct device *d, const struct format *format, const struct sparse *from,
                const double *opt, struct sparse **out)
{
    *out = NULL;
    struct sparse *X = sparse_new(format);
    if (!X) return ERR_MEMORY;
    X->type = from->type;
    X->m = from->m, X->n = from->n;
    X->nnz = from->nnz;
    int err = format_maker_of(format, d->kind)(d, from, opt, X);
    if (err)
        sparse_free(d, X);
    else
        *out = X;
    return err;
}

int sparse_copy(struct device *d, const struct sparse *X, struct device *to, struct sparse **out)
{
    struct array from[ARRAYS_MAX], list[ARRAYS_MAX];
    *out = NULL;
    struct sparse *copy = sparse_new(X->format);
    if (!copy) return ERR_MEMORY;
    memcpy(copy, X, X->format->size);
    int count = X->format->arrays(X, from), err = OK;
    copy->format->arrays(copy, list);
    for (int i = 0; i < count; i++) *list[i].data = NULL;
    for (int i = 0; i < count && !err; i++) {
        if (!*from[i].data) continue; // an optional array
        int64_t bytes = from[i].count * (int64_t)from[i].size;
        err = device_alloc(to, from[i].count, from[i].size, list[i].data);
        if (err) break;
        err = device_is_host(d) ? device_upload(to, *list[i].data, *from[i].data, bytes)
                                : device_download(d, *list[i].data, *from[i].data, bytes);
    }
    if (err)
        sparse_free(to, copy);
    else
        *out = copy;
    return err;
}

int sparse_overwrite(struct device *d, const struct sparse *from, struct sparse *X)
{
    struct array list[ARRAYS_MAX], to[ARRAYS_MAX];
    int err = OK, count = from->format->arrays(from, list);
    X->format->arrays(X, to);
    for (int i = 0; i < count && !err; i++) {
        int64_t bytes = list[i].count * (int64_t)list[i].size;
        if (to[i].count != list[i].count) bug("%s: another length of an array", X->format->name);
        if (*list[i].data && bytes) err = d->ops->copy(d, *to[i].data, *list[i].data, bytes);
    }
    return err;
}

int sparse_digest(struct device *d, const struct sparse *X, uint64_t *bits)
{
    struct array list[ARRAYS_MAX];
    int err = OK, count = X->format->arrays(X, list);
    *bits = 0;
    for (int i = 0; i < count && !err; i++) {
        uint64_t part;
        struct device_view v = {*list[i].data,     1,    list[i].count, list[i].count,
                                (int)list[i].size, false};
        if (!v.p) continue;
        err = device_digest(d, &v, &part);
        *bits = *bits * 31 + part; // depends on the order of the arrays
    }
    return err;
}
