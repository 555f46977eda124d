#define _GNU_SOURCE // F_OFD_SETLKW
#include "run/record.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "device/roof.h"
#include "run/json.h"

// The Makefile says these.
#ifndef SPBENCH_VERSION
#define SPBENCH_VERSION "unknown"
#endif
#ifndef SPBENCH_REVISION
#define SPBENCH_REVISION "unknown"
#endif
#ifndef SPBENCH_FLAGS
#define SPBENCH_FLAGS "unknown"
#endif

const char *record_version(void) { return SPBENCH_VERSION " (" SPBENCH_REVISION ")"; }

static int cannot_write(const char *path)
{
    return fail(ERR_OUTPUT, "%s: cannot be written: %s", path, strerror(errno));
}

// Waits until no other process writes a line, and keeps them from it. A pipe has no locks, nor have
// some file systems: then it is false.
static bool lock_lines(int fd)
{
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = RECORD_LOCK_END};
    return !fcntl(fd, F_OFD_SETLKW, &all);
}

static void unlock_lines(int fd)
{
    struct flock all = {.l_type = F_UNLCK, .l_whence = SEEK_SET, .l_len = RECORD_LOCK_END};
    fcntl(fd, F_OFD_SETLK, &all);
}

// A line that a crash cut off stays a bad line of its own, instead of spoiling the next one. One
// that another process is writing is none of these.
static int end_last_line(int fd)
{
    char last = '\n';
    bool locked = lock_lines(fd);
    off_t size = lseek(fd, 0, SEEK_END);
    bool good = size <= 0 || pread(fd, &last, 1, size - 1) >= 0;
    if (good && last != '\n') good = write(fd, "\n", 1) == 1;
    int reason = errno;
    if (locked) unlock_lines(fd);
    errno = reason;
    return good ? 0 : -1;
}

// A matrix is easily named where the records should go. Their own files begin with a brace, also
// where a crash has left a part of a line.
static int check_kept(const char *path)
{
    struct stat facts;
    char first = '{';
    if (stat(path, &facts) || !S_ISREG(facts.st_mode)) return OK;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return cannot_write(path);
    int err = read(fd, &first, 1) < 0 ? cannot_write(path) : OK;
    close(fd);
    if (err || first == '{') return err;
    return fail(ERR_USAGE, "-o %s: is there, and no file of records; it is left as it is", path);
}

// Lines of a file that is to be replaced; 0 where it is none, or cannot be read.
static int64_t count_lines(const char *path)
{
    struct stat facts;
    char piece[1 << 16];
    ssize_t got;
    int64_t lines = 0;
    if (stat(path, &facts) || !S_ISREG(facts.st_mode)) return 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    while ((got = read(fd, piece, sizeof piece)) > 0)
        for (ssize_t i = 0; i < got; i++) lines += piece[i] == '\n';
    close(fd);
    return lines;
}

// Whether a sweep has the file: its records must not be taken from under it.
static bool has_sweep(int fd)
{
    struct flock mark = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = RECORD_LOCK_END, .l_len = 1};
    return !fcntl(fd, F_OFD_GETLK, &mark) && mark.l_type != F_UNLCK;
}

int record_empty(struct record_file *out)
{
    struct stat facts;
    if (fstat(out->fd, &facts)) return cannot_write(out->path);
    return S_ISREG(facts.st_mode) && ftruncate(out->fd, 0) ? cannot_write(out->path) : OK;
}

static int open_file(struct record_file *out, const char *path, bool append)
{
    int flags = O_CREAT | O_CLOEXEC | (append ? O_RDWR | O_APPEND : O_WRONLY);
    int err = check_kept(path);
    if (err) return err;
    if (!append) out->replaced = count_lines(path);
    int fd = open(path, flags, 0666);
    if (fd < 0 && errno == EINTR && interrupted) // a pipe that nobody reads
        return fail(ERR_INTERRUPTED, "%s: interrupted", path);
    if (fd < 0) return cannot_write(path);
    if (append && end_last_line(fd)) {
        err = cannot_write(path);
        close(fd);
        return err;
    }
    out->fd = fd;
    out->path = path;
    if (append) return OK;
    err = has_sweep(fd) ? fail(ERR_OUTPUT, "-o %s: a sweep is writing to it; -append adds", path)
                        : record_empty(out);
    if (err) record_close(out);
    return err;
}

