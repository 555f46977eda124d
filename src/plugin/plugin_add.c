// Makes algorithms of the program from those of a plug-in. The functions here translate a task into
// the plug-in's struct, call the plug-in, and translate its result.
#include "plugin/plugin.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/sha256.h"

struct plugin_algo {
    struct algo algo; // first: task->algo is a struct plugin_algo
    const struct spbench_algorithm *of;
    struct algo_option options[ALGO_OPTIONS_MAX + 1];
};

// All that a plug-in reaches from its task, beside the table `host`. No pointer leads to the
// program's own structs, such as the device with its timer.
struct shown {
    struct spbench_task task;
    struct spbench_csr A, S, R;
    struct spbench_dense B, Y, C;
    double options[ALGO_OPTIONS_MAX];
};

// State of a case.
struct adapter {
    struct task *t;
    struct shown *shown; // owned
    char said[256];    // last line of log()
    char refused[256]; // the first call of a host function that was refused; "": none
};

static const struct spbench_algorithm *algorithm_of(const struct task *t)
{
    return ((const struct plugin_algo *)t->algo)->of;
}

// Returns the adapter of the plug-in's function that was called last.
static struct adapter *called;
static struct adapter *adapter_of(const struct spbench_task *task) { return (void)task, called; }

// Refuses a call of a host function. The case fails when the plug-in's function returns.
static void refuse(struct adapter *a, const char *format, ...) PRINTF_LIKE(2, 3);
static void refuse(struct adapter *a, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!a->refused[0]) vsnprintf(a->refused, sizeof a->refused, format, args);
    va_end(args);
}

static int host_alloc(struct spbench_task *task, int64_t bytes, void **block)
{
    struct adapter *a = adapter_of(task);
    *block = NULL;
    if (a->t->dev->closed) return refuse(a, "run() called alloc()"), SPBENCH_FAILED;
    if (!device_alloc(a->t->dev, max64(bytes, 1), 1, block)) return SPBENCH_OK;
    fail_drop(); // the plug-in may work with less memory
    return SPBENCH_NO_MEMORY;
}

static void host_free(struct spbench_task *task, void *block)
{
    struct adapter *a = adapter_of(task);
    if (!block) return;
    if (a->t->dev->closed)
        refuse(a, "run() called free()");
    else if (!device_holds(a->t->dev, block, 1))
        refuse(a, "free() of a block that alloc() did not return");
    else
        device_free(a->t->dev, block);
}

static void host_phase(struct spbench_task *task, const char *name)
{
    struct adapter *a = adapter_of(task);
    if (!task_phase_fits(a->t, name))
        refuse(a, "phase '%s': more than %d phases, or the name is too long", name, PHASES_MAX);
    else if (task_phase(a->t, name))
        fail_drop(); // the end of the run returns the device's error again
}

static void host_log(struct spbench_task *task, const char *text)
{
    struct adapter *a = adapter_of(task);
    snprintf(a->said, sizeof a->said, "%s", text);
    fprintf(stderr, "%s: %s\n", a->t->entry->name, text);
}

static void host_number(struct spbench_task *task, const char *name, double value)
{
    struct adapter *a = adapter_of(task);
    if (name && algo_stats_fit(&a->t->stats, name))
        task_number(a->t, name, value);
    else
        refuse(a, "stat '%s': more than %d stats, or the name is too long", name ? name : "",
               ALGO_STATS_MAX);
}

static const struct spbench_host host = {
    .size = sizeof host,
    .alloc = host_alloc,
    .free = host_free,
    .phase = host_phase,
    .log = host_log,
    .number = host_number,
};

static struct spbench_csr csr_for_plugin(const struct sparse *X)
{
    const struct csr_dev *A = csr_of(X);
    return (struct spbench_csr){
        sizeof(struct spbench_csr), A->m, A->n, A->nnz, A->ptr_bytes, A->ptr, A->idx, A->val};
}

static struct spbench_dense dense_for_plugin(const struct dense_dev *D)
{
    return (struct spbench_dense){
        sizeof(struct spbench_dense), D->rows, D->cols, D->ld, BIT(D->layout), D->val};
}

