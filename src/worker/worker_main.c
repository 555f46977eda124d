#include "worker/worker_main.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/memory_limit.h"
#include "base/stamp.h"
#include "base/sysfs.h"
#include "bench/isolation.h"
#include "cli/options/bench_setup.h"
#include "measure/roof_file.h"
#include "records/record.h"
#include "sweep/protocol.h"
#include "sweep/worker_config.h"
#include "worker/worker_conform.h"

struct work {
    const struct worker_request *request;
    struct bench_setup c;
    struct record_file out; // the channel
    struct matrix M;
    int64_t left;    // cases of the plan without a result
    double begin_ms; // time of the last line `case`; 0: no case is under way
    bool done;       // the line done is written
    const struct algo_plugin *plugin; // the plug-in that is loaded; NULL: none
    struct counter_tool tool;
    bool counters;
};

static int end_plan(struct work *w)
{
    int err = w->done ? OK : protocol_say(LINE_DONE);
    w->done = true;
    return err;
}

// The plan's quiet(): requests a quiet device from the parent before the first timing.
static int keep_quiet(void *arg, bool on)
{
    (void)arg;
    int err = protocol_say(on ? LINE_QUIET : LINE_LOUD);
    return !err && on ? protocol_await(WORD_GO) : err;
}

// Sets the default action of four signals, so that a signal of an algorithm ends the worker. An
// ignored signal stays ignored, such as SIGHUP under nohup. Ctrl-C reaches only the parent: the
// worker has its own process group.
static void reset_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGALRM};
    struct sigaction now;
    for (int i = 0; i < COUNT(signals); i++)
        if (!sigaction(signals[i], NULL, &now) && now.sa_handler != SIG_IGN)
            signal(signals[i], SIG_DFL);
}

// Makes the process end with its parent. Makes the system end this process first if memory runs
// out.
static int tie(const struct worker_request *request)
{
    reset_signals();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_CHILD_SUBREAPER, 1); // descendants stay below this process
    if (getppid() != request->parent) return fail(ERR_INTERRUPTED, "the sweep has ended");
    for (int fd = WORKER_CHANNEL; fd <= WORKER_STAMPS; fd++)
        if (fd != WORKER_INPUT && fcntl(fd, F_SETFD, FD_CLOEXEC))
            return fail(ERR_USAGE, "a channel to the sweep is not open");
    stamp_open(WORKER_STAMPS);
    FILE *f = fopen("/proc/self/oom_score_adj", "we");
    if (f) fputs("1000", f), fclose(f);
    memory_limit_set(request->memory_bytes);
    struct cpus own;
    if (request->cpus) cpus_parse(request->cpus, &own), cpus_pin(&own); // else all processors
    return OK;
}

// Returns true if the file is loaded into this process.
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

// Returns ERR_USAGE if the library of the request is not loaded.
static int check_library(const struct worker_request *request)
{
    if (!request->library || is_loaded(request->library)) return OK;
    return fail(ERR_USAGE, "%s: the loader did not load this file", request->library);
}

// Adds the algorithms of the plug-ins, by the descriptions of the request.
static int learn_plugins(const struct work *w)
{
    const struct texts *known = &w->request->plugins;
    const struct algo_plugin *facts;
    int err = OK;
    for (int64_t i = 0; i < known->count && !err; i++) {
        err = plugin_learn(known->list[i], &facts);
        if (!err) err = plugin_look(facts);
    }
    return err;
}

// Describes the plug-ins to the parent.
static int describe_plugins(struct work *w, const struct options *o)
{
    int err = OK;
    for (int i = 0; i < o->plugin_count && !err; i++) {
        char *json = NULL;
        err = plugin_load_new(o->plugins[i], &json);
        if (!err) err = protocol_say(LINE_PLUGIN);
        if (!err) err = record_line(&w->out, json);
        mem_free(json);
    }
    return err ? err : end_plan(w);
}

