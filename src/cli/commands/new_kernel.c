// spbench new-kernel: writes the first files of a plug-in.
#include "cli/commands/request.h"

#include <ctype.h>
#include <stdio.h>

#include "plugin/plugin_new.h"

// Returns an error unless the name has only letters, digits and _, and begins with no digit. The
// name becomes the name of a file and of an algorithm.
static int check_name(const char *name)
{
    bool good = isalpha((unsigned char)name[0]) || name[0] == '_';
    for (int i = 0; name[i]; i++) good &= isalnum((unsigned char)name[i]) || name[i] == '_';
    if (good) return plugin_check_name(name);
    return fail(ERR_USAGE, "%s: must be letters, digits and _, and not begin with a digit", name);
}

// Returns an error unless the operation exists, and no algorithm of the operation has the name.
static int check_words(const char *op_name, const char *name, enum device_kind device)
{
    const struct op *op = op_find(op_name);
    if (!op)
        return fail(ERR_USAGE, "new-kernel %s: no such operation; it is spmm, sddmm or spgemm",
                    op_name);
    int err = check_name(name);
    if (err) return fail(err, "new-kernel: %s", fail_text());
    if (algo_find(op, name, device))
        return fail(ERR_USAGE, "new-kernel: %s: is an algorithm of spbench; take another name",
                    name);
    return OK;
}

int cli_new_kernel(const struct request *q)
{
    const struct new_kernel_options *n = &q->o->new_kernel;
    const char *op = q->o->operands[0], *name = q->o->operands[1];
    if (n->cpu && (n->cuda || n->cubin))
        return fail(ERR_USAGE, "new-kernel: -cpu excludes -%s", n->cuda ? "cuda" : "cubin");
    bool cuda = n->cuda || n->cubin || (device_list[DEVICE_CUDA].ops && !n->cpu);
    enum device_kind device = cuda ? DEVICE_CUDA : DEVICE_CPU;
    int err = check_words(op, name, device);
    if (!err) err = plugin_new(op, name, device, n->cubin);
    if (err) return err;
    printf("next: %smake && spbench conform -plugin ./%s.so\n",
           n->cubin ? "change the lines with EDIT, then " : "", name);
    return OK;
}