// The bits of the header.
static const unsigned prec_bits[PRECS] = {
#define TYPE(symbol, ...)  [symbol] = SPBENCH_##symbol,
#define MIXED(symbol, ...) [symbol] = SPBENCH_##symbol,
#include "base/precs.def"
};
_Static_assert(SPBENCH_ROW_MAJOR == ROW_MAJOR && SPBENCH_COL_MAJOR == COL_MAJOR,
               "spbench_plugin.h has all layouts");

static void fill_task(struct shown *a, const struct task *t)
{
    const enum result_kind result = t->entry->op->result;
    a->A = csr_for_plugin(t->A[0]);
    a->B = dense_for_plugin(&t->in[0]);
    a->Y = dense_for_plugin(&t->in[1]);
    a->C = dense_for_plugin(&t->C);
    memcpy(a->options, t->opt, sizeof a->options);
    a->task = (struct spbench_task){.size = sizeof a->task,
                                    .precision = prec_bits[t->prec],
                                    .A = &a->A,
                                    .C_val = t->val,
                                    .options = a->options,
                                    .stream = t->dev->stream,
                                    .host = &host,
                                    .threads = device_is_host(t->dev) ? t->dev->units : 0};
    if (result == RESULT_SPARSE) {
        a->S = csr_for_plugin(t->S[0]);
        a->task.S = &a->S;
        a->task.R = &a->R;
    } else {
        a->task.B = &a->B;
        if (result == RESULT_PATTERN) a->task.Y = &a->Y;
        if (result == RESULT_DENSE) a->task.C = &a->C;
    }
}

// Returns the error of a status of the plug-in's function `what`, or of a refused call.
static int error_of(const struct adapter *a, int status, const char *what)
{
    const char *said = a->said[0] ? a->said : "without a reason";
    if (a->refused[0]) return fail(ERR_DEVICE, "%s", a->refused);
    switch (status) {
    case SPBENCH_OK: return OK;
    case SPBENCH_FAILED: return fail(ERR_DEVICE, "%s() failed: %s", what, said);
    case SPBENCH_NO_MEMORY: return fail(ERR_MEMORY, "%s() has not enough memory", what);
    case SPBENCH_UNSUPPORTED:
        if (!strcmp(what, "prepare")) return fail(ERR_UNSUPPORTED, "%s", said);
    }
    return fail(ERR_DEVICE, "%s() returned %d, which is no status of %s()", what, status, what);
}

static int prepare(struct task *t)
{
    const struct spbench_algorithm *of = algorithm_of(t);
    struct adapter *a = mem_zero_alloc(1, sizeof *a);
    if (!a) return ERR_MEMORY;
    t->state = called = a;
    a->t = t;
    a->shown = mem_zero_alloc(1, sizeof *a->shown);
    if (!a->shown) return ERR_MEMORY;
    fill_task(a->shown, t);
    return of->prepare ? error_of(a, of->prepare(&a->shown->task), "prepare") : OK;
}

// Takes the sparse result. Blocks that run() left after an error go to t->R, and are freed with it.
static int take_result(struct task *t, const struct spbench_csr *R, int err)
{
    const struct device *d = t->dev;
    t->R.m = t->A[0]->m;
    t->R.n = t->S[0]->n;
    t->R.nnz = R->nnz;
    t->R.ptr_bytes = (int)R->ptr_bytes;
    t->R.ptr = device_holds(d, R->ptr, 1) ? R->ptr : NULL;
    t->R.idx = device_holds(d, R->idx, 1) ? R->idx : NULL;
    t->R.val = device_holds(d, R->val, 1) ? R->val : NULL;
    if (err) return err;
    if (R->ptr_bytes != 4 && R->ptr_bytes != 8)
        return fail(ERR_DEVICE, "run() set R->ptr_bytes to %lld, not 4 or 8",
                    (long long)R->ptr_bytes);
    if (R->nnz < 0 || (R->ptr_bytes == 4 && R->nnz > INT32_MAX))
        return fail(ERR_DEVICE, "run() set R->nnz to %lld", (long long)R->nnz);
    if (!device_holds(d, R->ptr, (t->R.m + (int64_t)1) * R->ptr_bytes) ||
        !device_holds(d, R->idx, R->nnz * 4) || !device_holds(d, R->val, R->nnz * out_bytes(t)))
        return fail(ERR_DEVICE, "an array of R is no block of alloc(), or is too small");
    return OK;
}