static int conform(struct work *w, const struct options *o)
{
    int err = check_library(w->request);
    if (!err) err = learn_plugins(w);
    if (!err) err = worker_conform(w->request, o);
    return err ? err : end_plan(w);
}

// Does all work that needs neither the device nor the matrix. Counting devices starts the driver
// and opens no device.
static int get_ready(struct work *w, struct options *o)
{
    o->device = w->request->device;
    int err = check_library(w->request);
    if (!err) err = learn_plugins(w);
    if (!err) err = bench_setup_make(&w->c, o);
    if (!err && device_list[w->c.primary].ops) device_count(w->c.primary);
    return err;
}

// Opens the devices. ERR_DEVICE: the device is not the expected one.
static int open_devices(struct work *w, const struct options *o)
{
    const struct worker_request *request = w->request;
    int err = bench_setup_open(&w->c, o);
    if (err) return err;
    if (request->expected && strcmp(request->expected, w->c.device))
        return fail(ERR_DEVICE, "%s is not there any more: %s", request->expected, w->c.fallback);
    err = protocol_say(LINE_OPENED);
    if (!err && w->c.fallback[0])
        err = protocol_say_text(LINE_NOTE, "running on the CPU: %s", w->c.fallback);
    return err;
}

// Reads or measures the ceilings, and reports the device. No other worker uses the device.
static int open_roof(struct work *w)
{
    int err = bench_setup_measure_roofs(&w->c, false);
    if (err && err != ERR_INTERRUPTED) { // times and checks need no roof
        err = protocol_say_text(LINE_NOTE, "no roof: %s", fail_text());
    }
    const struct bench_device *bd = bench_device_find(&w->c.devices, w->c.device);
    if (!err)
        err = protocol_say_text(LINE_DEVICE, "%s %d %s", w->c.device, device_count(w->c.primary),
                                bd && bd->dev ? bd->dev->name : w->c.device);
    return err;
}

// Returns true if a case is finished: by its key, by the key of an unreadable matrix, or by key and
// content. The matrix counts by its name alone if it cannot be read now.
static bool is_done(const struct work *w, const struct bench_case *c)
{
    const struct texts *done = &w->request->done;
    const struct matrix unread = {.name = w->M.name};
    char key[CASE_KEY_MAX];
    if (texts_has(&w->request->without, case_prefix(c, key))) return true;
    for (int64_t i = 0; i < done->count && !w->M.field; i++)
        if (!strncmp(done->list[i], key, strlen(key)) && done->list[i][strlen(key)] == ' ' &&
            case_key_prefix(done->list[i], w->M.name) == (int64_t)strlen(key))
            return true;
    if (texts_has(done, case_key(c, &unread, key)) || texts_has(done, case_key(c, &w->M, key)))
        return true;
    char unverified[CONTENT_LETTERS + 2 + CASE_KEY_MAX];
    snprintf(unverified, sizeof unverified, "%s %s", w->M.content, key);
    return texts_has(&w->request->unverified, unverified);
}

// Removes finished cases from the plan.
static void shorten_plan(struct work *w)
{
    struct plan *plan = &w->c.plan;
    int64_t kept = 0;
    for (int64_t i = 0; i < plan->count; i++)
        if (!is_done(w, &plan->cases[i])) plan->cases[kept++] = plan->cases[i];
    plan->count = kept;
}

// Loads a plug-in. The state of the process before is that of each case. Ceilings stay as they are.
static int load_plugin(struct work *w, const struct algo_plugin *plugin)
{
    int err = isolation_start();
    roof_file_close();
    w->plugin = plugin;
    return err ? err : plugin_load(plugin);
}

// Lets another worker take the other cases.
static int leave_cases(void)
{
    int err = protocol_say(LINE_AGAIN);
    return err ? err : ERR_DEVICE;
}