int record_run_id(char run[17])
{
    uint64_t id;
    if (getentropy(&id, sizeof id))
        return fail(ERR_OUTPUT, "no random number to name the run: %s", strerror(errno));
    snprintf(run, 17, "%016llx", (unsigned long long)id);
    return OK;
}

int record_open(struct record_file *out, const char *path, bool append, uint64_t seed)
{
    *out = (struct record_file){
        .fd = -1, .path = "stdout", .seed = seed, .threads = omp_get_max_threads()};
    int err = record_run_id(out->run);
    if (err) return err;
    if (path && strcmp(path, "-")) return open_file(out, path, append);
    out->fd = STDOUT_FILENO;
    return OK;
}

int record_close(struct record_file *out)
{
    int fd = out->fd;
    out->fd = -1;
    if (fd < 0 || fd == STDOUT_FILENO) return OK;
    return close(fd) ? cannot_write(out->path) : OK;
}

// Of a line that does not fit nothing stays. Others may append to the same file: they wait, so that
// what is cut off at the end is no line of theirs.
static int write_locked(struct record_file *out, const char *line, bool locked)
{
    struct stat before;
    bool can_cut = locked && !fstat(out->fd, &before) && S_ISREG(before.st_mode);
    size_t left = strlen(line);
    while (left) {
        ssize_t n = write(out->fd, line, left);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            int err = cannot_write(out->path);
            // If this fails too, the half line stays; the message is the same.
            if (can_cut && ftruncate(out->fd, before.st_size)) return err;
            return err;
        }
        line += n;
        left -= (size_t)n;
    }
    return OK;
}

int record_line(struct record_file *out, const char *line)
{
    bool locked = lock_lines(out->fd);
    int err = write_locked(out, line, locked);
    if (locked) unlock_lines(out->fd);
    return err;
}

// Writes the document, if every node of it is there, and frees it.
static int write_document(struct record_file *out, struct json *j)
{
    char *line = json_line(j);
    int err = line ? record_line(out, line) : ERR_MEMORY;
    mem_free(line);
    json_free(j);
    return err;
}

// What all records of a run say.
static void add_run(struct json *j, const struct record_file *out)
{
    json_text(j, j->root, "run", out->run);
    json_whole(j, j->root, "seed", out->seed);
    json_number(j, j->root, "threads", out->threads);
}

// A measure of which 0 stands for "not known".
static void measure_or_null(struct json *j, cJSON *o, const char *name, double x)
{
    if (x != 0)
        json_measure(j, o, name, x);
    else
        json_null(j, o, name);
}

// What was not reached becomes null.
static double known_or_nan(bool known, int64_t x) { return known ? (double)x : NAN; }

static const char *iso_date(time_t when, char date[32])
{
    struct tm utc;
    strftime(date, 32, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&when, &utc));
    return date;
}

