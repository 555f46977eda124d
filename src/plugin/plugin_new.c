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
EMBED(template_spmm_cubin, "include/templates/spmm_cubin.c");
EMBED(template_sddmm_c, "include/templates/sddmm.c");
EMBED(template_sddmm_cu, "include/templates/sddmm.cu");
EMBED(template_sddmm_cubin, "include/templates/sddmm_cubin.c");
EMBED(template_spgemm_c, "include/templates/spgemm.c");
EMBED(template_spgemm_cu, "include/templates/spgemm.cu");
EMBED(template_makefile, "include/templates/Makefile");
EMBED(template_header, "include/spbench_plugin.h");

static const struct template
{
    const char *op;
    enum device_kind device;
    bool module; // launches a compiled kernel
    const char *ending, *text;
}
templates[] = {
    {"spmm", DEVICE_CPU, false, "c", template_spmm_c},
    {"spmm", DEVICE_CUDA, false, "cu", template_spmm_cu},
    {"spmm", DEVICE_CUDA, true, "c", template_spmm_cubin},
    {"sddmm", DEVICE_CPU, false, "c", template_sddmm_c},
    {"sddmm", DEVICE_CUDA, false, "cu", template_sddmm_cu},
    {"sddmm", DEVICE_CUDA, true, "c", template_sddmm_cubin},
    {"spgemm", DEVICE_CPU, false, "c", template_spgemm_c},
    {"spgemm", DEVICE_CUDA, false, "cu", template_spgemm_cu},
};

static const struct template *find_template(const char *op, enum device_kind device, bool module)
{
    for (int i = 0; i < COUNT(templates); i++) {
        const struct template *t = &templates[i];
        if (!strcmp(t->op, op) && t->device == device && t->module == module) return t;
    }
    return NULL;
}

// A word of the templates, and its replacement in a new file.
struct placeholder {
    const char *word, *text; // NULL ends a list
};

// Writes a new file. Returns 0 or an errno.
static int write_file(const char *path, const char *from, const struct placeholder *list)
{
    FILE *f = fopen(path, "wx");
    if (!f) return errno;
    while (*from) {
        const struct placeholder *p = list;
        while (p->word && strncmp(from, p->word, strlen(p->word))) p++;
        if (!p->word) fputc(*from++, f);
        if (p->word) from += strlen(p->word), fputs(p->text, f);
    }
    int e = ferror(f) ? EIO : 0;
    return fclose(f) ? errno : e;
}

int plugin_new(const char *op, const char *name, enum device_kind device, const char *module)
{
    const struct template *t = find_template(op, device, module != NULL);
    if (!t)
        return fail(ERR_USAGE, "new-kernel %s: no template for %s%s", op, device_list[device].name,
                    module ? " with -cubin, which only spmm and sddmm take" : "");
    const char *slash = module ? strrchr(module, '/') : NULL;
    const char *base = slash ? slash + 1 : module ? module : "";
    char path[64], symbol[128];
    snprintf(path, sizeof path, "%s.%s", name, t->ending);
    snprintf(symbol, sizeof symbol, "%.*s", (int)strcspn(base, "."), base);
    const struct placeholder words[] = {
        {"KERNEL", name}, {"SYMBOL", symbol}, {"MODULE", module}, {NULL, NULL}};
    const struct {
        const char *path, *text;
        const struct placeholder *words;
    } files[] = {{path, t->text, words},
                 {"spbench_plugin.h", template_header, words + COUNT(words) - 1},
                 {"Makefile", template_makefile, words + COUNT(words) - 1}};
    for (int i = 0; i < COUNT(files); i++) {
        int e = write_file(files[i].path, files[i].text, files[i].words);
        if (e && (!i || e != EEXIST)) return fail(ERR_OUTPUT, "%s: %s", files[i].path, strerror(e));
        printf("%s %s\n", e ? "kept" : "wrote", files[i].path);
    }
    return OK;
}