// Announces a case and loads its plug-in. Sends the record that counts if the worker crashes. A
// worker that has loaded another plug-in leaves the case.
static int announce(void *arg, const struct bench_case *c)
{
    struct work *w = arg;
    const struct algo_plugin *plugin = c->entry->algo->plugin;
    if (w->plugin && plugin != w->plugin) return leave_cases();
    struct result r = result_start(c, &w->M);
    r.status = STATUS_CRASHED;
    w->begin_ms = clock_ms();
    int err = protocol_say(LINE_CASE);
    if (!err) err = record_result(&w->out, &r);
    return err || plugin == w->plugin ? err : load_plugin(w, plugin);
}

static int report(struct work *w, const struct result *r)
{
    char text[FAIL_TEXT_MAX];
    result_text(r, text, sizeof text);
    double all_ms = w->begin_ms > 0 ? clock_ms() - w->begin_ms : -1;
    int err = protocol_say_text(LINE_RESULT, "%s %.3f %.3f %.3f %s", status_name(r->status),
                                r->check_ms, r->timing_ms, all_ms, text);
    return err ? err : record_result(&w->out, r);
}

// Returns true if the device is dead: after an illegal access nothing runs until the process ends.
static bool is_dead(struct work *w, const struct result *r)
{
    struct bench_device *bd = bench_device_find(&w->c.devices, r->c.device);
    return r->status == STATUS_FAILED && bd && bd->dev && device_sync(bd->dev);
}

static int emit(const struct result *r, void *arg)
{
    struct work *w = arg;
    struct result counted = *r; // the caller keeps the memory
    int err = OK;
    if (w->counters && r->timed)
        err = counters_measure(&w->tool, &r->c, w->M.path, &counted.counters);
    if (!err) err = report(w, &counted);
    w->begin_ms = 0;
    w->left--;
    if (!err && (is_dead(w, r) || isolation_spoiled())) return leave_cases();
    return err || w->left ? err : end_plan(w);
}

// Emits a case of an unreadable matrix. The request can have the status of an earlier worker.
static int emit_unread(const struct result *r, void *arg)
{
    struct work *w = arg;
    struct result lost = *r;
    if (w->request->lost && r->status == STATUS_FAILED) lost.status = w->request->lost_as;
    return report(w, &lost);
}

// Loads the matrix; fails with the reason of an earlier worker, if the request has one.
static int load(struct work *w, const struct options *o)
{
    const struct worker_request *request = w->request;
    if (request->lost) return fail(ERR_INPUT, "%s", request->lost);
    // stdin had the requests, which are read. Then stdin becomes that of the sweep.
    if (!strcmp(request->matrix, "-") && dup2(WORKER_INPUT, STDIN_FILENO) < 0)
        return fail(ERR_INPUT, "-: no stdin: %s", strerror(errno));
    return matrix_load(request->matrix, o->seed, &w->M);
}

static int lose_matrix(struct work *w, int load_err, const char *why)
{
    int err = matrix_name(w->request->matrix, &w->M);
    if (!err) err = protocol_say_text(LINE_UNREAD, "%s", why);
    if (err) return err;
    shorten_plan(w);
    return bench_unread(&w->c.plan, &w->c.devices, &w->M, load_err, why, emit_unread, w);
}

static int measure_matrix(struct work *w, const struct options *o)
{
    shorten_plan(w);
    int err = protocol_say_text(LINE_LOADED, "%lld %s", (long long)w->c.plan.count,
                                w->M.content[0] ? w->M.content : "-");
    w->counters = o->run.counters;
    if (w->counters) counters_open(&w->tool, w->c.primary, o->seed, omp_get_max_threads());
    w->tool.no_cache = o->run.no_cache;
    w->left = w->c.plan.count;
    w->c.plan.quiet = keep_quiet;
    w->c.plan.begin = announce;
    w->c.plan.hook_arg = w;
    return err ? err : bench_matrix(&w->c.plan, &w->c.devices, &w->M, emit, w);
}

