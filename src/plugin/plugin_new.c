#include "plugin/plugin_new.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

// The templates and the header are in the program: new-kernel works without an installation.
#define EMBED(symbol, path)                                                                        \
    __asm__(".section .rodata\n" #symbol ":\n.incbin \"" path "\"\n.byte 0\n.previous\n");         \
    extern const char symbol[]
EMBED(template_spmm_c, "include/templates/spmm.c");
EMBED(template_spmm_cu, "include/templates/spmm.cu");
EMBED(template_sddmm_c, "include/templates/sddmm.c");
EMBED(template_sddmm_cu, "include/templates/sddmm.cu");
EMBED(template_spgemm_c, "include/templates/spgemm.c");
EMBED(template_spgemm_cu, "include/templates/spgemm.cu");
EMBED(template_makefile, "include/templates/Makefile");
EMBED(template_header, "include/spbench_plugin.h");

#define PLACEHOLDER "KERNEL"

static const struct template
{
    const char *op;
    enum device_kind device;
    const char *text;
}
templates[] = {
    {"spmm", DEVICE_CPU, template_spmm_c},     {"spmm", DEVICE_CUDA, template_spmm_cu},
    {"sddmm", DEVICE_CPU, template_sddmm_c},   {"sddmm", DEVICE_CUDA, template_sddmm_cu},
    {"spgemm", DEVICE_CPU, template_spgemm_c}, {"spgemm", DEVICE_CUDA, template_spgemm_cu},
};

// Writes a new file of `text`, with `name` for each placeholder; NULL: as it is. Returns 0 or an
// errno.
static int write_file(const char *path, const char *text, const char *name)
{
    FILE *f = fopen(path, "wx");
    if (!f) return errno;
    for (const char *at; name && (at = strstr(text, PLACEHOLDER)); text = at + strlen(PLACEHOLDER))
        fprintf(f, "%.*s%s", (int)(at - text), text, name);
    fputs(text, f);
    int e = ferror(f) ? EIO : 0;
    return fclose(f) ? errno : e;
}

int plugin_new(const char *op, const char *name, enum device_kind device, int *kept)
{
    static const struct {
        const char *path, *text;
    } others[] = {{"spbench_plugin.h", template_header}, {"Makefile", template_makefile}};
    const struct template *t = templates;
    char path[64];
    *kept = 0;
    while (strcmp(t->op, op) || t->device != device) t++;
    snprintf(path, sizeof path, "%s.%s", name, device == DEVICE_CPU ? "c" : "cu");
    int e = write_file(path, t->text, name);
    if (e) return fail(ERR_OUTPUT, "%s: %s", path, strerror(e));
    for (int i = 0; i < COUNT(others); i++) {
        e = write_file(others[i].path, others[i].text, NULL);
        if (e && e != EEXIST) return fail(ERR_OUTPUT, "%s: %s", others[i].path, strerror(e));
        *kept += e == EEXIST;
    }
    return OK;
}
