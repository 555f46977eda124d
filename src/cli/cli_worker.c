// A worker of a sweep: does what its order says and tells its parent, as sweep/worker.h has it, and
// what it waits for as sweep/standby.h explains it. It is called by 'spbench sweep' alone.
#include "cli/cli.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/memory_limit.h"
#include "base/sysfs.h"
#include "records/record.h"
#include "sweep/worker_config.h"
#include "sweep/worker_talk.h"

struct work {
    const struct order *order;
    struct bench_setup c;
    struct record_file out; // the channel
    struct matrix M;
    int64_t next; // case of the plan that is under way
    bool done;    // that was said
    bool watched; // it asks before it times
    int64_t read; // bytes of stdin, in orders
    struct counter_tool tool;
    bool counters;
};

static int say_done(struct work *w)
{
    int err = w->done ? OK : worker_say("done");
    w->done = true;
    return err;
}

// For the plan: while a standby gets ready, it is stopped for what is timed.
static int keep_quiet(void *arg, bool on)
{
    struct work *w = arg;
    enum worker_word told = WORD_HUSHED;
    if (!w->watched) return OK;
    int err = worker_say(on ? "quiet" : "loud");
    if (!err && on) err = worker_await(WORD_HUSHED, WORD_MEASURE, &told);
    w->watched = told == WORD_HUSHED;
    return err;
}

// It ends with its parent, and is the first to go where memory is short.
static int tie(const struct order *order)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != order->parent) return fail(ERR_INTERRUPTED, "the sweep is gone");
    if (fcntl(WORKER_CHANNEL, F_SETFD, FD_CLOEXEC) || fcntl(WORKER_WORDS, F_SETFD, FD_CLOEXEC))
        return fail(ERR_USAGE, "no sweep listens");
    FILE *f = fopen("/proc/self/oom_score_adj", "we");
    if (f) fputs("1000", f), fclose(f);
    memory_limit_set(order->memory_bytes);
    struct cpus own;
    if (order->cpus) cpus_parse(order->cpus, &own), cpus_pin(&own); // else it has those of all
    return OK;
}

// Whether a file was loaded into this process.
static bool is_loaded(const char *path)
{
    char *line = NULL;
    size_t size = 0;
    bool found = false;
    FILE *f = fopen("/proc/self/maps", "re");
    while (f && !found && getline(&line, &size, f) > 0) {
        char *file = strchr(line, '/');
        if (file) file[strcspn(file, "\n")] = 0;
        found = file && !strcmp(file, path);
    }
    if (f) fclose(f);
    free(line);
    return found;
}

// All that needs neither the device nor the matrix. Devices are counted, for which a driver wakes
// up; that opens none.
static int get_ready(struct work *w, struct options *o)
{
    const struct order *order = w->order;
    if (order->library && !is_loaded(order->library))
        return fail(ERR_USAGE, "%s: the loader did not take it", order->library);
    o->device = order->device;
    int err = bench_setup_make(&w->c, o);
    if (!err && device_list[w->c.primary].ops) device_count(w->c.primary);
    return err ? err : worker_say("ready");
}

// The devices, and whether they are what the sweep goes by.
static int open_devices(struct work *w, const struct options *o)
{
    const struct order *order = w->order;
    int err = bench_setup_open(&w->c, o);
    if (err) return err;
    if (order->expected && strcmp(order->expected, w->c.device))
        return fail(ERR_DEVICE, "%s is not there any more: %s", order->expected, w->c.fallback);
    return worker_say("opened");
}

// Nobody else is at the device now.
static int look_at_device(struct work *w)
{
    int err = bench_setup_measure_roofs(&w->c, false);
    if (err && err != ERR_INTERRUPTED) { // times and checks need none
        fprintf(stderr, "no roof: %s\n", fail_text());
        err = OK;
    }
    const struct bench_device *bd = bench_device_find(&w->c.devices, w->c.device);
    if (!err)
        err = worker_say("device %s %d %s", w->c.device, device_count(w->c.primary),
                         bd && bd->dev ? bd->dev->name : w->c.device);
    return err;
}

static bool is_among(const struct texts *texts, const char *text)
{
    for (int64_t i = 0; i < texts->count; i++)
        if (!strcmp(texts->list[i], text)) return true;
    return false;
}