// Reports the processors next to the device.
static int report_near(const struct work *w)
{
    const struct bench_device *bd = bench_device_find(&w->c.devices, w->c.device);
    char path[128], list[CPUS_TEXT], address[sizeof bd->dev->address] = "";
    for (int i = 0; bd && bd->dev && bd->dev->address[i]; i++)
        address[i] = (char)tolower((unsigned char)bd->dev->address[i]); // sysfs has small letters
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/local_cpulist", address);
    bool known = address[0] && sysfs_line(path, list, sizeof list);
    return known ? protocol_say_text(LINE_NEAR, "%s", list) : OK;
}

static int report_plan(struct work *w)
{
    char key[CASE_KEY_MAX];
    int err = report_near(w);
    for (int64_t i = 0; i < w->c.plan.count && !err; i++)
        err = protocol_say_text(LINE_PLAN, "%s", case_prefix(&w->c.plan.cases[i], key));
    return err;
}

static int report_environment(struct work *w)
{
    const struct texts *command = &w->request->command;
    int err = protocol_say(LINE_ENVIRONMENT);
    return err ? err
               : record_environment(&w->out, &w->c.devices, w->c.device, w->c.plan.op,
                                    (int)command->count, (char **)command->list);
}

static int work_on_matrix(struct work *w, const struct options *o)
{
    char why[FAIL_TEXT_MAX] = "";
    int load_err = load(w, o);
    if (load_err == ERR_INTERRUPTED) return load_err;
    if (load_err) snprintf(why, sizeof why, "%s", fail_text());
    int err = protocol_say(LINE_READ);
    if (!err) err = protocol_await(WORD_GO);
    if (!err) err = open_roof(w);
    if (!err) err = report_environment(w);
    if (err) return err;
    return load_err ? lose_matrix(w, load_err, why) : measure_matrix(w, o);
}

// Waits as a standby, then reads the second request.
static int begin(struct work *w, struct worker_request *request)
{
    int err = protocol_await(WORD_BEGIN);
    if (!err) err = protocol_read_request(request);
    w->request = request;
    return err;
}

static int work(struct work *w, struct options *o, struct worker_request *second)
{
    w->out = (struct record_file){.fd = WORKER_CHANNEL,
                                  .path = "the sweep",
                                  .seed = o->seed,
                                  .threads = omp_get_max_threads()};
    if (w->request->describe) return describe_plugins(w, o);
    if (w->request->conform) return conform(w, o);
    int err = get_ready(w, o);
    if (!err && w->request->survey && w->request->standby) err = report_plan(w);
    if (!err) err = protocol_say(LINE_READY);
    if (!err && w->request->standby) err = begin(w, second);
    if (!err) err = open_devices(w, o);
    snprintf(w->out.run, sizeof w->out.run, "%s", w->request->run);
    if (!err && w->request->survey) err = open_roof(w);
    if (!err && w->request->survey) err = report_plan(w);
    if (!err && !w->request->survey) err = work_on_matrix(w, o);
    return err ? err : end_plan(w);
}

int worker_main(const struct options *given)
{
    struct options o = *given;
    struct worker_request request, second = {.parent = 0};
    if (fcntl(WORKER_CHANNEL, F_GETFD) < 0)
        return fail(ERR_USAGE, "worker: only spbench itself starts a worker");
    struct work w = {.request = &request, .out = {.fd = -1}};
    int err = protocol_read_request(&request);
    if (err) return err;
    err = tie(&request);
    if (!err) err = protocol_say(LINE_TIED);
    if (!err) err = work(&w, &o, &second);
    if (err) protocol_say_text(LINE_ERROR, "%d %s", err, fail_text());
    // The end of the process frees the device faster than freeing each part.
    if (err) {
        matrix_free(&w.M);
        bench_setup_free(&w.c);
    }
    worker_request_free(&request);
    worker_request_free(&second);
    return err;
}
