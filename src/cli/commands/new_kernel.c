// spbench new-kernel: writes the first files of a plug-in.
#include "cli/commands/request.h"

#include <stdio.h>

#include "plugin/plugin_new.h"

// Fails unless the operation exists, and the name is a new one for its algorithms.
static int check_words(const char *op_name, const char *name, enum device_kind device)
{
    const struct op *op = op_find(op_name);
    if (!op)
        return fail(ERR_USAGE, "new-kernel %s: no such operation; it is spmm, sddmm or spgemm",
                    op_name);
    int err = plugin_check_name(name);
    if (err) return fail(err, "new-kernel: %s", fail_text());
    if (algo_find(op, name, device))
        return fail(ERR_USAGE, "new-kernel: %s: is an algorithm of spbench; take another name",
                    name);
    return OK;
}

int cli_new_kernel(const struct request *q)
{
    const struct options *o = q->o;
    const char *op = o->operands[0], *name = o->operands[1];
    int kept;
    if (o->new_kernel.cpu && o->new_kernel.cuda)
        return fail(ERR_USAGE, "new-kernel: -cpu excludes -cuda");
    bool cuda = o->new_kernel.cuda || (device_list[DEVICE_CUDA].ops && !o->new_kernel.cpu);
    enum device_kind device = cuda ? DEVICE_CUDA : DEVICE_CPU;
    int err = check_words(op, name, device);
    if (!err) err = plugin_new(op, name, device, &kept);
    if (err) return err;
    printf("wrote %s.%s%s\n", name, cuda ? "cu" : "c",
           kept == 2   ? ""
           : kept == 1 ? " and the missing one of Makefile, spbench_plugin.h"
                       : ", Makefile, spbench_plugin.h");
    printf("next: make && spbench conform -plugin ./%s.so\n", name);
    return OK;
}