static void add_roof(struct json *j, cJSON *o, const struct roof *roof)
{
    char date[32];
    cJSON *r = json_object(j, o, "roof");
    json_text(j, r, "measured", roof->measured ? iso_date((time_t)roof->measured, date) : NULL);
    measure_or_null(j, r, "memory_gb_s", roof->memory_gb_s);
    measure_or_null(j, r, "copy_gb_s", roof->copy_gb_s);
    measure_or_null(j, r, "read_gb_s", roof->read_gb_s);
    measure_or_null(j, r, "cache_gb_s", roof->cache_gb_s);
    if (roof->cache_seen_bytes)
        json_number(j, r, "cache_seen_bytes", (double)roof->cache_seen_bytes);
    else
        json_null(j, r, "cache_seen_bytes");
    measure_or_null(j, r, "near_gb_s", roof->near_gb_s);
    cJSON *fma = json_object(j, r, "fma_gflops");
    measure_or_null(j, fma, prec_name(F32), roof->fma_gflops[F32]);
    measure_or_null(j, fma, prec_name(F64), roof->fma_gflops[F64]);
    cJSON *ladder = json_array(j, r, "ladder");
    for (int i = 0; i < roof->step_count; i++) {
        cJSON *step = json_object(j, ladder, NULL);
        json_number(j, step, "bytes", (double)roof->steps[i].bytes);
        json_measure(j, step, "gb_s", roof->steps[i].gb_s);
    }
    cJSON *gathers = json_array(j, r, "gathers");
    for (int i = 0; i < roof->gather_count * ROOF_ROWS; i++) {
        const struct roof_gather *g = &roof->gathers[i / ROOF_ROWS];
        cJSON *x = json_object(j, gathers, NULL);
        json_number(j, x, "bytes", (double)g->bytes);
        json_number(j, x, "row_bytes", roof_row_bytes[i % ROOF_ROWS]);
        json_measure(j, x, "gb_s", g->gb_s[i % ROOF_ROWS]);
    }
}

static void add_device(struct json *j, cJSON *array, const struct bench_device *bd)
{
    cJSON *o = json_object(j, array, NULL);
    json_text(j, o, "id", bd->id);
    if (!bd->dev) {
        json_text(j, o, "missing", bd->missing);
        return;
    }
    struct device *d = bd->dev;
    int now = 0, max = 0;
    if (d->ops->clock_mhz(d, &now, &max)) now = max = 0; // not known
    json_text(j, o, "kind", device_list[d->kind].name);
    json_text(j, o, "name", d->name);
    json_text(j, o, "detail", d->detail);
    if (d->address[0]) json_text(j, o, "address", d->address);
    json_text(j, o, "units_of", d->ops->units);
    json_number(j, o, "units", d->units);
    json_number(j, o, "memory_bytes", (double)d->memory_bytes);
    json_number(j, o, "cache_bytes", (double)d->cache_bytes);
    measure_or_null(j, o, "clock_mhz", now);
    measure_or_null(j, o, "clock_max_mhz", max);
    add_roof(j, o, &bd->roof);
}

// What a reader has to know to compare cases of this operation: nothing of it is in scripts.
static void add_operation(struct json *j, const struct op *op)
{
    cJSON *o = json_object(j, j->root, "operation");
    json_text(j, o, "name", op->name);
    json_text(j, o, "formula", op->formula);
    json_text(j, o, "result", result_name(op->result));
    cJSON *axes = json_array(j, o, "axes");
    for (int i = 0; op->axes[i]; i++) {
        const struct axis *axis = op->axes[i];
        cJSON *x = json_object(j, axes, NULL);
        json_text(j, x, "name", axis->name);
        json_text(j, x, "about", axis->about);
        if (!axis->words) continue;
        cJSON *words = json_array(j, x, "words");
        for (int w = 0; axis->words[w]; w++) json_text(j, words, NULL, axis->words[w]);
    }
    cJSON *figures = json_array(j, o, "figures");
    for (int i = 0; i < op_figure_count(op); i++) {
        cJSON *x = json_object(j, figures, NULL);
        json_text(j, x, "name", op->figures[i].name);
        json_text(j, x, "about", op->figures[i].about);
    }
}