static int run(struct task *t)
{
    struct adapter *a = called = t->state;
    return error_of(a, algorithm_of(t)->run(&a->shown->task, t->dev->stream), "run");
}

static int run_sparse(struct task *t)
{
    struct spbench_csr *R = &((struct adapter *)t->state)->shown->R;
    *R = (struct spbench_csr){sizeof *R, t->A[0]->m, t->S[0]->n, 0, t->dev->ops->row_start_bytes,
                              NULL,      NULL,       NULL};
    return take_result(t, R, run(t));
}

static void teardown(struct task *t)
{
    const struct spbench_algorithm *of = algorithm_of(t);
    struct adapter *a = called = t->state;
    if (a && a->shown && of->teardown) of->teardown(&a->shown->task);
    if (a) mem_free(a->shown);
    called = NULL;
    task_free_state(t);
}

// Version and the first 16 digits of the hash.
static char *plugin_text(const struct algo_plugin *p)
{
    const size_t size = strlen(p->version) + 32;
    char *text = mem_alloc((int64_t)size, 1), all[SHA256_LETTERS + 1];
    struct sha256 s;
    sha256_start(&s);
    sha256_add(&s, p->own.sha256, SHA256_LETTERS);
    for (int i = 0; i < p->library_count; i++)
        sha256_add(&s, p->libraries[i].sha256, SHA256_LETTERS);
    sha256_end(&s, all);
    if (text)
        snprintf(text, size, "%s sha256:%.16s", p->version, p->library_count ? all : p->own.sha256);
    return text;
}

static unsigned layouts_of(const struct spbench_algorithm *of, const struct op *op)
{
    if (op->result == RESULT_SPARSE) return 0;
    return op->result == RESULT_PATTERN ? ROW_MAJOR : (unsigned)of->layouts;
}

static int add_algorithm(const struct spbench_algorithm *of, const struct algo_plugin *facts)
{
    const struct op *op = plugin_op(of);
    enum device_kind kind;
    struct plugin_algo *x = mem_zero_alloc(1, sizeof *x);
    if (!x) return ERR_MEMORY;
    if (!op || !plugin_device(of, &kind)) bug("plugin_check() has not refused %s", of->name);
    struct algo *a = &x->algo;
    for (int64_t i = 0; i < of->option_count; i++) {
        const struct spbench_option *o = &of->options[i];
        x->options[i] =
            (struct algo_option){o->name, o->standard, o->min, o->max, o->whole, o->about};
    }
    x->of = of;
    a->layouts = layouts_of(of, op);
    for (int prec = 0; prec < PRECS; prec++)
        if (of->precisions & prec_bits[prec]) a->precs |= BIT(prec);
    a->A[0] = &format_csr;
    if (op->product) a->S[0] = &format_csr;
    a->options = of->option_count ? x->options : NULL;
    a->cite = of->cite;
    a->plugin = facts;
    a->prepare = prepare;
    a->run = op->result == RESULT_SPARSE ? run_sparse : run;
    a->teardown = teardown;
    int err = algo_add(&(struct algo_entry){of->name, op, kind, a}, of->about);
    if (err) mem_free(x);
    return err;
}

int plugin_add(struct plugin *p)
{
    struct algo_plugin *facts = &p->facts;
    facts->version = p->exported->version;
    facts->text = plugin_text(facts);
    int err = facts->text ? OK : ERR_MEMORY;
    for (int64_t i = 0; i < p->exported->algorithm_count && !err; i++) {
        err = add_algorithm(p->exported->algorithms[i], facts);
        if (err == ERR_USAGE) err = fail(err, "%s: %s", facts->own.file, fail_text());
    }
    return err;
}