// Whether a case is finished: by its key, by that of the time when its matrix could not be read,
// by its key and what the matrix is, or, where it cannot be read now, by all but the matrix.
static bool is_done(const struct work *w, const struct bench_case *c)
{
    const struct texts *done = &w->order->done;
    const struct matrix unread = {.name = w->M.name};
    char key[CASE_KEY_MAX];
    if (is_among(&w->order->without, case_prefix(c, key))) return true;
    for (int64_t i = 0; i < done->count && !w->M.field; i++)
        if (!strncmp(done->list[i], key, strlen(key)) && done->list[i][strlen(key)] == ' ' &&
            case_key_prefix(done->list[i], w->M.name) == (int64_t)strlen(key))
            return true;
    if (is_among(done, case_key(c, &unread, key)) || is_among(done, case_key(c, &w->M, key)))
        return true;
    char maybe[CONTENT_LETTERS + 2 + CASE_KEY_MAX];
    snprintf(maybe, sizeof maybe, "%s %s", w->M.content, key);
    return is_among(&w->order->maybe, maybe);
}

// Only what is to be done stays in the plan.
static void shorten_plan(struct work *w)
{
    struct plan *plan = &w->c.plan;
    int64_t kept = 0;
    for (int64_t i = 0; i < plan->count; i++)
        if (!is_done(w, &plan->cases[i])) plan->cases[kept++] = plan->cases[i];
    plan->count = kept;
}

// The record of the case that comes next, should it never end; or that there is none.
static int announce(struct work *w)
{
    if (w->next >= w->c.plan.count) return say_done(w);
    struct result r = result_start(&w->c.plan.cases[w->next], &w->M);
    r.status = STATUS_CRASHED;
    int err = worker_say("case");
    return err ? err : record_result(&w->out, &r);
}

// "merge f32 k=64 layout=row: 0.1320 ms".
static void result_text(const struct result *r, char *text, size_t size)
{
    const struct bench_case *c = &r->c;
    const struct op *op = c->entry->op;
    char value[32];
    int used = snprintf(text, size, "%s %s", c->entry->name, prec_name(c->prec));
    for (int a = 0; op->axes[a] && used < (int)size; a++)
        used += snprintf(text + used, size - (size_t)used, " %s=%s", op->axes[a]->name,
                         axis_text(op->axes[a], c->axis[a], value));
    if (used >= (int)size) return;
    if (r->status == STATUS_OK && r->timed)
        snprintf(text + used, size - (size_t)used, ": %.4g ms", r->timing.median);
    else
        snprintf(text + used, size - (size_t)used, ": %s%s%s", status_name(r->status),
                 r->reason[0] ? ": " : "", r->reason);
}

static int tell(struct work *w, const struct result *r)
{
    char text[FAIL_TEXT_MAX];
    result_text(r, text, sizeof text);
    int err = worker_say("result %s %.3f %.3f %s", status_name(r->status), r->check_ms,
                         r->timing_ms, text);
    return err ? err : record_result(&w->out, r);
}

// After an illegal access nothing runs on the device until the process ends.
static bool is_dead(struct work *w, const struct result *r)
{
    struct bench_device *bd = bench_device_find(&w->c.devices, r->c.device);
    return r->status == STATUS_FAILED && bd && bd->dev && device_sync(bd->dev);
}

static int emit(const struct result *r, void *arg)
{
    struct work *w = arg;
    struct result counted = *r; // what it owns stays the caller's
    int err = OK;
    if (w->counters && r->timed)
        err = counters_measure(&w->tool, &r->c, w->M.path, &counted.counters);
    if (!err) err = tell(w, &counted);
    w->next++;
    if (!err && is_dead(w, r)) {
        err = worker_say("again");
        return err ? err : ERR_DEVICE;
    }
    return err ? err : announce(w);
}

// Of a matrix that is not there; the order may know more of the reason than who did not read it.
static int emit_unread(const struct result *r, void *arg)
{
    struct work *w = arg;
    struct result lost = *r;
    if (w->order->lost && r->status == STATUS_FAILED) lost.status = w->order->lost_as;
    return tell(w, &lost);
}

// Why there is no matrix, an error; fail_text() says it.
static int load(struct work *w, const struct options *o)
{
    const struct order *order = w->order;
    if (order->lost) return fail(ERR_INPUT, "%s", order->lost);
    return matrix_load(order->matrix, o->seed, &w->M);
}

static int lose_matrix(struct work *w, int load_err, const char *why)
{
    int err = matrix_name(w->order->matrix, &w->M);
    if (!err) err = worker_say("unread %s", why);
    if (err) return err;
    shorten_plan(w);
    return bench_unread(&w->c.plan, &w->c.devices, &w->M, load_err, why, emit_unread, w);
}