// Only what is not as for most algorithms is there.
static void add_algorithm(struct json *j, cJSON *array, const struct algo_entry *e)
{
    const struct algo *a = e->algo;
    cJSON *o = json_object(j, array, NULL);
    json_text(j, o, "name", e->name);
    json_text(j, o, "device", device_list[e->device].name);
    const char *missing = algo_missing(e), *library = a && a->library ? a->library() : NULL;
    if (missing) json_text(j, o, "missing", missing);
    if (!a) return;
    if (a->vendor) json_text(j, o, "vendor", a->vendor);
    if (library) json_text(j, o, "library", library);
    if (a->partial) json_text(j, o, "partial", a->partial);
    if (a->reference) json_bool(j, o, "reference", true);
    if (a->tuned_of) json_text(j, o, "tuned_of", a->tuned_of);
    if (a->variant) json_text(j, o, "computes", e->op->variants[a->variant]);
    if (!a->picks[0]) return;
    cJSON *picks = json_array(j, o, "picks");
    for (int i = 0; i < COUNT(a->picks) && a->picks[i]; i++) json_text(j, picks, NULL, a->picks[i]);
}

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

static void add_host(struct json *j)
{
    char date[32], system[256] = "unknown";
    struct utsname host;
    bool named = !uname(&host);
    if (named)
        snprintf(system, sizeof system, "%s %s %s", host.sysname, host.release, host.machine);
    json_text(j, j->root, "date", iso_date(time(NULL), date));
    json_text(j, j->root, "host", named ? host.nodename : "unknown");
    json_text(j, j->root, "os", system);
}

int record_environment(struct record_file *out, const struct bench_devices *devices,
                       const char *main_device, const struct op *op, int argc, char **argv)
{
    struct json j;
    json_start(&j);
    json_text(&j, j.root, "schema", RECORD_SCHEMA);
    json_text(&j, j.root, "kind", "environment");
    add_run(&j, out);
    json_text(&j, j.root, "version", SPBENCH_VERSION);
    json_text(&j, j.root, "revision", SPBENCH_REVISION);
    add_host(&j);
    cJSON *command = json_array(&j, j.root, "command");
    for (int i = 0; i < argc; i++) json_text(&j, command, NULL, argv[i]);
    json_text(&j, j.root, "compiler", COMPILER);
    json_text(&j, j.root, "flags", SPBENCH_FLAGS);

    const struct bench_device *bd = bench_device_find(devices, main_device);
    json_text(&j, j.root, "device", bd && bd->dev ? bd->dev->name : NULL);
    add_roof(&j, j.root, bd ? &bd->roof : &(struct roof){0});
    cJSON *all = json_array(&j, j.root, "devices");
    for (int i = 0; i < devices->count; i++) add_device(&j, all, &devices->list[i]);
    add_operation(&j, op);
    cJSON *algorithms = json_array(&j, j.root, "algorithms");
    for (int i = 0; i < algo_count; i++)
        if (algos[i].op == op) add_algorithm(&j, algorithms, &algos[i]);
    return write_document(out, &j);
}

static void add_axes(struct json *j, const struct bench_case *c)
{
    const struct op *op = c->entry->op;
    for (int i = 0; op->axes[i]; i++)
        if (op->axes[i]->words)
            json_text(j, j->root, op->axes[i]->name, op->axes[i]->words[c->axis[i]]);
        else
            json_number(j, j->root, op->axes[i]->name, (double)c->axis[i]);
}

static void add_options(struct json *j, const struct bench_case *c)
{
    cJSON *o = json_object(j, j->root, "options");
    const struct algo *algo = c->entry->algo;
    for (int i = 0; algo && algo_param(algo, i); i++)
        json_number(j, o, algo_param(algo, i)->name, c->opt[i]);
}

static void add_matrix(struct json *j, const struct matrix *m)
{
    cJSON *o = json_object(j, j->root, "matrix");
    json_text(j, o, "name", m->name);
    json_text(j, o, "path", m->path);
    // Of a matrix that could not be loaded nothing else is known.
    bool known = m->field != NULL;
    const char *values = m->values_drawn ? "drawn" : m->real_part ? "real part" : "given";
    json_number(j, o, "rows", known_or_nan(known, m->A.m));
    json_number(j, o, "cols", known_or_nan(known, m->A.n));
    json_number(j, o, "nnz", known_or_nan(known, m->A.nnz));
    json_text(j, o, "field", m->field);
    json_text(j, o, "symmetry", m->symmetry);
    json_text(j, o, "values", known ? values : NULL);
    json_number(j, o, "duplicates", known_or_nan(known, m->duplicates));
    json_measure(j, o, "row_mean", known ? m->stats.row_mean : NAN);
    json_number(j, o, "row_max", known_or_nan(known, m->stats.row_max));
    json_measure(j, o, "row_cv", known ? m->stats.row_cv : NAN);
    json_measure(j, o, "load_ms", known ? m->load_ms : NAN);
    measure_or_null(j, o, "load_mb_s", m->load_mb_s);
    if (known)
        json_bool(j, o, "cached", m->cached);
    else
        json_null(j, o, "cached");
}

