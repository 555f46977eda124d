#include "data/tar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"

// The header of a member. A text fills its field or ends with a zero.
struct header {
    char name[100], mode[8], owner[8], group[8], size[12], time[12], sum[8], type, link[100];
    char magic[8], names[64], device[16], prefix[155], rest[12];
};
_Static_assert(sizeof(struct header) == TAR_BLOCK, "as it lies in the file");

// Returns a number in octal digits, or, if the first bit is set, in binary; -1 if neither is valid.
static int64_t number_read(const char *field, int size)
{
    int64_t x = 0;
    int i = 0;
    if (*field & 0x80) {
        for (i = 0; i < size && x < (int64_t)1 << 53; i++)
            x = x << 8 | (i ? (unsigned char)field[i] : field[i] & 0x7f);
        return i == size ? x : -1;
    }
    while (i < size && field[i] == ' ') i++;
    int first = i;
    for (; i < size && field[i] >= '0' && field[i] <= '7'; i++) x = x << 3 | (field[i] - '0');
    return i > first && (i == size || !field[i] || field[i] == ' ') ? x : -1;
}

bool tar_is_header(const void *block)
{
    const struct header *h = block;
    const unsigned char *p = block, *sum = (const unsigned char *)h->sum;
    int64_t total = 8 * ' '; // the sum is taken as if its own field were blank
    for (int i = 0; i < TAR_BLOCK; i++)
        if (p + i < sum || p + i >= sum + sizeof h->sum) total += p[i];
    return number_read(h->sum, sizeof h->sum) == total;
}

static bool is_zero(const struct header *h)
{
    static const struct header zero;
    return !memcmp(h, &zero, sizeof zero);
}

static int cut_short(void) { return fail(ERR_INPUT, "the archive is cut short"); }

static int64_t padding(int64_t bytes) { return -bytes & (TAR_BLOCK - 1); }

static int skip_whole(struct stream *s, int64_t bytes)
{
    int64_t got;
    int err = stream_skip(s, bytes, &got);
    return err ? err : got < bytes ? cut_short() : OK;
}

// Reads the contents of a member that describes the next member, cut off at TAR_NAME bytes.
static int extra_read(struct stream *s, int64_t bytes, char text[TAR_NAME])
{
    int64_t kept = min64(bytes, TAR_NAME - 1), got;
    int err = stream_read(s, text, kept, &got);
    if (err) return err;
    text[got] = 0;
    return got < kept ? cut_short() : skip_whole(s, bytes - kept + padding(bytes));
}

// Reads the path and the size in a pax header, from records "LENGTH KEY=VALUE\n".
static void pax_read(char *text, char *path, int64_t *size)
{
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        char *key = strchr(line, ' ');
        if (key && !strncmp(key, " path=", 6)) snprintf(path, TAR_NAME, "%s", key + 6);
        if (key && !strncmp(key, " size=", 6))
            *size = min64(strtoll(key + 6, NULL, 10), (int64_t)1 << 60);
    }
}

static void name_read(const struct header *h, char name[TAR_NAME])
{
    bool prefixed = !memcmp(h->magic, "ustar\0", 6) && *h->prefix;
    snprintf(name, TAR_NAME, "%.*s%s%.*s", prefixed ? (int)sizeof h->prefix : 0, h->prefix,
             prefixed ? "/" : "", (int)sizeof h->name, h->name);
}

// Moves the stream to the contents of the next file. At the end of the archive m->name is "".
static int member_next(struct stream *s, struct tar_member *m)
{
    struct header h;
    char text[TAR_NAME], path[TAR_NAME] = "";
    int64_t pax_size = -1, got;
    *m = (struct tar_member){0};
    for (;;) {
        int err = stream_read(s, (char *)&h, sizeof h, &got);
        if (err || !got || (got == sizeof h && is_zero(&h))) return err;
        if (got < (int64_t)sizeof h) return cut_short();
        int64_t bytes = number_read(h.size, sizeof h.size);
        if (!tar_is_header(&h) || bytes < 0) return fail(ERR_INPUT, "the archive is damaged");
        if (strchr("07", h.type)) { // also a zero, of the oldest archives
            m->bytes = pax_size >= 0 ? pax_size : bytes;
            snprintf(m->name, sizeof m->name, "%s", path);
            if (!*path) name_read(&h, m->name);
            for (char *c = m->name; *c; c++)
                if ((unsigned char)*c < ' ' || *c == 127) *c = '?';
            return OK;
        }
        if (h.type == 'L' || h.type == 'x') {
            err = extra_read(s, bytes, text);
            if (h.type == 'L')
                snprintf(path, sizeof path, "%s", text);
            else
                pax_read(text, path, &pax_size);
        } else { // a folder, a link, a tag
            err = skip_whole(s, bytes + padding(bytes));
            path[0] = 0, pax_size = -1;
        }
        if (err) return err;
    }
}

// Returns the name without folders if the name ends with .mtx, else NULL. Also NULL for the "._"
// files of macOS.
static const char *matrix_of(const char *name)
{
    const char *slash = strrchr(name, '/'), *file = slash ? slash + 1 : name;
    size_t length = strlen(file);
    bool is = length > 4 && !strcmp(file + length - 4, ".mtx") && strncmp(file, "._", 2);
    return is ? file : NULL;
}

// Moves the stream to the contents of STEM.mtx, or of the first matrix if `stem` is NULL. If there
// is none, m->name is "", and `list` and *count have the other matrices.
static int find(struct stream *s, const char *stem, struct tar_member *m, char list[256],
                int *count)
{
    for (*count = 0;;) {
        int err = member_next(s, m);
        if (err || !*m->name) return err;
        const char *file = matrix_of(m->name);
        if (file &&
            (!stem || (!strncmp(file, stem, strlen(stem)) && !strcmp(file + strlen(stem), ".mtx"))))
            return OK;
        if (file) ++*count, words_add(list, 256, ", ", m->name);
        err = skip_whole(s, m->bytes + padding(m->bytes));
        if (err) return err;
    }
}

int tar_find(struct stream *s, const char *name, const char *stem, struct tar_member *m)
{
    char list[256] = "";
    int count, err = find(s, stem, m, list, &count);
    if (!err && *m->name) return OK;
    if (!err && count == 1) {
        err = stream_restart(s);
        if (!err) err = find(s, NULL, m, list, &count);
        if (!err) return OK;
    }
    if (!err && !count) return fail(ERR_INPUT, "%s: there is no .mtx in this archive", name);
    if (!err)
        return fail(ERR_INPUT,
                    "%s: has %d matrices, none called %s.mtx; unpack the one you want: %s", name,
                    count, stem, list);
    return fail((enum err)err, "%s: %s", name, fail_text());
}