static int measure_matrix(struct work *w, const struct options *o)
{
    shorten_plan(w);
    int err = worker_say("loaded %lld %s", (long long)w->c.plan.count,
                         w->M.content[0] ? w->M.content : "-");
    w->counters = o->run.counters;
    if (w->counters) counters_open(&w->tool, w->c.primary, o->seed, omp_get_max_threads());
    enum worker_word told = WORD_MEASURE;
    if (!err && w->c.plan.count) err = worker_await(WORD_MEASURE, WORD_WATCHED, &told);
    w->watched = told == WORD_WATCHED;
    w->c.plan.quiet = keep_quiet;
    w->c.plan.quiet_arg = w;
    if (!err) err = announce(w);
    return err ? err : bench_matrix(&w->c.plan, &w->c.devices, &w->M, emit, w);
}

// The processors that are next to the device.
static int tell_near(const struct work *w)
{
    const struct bench_device *bd = bench_device_find(&w->c.devices, w->c.device);
    char path[128], list[CPUS_TEXT], address[sizeof bd->dev->address] = "";
    for (int i = 0; bd && bd->dev && bd->dev->address[i]; i++)
        address[i] = (char)tolower((unsigned char)bd->dev->address[i]); // as the system has it
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/local_cpulist", address);
    bool known = address[0] && sysfs_line(path, list, sizeof list);
    return known ? worker_say("near %s", list) : OK;
}

static int tell_plan(struct work *w)
{
    char key[CASE_KEY_MAX];
    int err = tell_near(w);
    for (int64_t i = 0; i < w->c.plan.count && !err; i++)
        err = worker_say("plan %s", case_prefix(&w->c.plan.cases[i], key));
    return err;
}

static int tell_environment(struct work *w)
{
    const struct texts *command = &w->order->command;
    int err = worker_say("environment");
    return err ? err
               : record_environment(&w->out, &w->c.devices, w->c.device, w->c.plan.op,
                                    (int)command->count, (char **)command->list);
}

static int work_on_matrix(struct work *w, const struct options *o)
{
    char why[FAIL_TEXT_MAX] = "";
    enum worker_word told;
    int load_err = load(w, o);
    if (load_err == ERR_INTERRUPTED) return load_err;
    if (load_err) snprintf(why, sizeof why, "%s", fail_text());
    int err = worker_say("read");
    if (!err) err = worker_await(WORD_ALONE, WORD_ALONE, &told);
    if (!err) err = look_at_device(w);
    if (!err) err = tell_environment(w);
    if (err) return err;
    return load_err ? lose_matrix(w, load_err, why) : measure_matrix(w, o);
}

// A standby gets its whole order now.
static int begin(struct work *w, struct order *order)
{
    enum worker_word told;
    int err = worker_await(WORD_BEGIN, WORD_BEGIN, &told);
    if (!err) err = worker_read_order(&w->read, order);
    w->order = order;
    return err;
}

static int work(struct work *w, struct options *o, struct order *second)
{
    int err = get_ready(w, o);
    if (!err && w->order->standby) err = begin(w, second);
    if (!err) err = open_devices(w, o);
    w->out = (struct record_file){.fd = WORKER_CHANNEL,
                                  .path = "the sweep",
                                  .seed = o->seed,
                                  .threads = omp_get_max_threads()};
    snprintf(w->out.run, sizeof w->out.run, "%s", w->order->run);
    if (!err && w->order->survey) err = look_at_device(w);
    if (!err && w->order->survey) err = tell_plan(w);
    if (!err && !w->order->survey) err = work_on_matrix(w, o);
    return err ? err : say_done(w);
}

int cli_worker(const struct request *q)
{
    struct options o = *q->o;
    struct order order, second = {.parent = 0};
    if (fcntl(WORKER_CHANNEL, F_GETFD) < 0)
        return fail(ERR_USAGE, "worker: 'spbench sweep' calls it, and nobody else");
    struct work w = {.order = &order, .out = {.fd = -1}};
    int err = worker_read_order(&w.read, &order);
    if (err) return err;
    err = tie(&order);
    if (!err) err = worker_say("tied");
    if (!err) err = work(&w, &o, &second);
    if (err) worker_say("error %d %s", err, fail_text());
    // What it has of the device the system takes back at once, and the next worker waits for that.
    q->outcome->exit_now = !err;
    if (err) {
        matrix_free(&w.M);
        bench_setup_free(&w.c);
    }
    order_free(&order);
    order_free(&second);
    return err;
}