static void add_check(struct json *j, const struct result *r)
{
    if (!r->check.method) {
        json_null(j, j->root, "check");
        return;
    }
    cJSON *o = json_object(j, j->root, "check");
    json_text(j, o, "method", r->check.method);
    json_number(j, o, "elements", (double)r->check.elements);
    json_measure(j, o, "seen_share", r->checked ? r->check.seen_share : NAN);
    json_measure(j, o, "error_ratio", r->checked ? r->check.error_ratio : NAN);
    json_measure(j, o, "tolerance_share", r->checked ? r->check.tolerance_share : NAN);
    cJSON *timed = json_object(j, o, "timed");
    json_number(j, timed, "looked", (double)r->looks.looked);
    json_number(j, timed, "varied", (double)r->looks.varied);
    json_number(j, timed, "rechecked", (double)r->looks.rechecked);
}

// What else the host had to do.
static void add_machine(struct json *j, cJSON *time, const struct machine_load *load)
{
    cJSON *o = json_object(j, time, "machine");
    json_number(j, o, "switches", known_or_nan(load->switches >= 0, load->switches));
    json_measure(j, o, "steal", load->steal);
    json_measure(j, o, "others", load->others);
}

static void add_back_samples(struct json *j, cJSON *time, const struct timing *t)
{
    if (!t->back_samples) {
        json_null(j, time, "back_to_back_samples");
        return;
    }
    cJSON *samples = json_array(j, time, "back_to_back_samples");
    for (int i = 0; i < t->count; i++) json_measure(j, samples, NULL, t->back_samples[i]);
}

static void add_time(struct json *j, const struct result *r)
{
    const struct timing *t = &r->timing;
    if (!r->timed) {
        json_null(j, j->root, "time_ms");
        return;
    }
    cJSON *o = json_object(j, j->root, "time_ms");
    json_measure(j, o, "median", t->median);
    json_measure(j, o, "min", t->min);
    json_measure(j, o, "mean", t->mean);
    json_measure(j, o, "p5", t->p5);
    json_measure(j, o, "p95", t->p95);
    json_measure(j, o, "ci_lo", t->ci_lo);
    json_measure(j, o, "ci_hi", t->ci_hi);
    cJSON *samples = json_array(j, o, "samples");
    for (int i = 0; i < t->count; i++) json_measure(j, samples, NULL, t->samples[i]);
    json_number(j, o, "batch", t->batch);
    json_text(j, o, "launch", t->launch);
    json_measure(j, o, "separator", t->separator_ms);
    json_measure(j, o, "back_to_back", t->back_to_back);
    json_measure(j, o, "back_to_back_ci_lo", t->back_ci_lo);
    json_measure(j, o, "back_to_back_ci_hi", t->back_ci_hi);
    add_back_samples(j, o, t);
    json_number(j, o, "warmup", t->warmup);
    json_text(j, o, "stop", t->stop);
    json_bool(j, o, "busy", t->busy);
    add_machine(j, o, &t->machine);
    json_bool(j, o, "throttled", t->throttled);
    cJSON *clocks = json_array(j, o, "clock_mhz");
    for (int i = 0; i < 2; i++)
        if (t->clock_mhz[i])
            json_number(j, clocks, NULL, t->clock_mhz[i]);
        else
            json_null(j, clocks, NULL);
}

static void add_setup(struct json *j, const struct result *r)
{
    const struct setup *s = &r->setup;
    if (!r->prepared) { // it was refused before anything was ready
        json_null(j, j->root, "setup_ms");
        json_array(j, j->root, "formats");
        return;
    }
    double convert = setup_convert_ms(s), upload = setup_upload_ms(s);
    cJSON *o = json_object(j, j->root, "setup_ms");
    json_measure(j, o, "convert", convert);
    json_measure(j, o, "convert_warm", setup_warm_ms(s));
    json_measure(j, o, "upload", upload);
    json_measure(j, o, "analyse", s->analyse_ms);
    json_measure(j, o, "total", convert + upload + s->analyse_ms);
    cJSON *all = json_array(j, j->root, "formats");
    for (int i = 0; i < s->count; i++) {
        const struct format_use *f = &s->formats[i];
        cJSON *x = json_object(j, all, NULL);
        json_text(j, x, "of", f->of);
        json_text(j, x, "format", f->format->name);
        json_number(j, x, "bytes", (double)f->bytes);
        json_number(j, x, "csr_bytes", (double)f->csr_bytes);
        json_measure(j, x, "convert_ms", f->cost.convert_ms);
        json_measure(j, x, "convert_warm_ms", f->cost.warm_ms);
        json_measure(j, x, "upload_ms", f->cost.upload_ms);
    }
}

static void add_phases(struct json *j, const struct result *r)
{
    cJSON *o = json_object(j, j->root, "phases_ms");
    for (int i = 0; i < r->phases.count; i++)
        json_measure(j, o, r->phases.list[i].name, r->phases.list[i].ms);
}

// What records of the operation say besides.
static void add_figures(struct json *j, const struct result *r)
{
    const struct op *op = r->c.entry->op;
    for (int i = 0; i < op_figure_count(op); i++)
        if (op->figures[i].whole)
            json_number(j, j->root, op->figures[i].name, r->figures[i]);
        else
            json_measure(j, j->root, op->figures[i].name, r->figures[i]);
}

static void add_rates(struct json *j, const struct result *r)
{
    double none = NAN;
    bool bounded = r->timed && r->bound_ms > 0, gathers = r->timed && r->gather_ms > 0;
    json_number(j, j->root, "flops", known_or_nan(r->flops >= 0, r->flops));
    json_measure(j, j->root, "gflops", r->timed ? r->gflops : none);
    cJSON *bytes = json_object(j, j->root, "bytes");
    json_number(j, bytes, "compulsory",
                known_or_nan(r->compulsory_bytes >= 0, r->compulsory_bytes));
    json_number(j, bytes, "gather", known_or_nan(r->gather_bytes >= 0, r->gather_bytes));
    json_measure(j, j->root, "bound_ms", bounded ? r->bound_ms : none);
    json_measure(j, j->root, "efficiency", bounded ? r->efficiency : none);
    json_measure(j, j->root, "gather_ms", gathers ? r->gather_ms : none);
    json_measure(j, j->root, "gather_efficiency", gathers ? r->gather_efficiency : none);
    if (bounded)
        json_bool(j, j->root, "cache_resident", r->cache_resident);
    else
        json_null(j, j->root, "cache_resident");
}

// What is assumed of the caches -> a number.
static void add_predicted(struct json *j, cJSON *o, const char *name, const double *values)
{
    cJSON *x = json_object(j, o, name);
    for (int i = 0; i < PREDICT_KINDS; i++) json_measure(j, x, prediction_names[i], values[i]);
}

// Only where the algorithm has a model, and it says something of the case.
static void add_model(struct json *j, const struct prediction *p)
{
    if (!p->equation) return;
    cJSON *o = json_object(j, j->root, "model");
    json_number(j, o, "equation", p->equation);
    json_measure(j, o, "mu", p->mu);
    json_measure(j, o, "mu_segment", p->mu_segment);
    json_measure(j, o, "rho", p->rho);
    json_measure(j, o, "Z", p->Z);
    json_measure(j, o, "R", p->R);
    json_measure(j, o, "C", p->C);
    json_measure(j, o, "L", p->L);
    json_number(j, o, "delta", p->delta);
    add_predicted(j, o, "intensity", p->intensity);
    add_predicted(j, o, "gflops", p->gflops);
    json_measure(j, o, "whole_gflops", p->whole_gflops);
}

// [[ms, bytes], ...]: what was allocated from when on. Microseconds will do.
static void add_timeline(struct json *j, cJSON *memory, const struct device_trace *trace)
{
    cJSON *all = json_array(j, memory, "timeline");
    for (int64_t i = 0; i < trace->count; i++) {
        cJSON *moment = json_array(j, all, NULL);
        json_number(j, moment, NULL, floor(trace->moments[i].ms * 1e3 + 0.5) / 1e3);
        json_number(j, moment, NULL, (double)trace->moments[i].bytes);
    }
}

static void add_memory(struct json *j, const struct result *r)
{
    cJSON *o = json_object(j, j->root, "memory");
    int64_t format_bytes = r->setup.format_bytes;
    json_number(j, o, "peak_bytes", known_or_nan(r->peak_bytes > 0, r->peak_bytes));
    json_number(j, o, "format_bytes", known_or_nan(r->prepared, format_bytes));
    if (r->trace.count) add_timeline(j, o, &r->trace);
}

static void add_counters(struct json *j, const struct result *r)
{
    const struct counters *c = &r->counters;
    double none = NAN;
    if (!c->asked) {
        json_null(j, j->root, "counters");
        return;
    }
    cJSON *o = json_object(j, j->root, "counters");
    json_number(j, o, "memory_bytes", c->known ? c->memory_bytes : none);
    json_number(j, o, "l2_bytes", c->known ? c->l2_bytes : none);
    json_number(j, o, "l1_bytes", c->known ? c->l1_bytes : none);
    json_number(j, o, "kernels", known_or_nan(c->known, c->kernels));
    json_text(j, o, "tool", c->tool[0] ? c->tool : NULL);
    json_text(j, o, "reason", c->known ? NULL : c->reason);
}

static void add_stats(struct json *j, const struct result *r)
{
    cJSON *o = json_object(j, j->root, "stats");
    for (int i = 0; i < r->stats.count; i++) {
        const struct figure *f = &r->stats.list[i];
        if (f->text[0])
            json_text(j, o, f->name, f->text);
        else
            json_number(j, o, f->name, f->number);
    }
}

int record_result(struct record_file *out, const struct result *r)
{
    const struct bench_case *c = &r->c;
    char key[CASE_KEY_MAX];
    struct json j;
    json_start(&j);
    json_text(&j, j.root, "schema", RECORD_SCHEMA);
    json_text(&j, j.root, "kind", "result");
    json_text(&j, j.root, "status", status_name(r->status));
    json_text(&j, j.root, "reason", r->reason[0] ? r->reason : NULL);
    json_text(&j, j.root, "case", case_key(c, r->matrix, key));
    json_text(&j, j.root, "op", c->entry->op->name);
    json_text(&j, j.root, "alg", c->entry->name);
    json_text(&j, j.root, "device", c->device);
    json_text(&j, j.root, "prec", prec_name(c->prec));
    add_axes(&j, c);
    json_text(&j, j.root, "cache", c->cold ? "cold" : "warm");
    json_text(&j, j.root, "launch", c->stream ? "stream" : NULL);
    add_options(&j, c);
    json_text(&j, j.root, "library", case_library(c));
    add_run(&j, out);
    add_matrix(&j, r->matrix);
    add_check(&j, r);
    add_time(&j, r);
    add_setup(&j, r);
    add_phases(&j, r);
    add_figures(&j, r);
    add_rates(&j, r);
    add_model(&j, &r->model);
    add_counters(&j, r);
    add_memory(&j, r);
    add_stats(&j, r);
    return write_document(out, &j);
}
