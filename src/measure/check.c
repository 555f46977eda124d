#include "measure/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/secret.h"
#include "device/digest.h"
#include "measure/check_product.h"
#include "measure/whole.h"

// The worst element seen so far; j = -1 is a whole row's random combination.
struct worst {
    double ratio;
    int64_t i, j;
    double c, ref;
};

// Errors found in a result: of its elements, or of combinations of its rows.
struct seen {
    double largest; // absolute value of an element that should be there
    struct worst worst;
    struct tally tally;
    int64_t work; // multiply-adds of the rows that check_places() has computed
};

// Keeps the worse of two elements; of equal ones the first, whatever the number of threads.
static void worst_add(struct worst *w, struct worst x)
{
    bool first = x.i < w->i || (x.i == w->i && x.j < w->j);
    if (x.ratio > w->ratio || (x.ratio == w->ratio && x.ratio > 0 && first)) *w = x;
}

// Adds element c. `terms`: the most products of an element in its row.
static void seen_add(struct seen *s, const struct tolerance *tol, int64_t terms, struct worst c)
{
    c.ratio = error_ratio(c.c, c.ref, tol->element);
    if (c.j >= 0) s->largest = fmax(s->largest, fabs(c.ref));
    worst_add(&s->worst, c);
    tally_add(&s->tally, terms, fabs(c.c - c.ref), c.ref, tol);
}

static void seen_add_all(struct seen *s, const struct seen *other)
{
    s->largest = fmax(s->largest, other->largest);
    worst_add(&s->worst, other->worst);
    tally_add_all(&s->tally, &other->tally);
}

// Returns true if row i of the result has the columns of the reference; both ascend. Otherwise
// writes the first difference to `text`. `drops`: columns may be absent.
static bool same_columns(const struct output_view *R, int64_t i, const struct row *row, bool drops,
                         char text[160])
{
    const int64_t count = output_count(R, i);
    int64_t at = 0;
    for (int64_t e = 0; at < count && e < row->count; e++)
        if (output_col(R, i, at) < row->col[e]) {
            snprintf(text, 160, "row %lld of C has column %lld, which no product is in",
                     (long long)i, (long long)output_col(R, i, at));
            return false;
        } else if (output_col(R, i, at) == row->col[e]) {
            at++;
        } else if (!drops) {
            snprintf(text, 160, "row %lld of C lacks column %d", (long long)i, row->col[e]);
            return false;
        }
    if (at == count && (drops || count == row->count)) return true;
    if (drops) {
        snprintf(text, 160, "row %lld of C has column %lld, which no product is in", (long long)i,
                 (long long)output_col(R, i, at));
        return false;
    }
    snprintf(text, 160, "row %lld of C has %lld nonzeros and should have %lld", (long long)i,
             (long long)count, (long long)row->count);
    return false;
}

// Compares row i of the result with the reference `row`. Returns false if its structure is wrong.
static bool compare_row(const struct task *t, const struct output_view *R, int64_t i,
                        const struct row *row, struct seen *seen, char text[160])
{
    const bool sparse = R->p->op->result == RESULT_SPARSE,
               exact = R->p->integers && !algo_sums_narrow(t->algo, t->prec);
    const enum prec out = prec_out(t->prec);
    if (sparse && !same_columns(R, i, row, t->algo->drops_zeros, text)) return false;
    int64_t at = 0; // next entry of the result
    for (int64_t e = 0; e < row->count; e++) {
        const int64_t j = sparse ? row->col[e] : output_col(R, i, e);
        const bool dropped = sparse && (at == output_count(R, i) || output_col(R, i, at) != j);
        const double c = dropped ? 0 : output_at(R, i, at++),
                     want = exact ? type_round(out, row->ref[e]) : row->ref[e];
        struct tolerance tol =
            tolerance_of(t, sparse ? row->each[e] : row->terms, want, row->error[e]);
        seen_add(seen, &tol, row->terms, (struct worst){0, i, j, c, want});
    }
    return true;
}

static int compare_rows(const struct task *t, const struct output_view *R, struct reference *ref,
                        struct seen *seen, struct check *out)
{
    int err = OK;
    int64_t elements = 0, work = 0, broken = ref->count; // the first row whose structure is wrong
#pragma omp parallel reduction(+ : elements, work)
    {
        struct seen mine = {0};
        struct row room;
        char text[160] = "";
        int64_t my_broken = ref->count;
        bool failed = row_alloc(&room, ref->p, ref->room) != OK;
        if (failed) fail_drop(); // the text of this thread
#pragma omp for schedule(dynamic, 16)
        for (int64_t x = 0; x < ref->count; x++) {
            if (failed || interrupted || my_broken < x) continue;
            const int32_t i = reference_row_number(ref, x);
            struct row row = reference_row(ref, x, &room);
            if (compare_row(t, R, i, &row, &mine, text))
                elements += output_count(R, i), work += ref->p->op->row_work(ref->p, i);
            else
                my_broken = x;
        }
#pragma omp critical
        {
            seen_add_all(seen, &mine);
            if (my_broken < broken) {
                broken = my_broken;
                memcpy(out->reason, text, sizeof text);
            }
            if (failed) err = ERR_MEMORY;
        }
        if (!failed) row_free(&room);
    }
    out->elements = elements;
    out->seen_share = ref->full || !ref->p->work ? 1 : (double)work / (double)ref->p->work;
    return err ? fail(ERR_MEMORY, "out of host memory for the reference") : OK;
}

// Returns true if all rows of the result have the columns of their products. Otherwise writes the
// first other row to `text`. `drops`: columns may be absent, so only their number is compared.
// compare_projections() then finds a column without a product.
static bool same_patterns(const struct output_view *R, const struct reference *ref, bool drops,
                          char text[160])
{
    int64_t m = ref->p->rows, broken = m;
#pragma omp parallel for schedule(dynamic, 64) reduction(min : broken)
    for (int64_t i = 0; i < m; i++) {
        const struct row_pattern *want = &ref->projection.pattern[i];
        const int64_t count = output_count(R, i);
        uint64_t hash = 0;
        for (int64_t e = 0; e < count; e++) hash += op_column_hash(output_col(R, i, e));
        const bool same = count == want->count && hash == want->hash;
        if (!same && !(drops && count < want->count)) broken = min64(broken, i);
    }
    if (broken == m) return true;
    int64_t count = output_count(R, broken), want = ref->projection.pattern[broken].count;
    if (count != want)
        snprintf(text, 160, "row %lld of C has %lld nonzeros and should have %s%lld",
                 (long long)broken, (long long)count, drops ? "at most " : "", (long long)want);
    else
        snprintf(text, 160, "row %lld of C has other columns than its products", (long long)broken);
    return false;
}

static int compare_projections(const struct task *t, const struct output_view *R,
                               const struct reference *ref, struct seen *seen)
{
    const struct problem *p = ref->p;
    const struct projection *x = &ref->projection;
    double *weight = mem_alloc(p->cols, sizeof *weight);
    if (!weight) return ERR_MEMORY;
#pragma omp parallel
    {
        struct seen mine = {0};
#pragma omp for schedule(static)
        for (int64_t j = 0; j < p->cols; j++) weight[j] = op_weight(p, j);
#pragma omp for schedule(dynamic, 64)
        for (int64_t i = 0; i < p->rows; i++) {
            int64_t count = output_count(R, i), products = p->op->row_work(p, (int32_t)i);
            double got = 0;
            for (int64_t e = 0; e < count; e++)
                got += output_at(R, i, e) * weight[output_col(R, i, e)];
            struct tolerance tol = tolerance_of_row(t, products + count, count, x, i);
            seen_add(&mine, &tol, products / max64(count, 1),
                     (struct worst){0, i, -1, got, x->want[i]});
        }
#pragma omp critical
        seen_add_all(seen, &mine);
    }
    mem_free(weight);
    return OK;
}

static void tell_worst(const struct worst *w, struct check *out)
{
    if (w->j >= 0)
        snprintf(out->reason, sizeof out->reason, "C(%lld, %lld) is %.9g and should be %.9g",
                 (long long)w->i, (long long)w->j, w->c, w->ref);
    else
        snprintf(out->reason, sizeof out->reason,
                 "row %lld of C times x is %.9g and should be %.9g", (long long)w->i, w->c, w->ref);
}

// A result with a larger tolerance share is not called right: errors could hide in the tolerance.
#define SHARE_MAX 0.01
// The same with a check on whole numbers. A plug-in could be exact for these alone.
#define SHARE_MAX_PLUGIN 0.1

static void tell_verdict(const struct task *t, const struct problem *p, const struct seen *elements,
                         const struct seen *rows, struct check *out)
{
    int64_t draws = p->op->result == RESULT_DENSE ? p->cols : INT64_MAX;
    int bucket, row_bucket;
    double norm = tally_norm(&elements->tally, draws, &bucket);
    double row_norm = tally_norm(&rows->tally, draws, &row_bucket);
    struct worst worst = elements->worst;
    worst_add(&worst, rows->worst);
    if (row_norm > norm) norm = row_norm, bucket = row_bucket;
    out->error_ratio = fmax(worst.ratio, norm);
    const struct error_shares shares = tally_shares(&elements->tally);
    out->tolerance_share = shares.tolerance;
    out->value_error = shares.error;
    out->ok = out->error_ratio <= 1;
    out->blind = out->ok && !(out->tolerance_share <= SHARE_MAX);
    if (!(worst.ratio <= 1))
        tell_worst(&worst, out);
    else if (!out->ok)
        snprintf(out->reason, sizeof out->reason,
                 "C, where about 2^%d products are summed, is %.3g times as inexact as rounding "
                 "explains",
                 bucket, norm);
    else if (out->blind)
        snprintf(out->reason, sizeof out->reason,
                 "not checked: the tolerance is %.2g %% of the typical element: rounding in %s "
                 "hides what is wrong%s",
                 100 * out->tolerance_share, prec_name(t->prec),
                 prec_sum(t->prec) == F32 ? "; try -prec f64" : "");
    if (out->blind) out->ok = false;
}

// Share of its norm that A may lose by rounding. Above this share nothing is left to check.
#define LOST_MAX 0.5

// Returns true, with the reason, if A or the result is out of the range of its type. Unless the
// host compared all elements, a bound of the sums counts. The bound also excuses a wrong element of
// sums in 16 bits: a partial sum may overflow although the result is small.
static bool out_of_range(const struct task *t, const struct problem *p, const struct seen *elements,
                         struct check *out)
{
    const enum prec in = prec_in(t->prec), type = prec_out(t->prec);
    const bool exact = out->method[0] == 'f' &&
                       (elements->worst.ratio <= 1 || !algo_sums_narrow(t->algo, t->prec));
    const double value = source_value(p->source), result = exact ? elements->largest : p->bound;
    if (!isfinite(type_round(in, value)))
        snprintf(out->reason, sizeof out->reason, "values of A of up to %.4g overflow %s", value,
                 prec_name(in));
    else if (source_rounding(p->source, in) > LOST_MAX)
        snprintf(out->reason, sizeof out->reason, "values of A of up to %.4g vanish in %s", value,
                 prec_name(in));
    else if (!isfinite(type_round(type, result)))
        snprintf(out->reason, sizeof out->reason, "sums of up to %.4g overflow %s", result,
                 prec_name(type));
    return out->reason[0];
}

// Sets the verdict. `rows`: errors of random combinations of all rows, in a sampled check.
static void conclude(const struct task *t, const struct problem *p, const struct seen *elements,
                     const struct seen *rows, struct check *out)
{
    if (out->reason[0]) {
        out->ok = false;
        out->error_ratio = HUGE_VAL;
    } else if (out_of_range(t, p, elements, out)) {
        out->blind = true;
        out->ok = false;
    } else {
        tell_verdict(t, p, elements, rows, out);
    }
}

static bool is_full(const struct problem *p, enum check_mode mode)
{
    return mode == CHECK_FULL || p->rows <= SAMPLE_RANDOM || !p->op->project ||
           (mode == CHECK_AUTO && problem_flops(p) <= CHECK_FULL_FLOPS);
}

static int compare(const struct task *t, const struct output_view *R, struct reference *ref,
                   enum check_mode mode, struct check *out)
{
    struct seen elements = {0}, rows = {0};
    bool full = is_full(ref->p, mode);
    out->method = full ? "full" : "sample";
    memcpy(out->reason, R->broken, sizeof out->reason);
    int err = out->reason[0] ? OK : reference_make(ref, t->algo->variant, full);
    bool patterns = !err && !out->reason[0] && ref->projection.pattern;
    if (!patterns || same_patterns(R, ref, t->algo->drops_zeros, out->reason)) {
        if (!err && !out->reason[0]) err = compare_rows(t, R, ref, &elements, out);
        if (!err && !out->reason[0] && !full) err = compare_projections(t, R, ref, &rows);
    }
    if (err) return unchecked(err);
    if (interrupted) return fail(ERR_INTERRUPTED, "interrupted");
    conclude(t, ref->p, &elements, &rows, out);
    return OK;
}

// Room for the reference of a row. Its scratch memory can be as long as the result is wide.
struct row_room {
    struct row row;
    int64_t size;
};

static int need_room(struct row_room *room, const struct problem *p, int64_t i)
{
    const int64_t size = p->op->row_room(p, (int32_t)i);
    if (size <= room->size && room->row.ref) return OK;
    row_free(&room->row);
    room->size = size;
    return row_alloc(&room->row, p, size);
}

// Compares row i of a sparse result, which is on the device. `same` is false if its structure is
// wrong.
static int compare_one(const struct task *t, struct output_view *R, int64_t i,
                       struct row_room *room, struct seen *seen, char text[160], bool *same)
{
    const struct problem *p = R->p;
    int err = output_row(t, R, i);
    *same = !R->broken[0];
    if (err || !*same) return err;
    err = need_room(room, p, i);
    if (err) return err;
    p->op->row(p, t->algo->variant, (int32_t)i, &room->row);
    *same = compare_row(t, R, i, &room->row, seen, text);
    return OK;
}

// Compares the row with the device's worst fault on the host, which decides. Sets `agreed` to false
// if the host finds no fault.
static int find_wrong(const struct task *t, struct output_view *R, const struct product_seen *d,
                      struct worst *worst, bool *agreed)
{
    struct seen row = {0};
    struct row_room room = {.size = 0};
    const bool broken = d->broken_row >= 0 || d->another_row >= 0;
    bool same = true;
    int64_t i = d->broken_row >= 0 ? d->broken_row : broken ? d->another_row : d->worst_row;
    worst->ratio = d->worst;
    if (!broken && d->worst <= 1) return OK;
    int err = compare_one(t, R, i, &room, &row, R->broken, &same);
    row_free(&room.row);
    *worst = row.worst;
    *agreed = broken ? !same : !(row.worst.ratio <= 1);
    return err;
}

// Compares all of a sparse product on the device. Sets `decided` to false if the device cannot.
static int compare_on_device(const struct task *t, const struct problem *p, struct check *out,
                             bool *decided)
{
    struct seen elements = {0}, rows = {0};
    struct product_seen d = {0}; // rows by product_check()
    struct output_view R;
    int err = output_starts(t, p, &R);
    out->method = "full";
    *decided = true;
    if (!err && !R.broken[0]) {
        err = product_check(t, p, R.ptr, PRODUCT_BATCH, &d);
        if (!err) err = find_wrong(t, &R, &d, &elements.worst, decided);
        elements.tally = d.tally;
        elements.largest = p->bound;
        out->elements = R.broken[0] ? 0 : R.nnz;
        out->seen_share = 1;
    }
    memcpy(out->reason, R.broken, sizeof out->reason);
    output_free(&R);
    if (err == ERR_MEMORY || err == ERR_UNCHECKED) *decided = false, err = fail_drop();
    if (!err && *decided) conclude(t, p, &elements, &rows, out);
    return err;
}

int check_result(struct task *t, struct reference *ref, enum check_mode mode, struct check *out)
{
    const struct check start = {.ok = true, .result_nnz = t->R.nnz};
    bool decided = false;
    int err = OK;
    *out = start;
    if (mode != CHECK_SAMPLE && product_is_on_device(t, ref->p))
        err = compare_on_device(t, ref->p, out, &decided);
    if (!err && !decided) {
        struct output_view R = {0};
        *out = start;
        err = output_download(t, ref->p, &R);
        if (!err) err = compare(t, &R, ref, mode, out);
        output_free(&R);
    }
    if (!err && (out->ok || out->blind)) err = output_digest(t, &out->digest);
    return err;
}

int check_once(struct task *t, const struct problem *p, enum check_mode mode, struct check *out)
{
    struct reference ref;
    reference_init(&ref, p);
    int err = check_result(t, &ref, mode, out);
    reference_free(&ref);
    return err;
}

// Limits of check_places(): multiply-adds of the computed rows, and rows of a sparse result.
#define PLACES_WORK ((int64_t)1 << 17)
#define PLACES_ROWS 8

// A place of a result that is not sparse.
struct place {
    int64_t i, e; // row, and index of the element in the row
};

// Returns the row of nonzero q.
static int64_t row_of(const struct csr *A, int64_t q)
{
    int64_t low = 0, high = A->m; // ptr[low] <= q < ptr[high]
    while (high - low > 1) {
        const int64_t mid = low + (high - low) / 2;
        if (A->ptr[mid] <= q)
            low = mid;
        else
            high = mid;
    }
    return low;
}

// Sets *x to the place of element `at`.
static int find_place(const struct task *t, const struct problem *p, int64_t at, struct place *x)
{
    const struct dense_dev *C = &t->C;
    int32_t row;
    if (!C->val) {
        x->i = row_of(p->A, at);
        x->e = at - p->A->ptr[x->i];
        return OK;
    }
    const int64_t line = at / C->ld, e = at % C->ld;
    *x = C->layout == LAYOUT_ROW ? (struct place){line, e} : (struct place){e, line};
    if (!t->order) return OK;
    int err = device_download(t->dev, &row, t->order + x->i, sizeof row);
    x->i = row;
    return err || (row >= 0 && row < p->rows) ? err : fail(ERR_WRONG, "no row %d in C", row);
}

static int compare_place(const struct task *t, const struct problem *p, int64_t at, double c,
                         struct row_room *room, struct seen *seen)
{
    struct place x;
    struct row *row = &room->row;
    int err = find_place(t, p, at, &x);
    if (!err) err = need_room(room, p, x.i);
    if (err) return err;
    p->op->row(p, t->algo->variant, (int32_t)x.i, row);
    const struct tolerance tol = tolerance_of(t, row->terms, row->ref[x.e], row->error[x.e]);
    const int64_t j = t->C.val ? x.e : p->A->idx[p->A->ptr[x.i] + x.e];
    const bool overflows = isinf(c) && c == type_round(prec_out(t->prec), row->ref[x.e]);
    if (!overflows) seen_add(seen, &tol, row->terms, (struct worst){0, x.i, j, c, row->ref[x.e]});
    seen->work += p->op->row_work(p, (int32_t)x.i) + 1;
    return OK;
}

static int compare_spots(const struct task *t, const struct problem *p, uint64_t seed,
                         struct seen *seen)
{
    const struct device_view v = output_values(t);
    const enum prec type = prec_out(t->prec);
    uint64_t spots[DEVICE_SPOTS];
    struct row_room room = {.size = 0};
    int err = device_fetch(t->dev, &v, seed, spots);
    // Spots that are still NaN come first.
    for (int unwritten = 1; unwritten >= 0; unwritten--)
        for (int64_t s = 0; s < digest_spots(&v) && !err && seen->work < PLACES_WORK; s++) {
            const double c = type_load(type, spots, s);
            if ((isnan(c) != 0) == unwritten)
                err = compare_place(t, p, digest_spot(&v, seed, s), c, &room, seen);
        }
    row_free(&room.row);
    return err;
}

// Compares rows of random nonzeros, and any rows. The longest row comes first, so that room is
// allocated once.
static int compare_some_rows(const struct task *t, const struct problem *p, struct seen *seen,
                             char text[160])
{
    struct output_view R;
    struct row_room room = {.size = 0};
    int64_t rows[PLACES_ROWS];
    bool same;
    int err = p->rows ? output_starts(t, p, &R) : OK;
    if (err || !p->rows) return err;
    for (int x = 0; x < PLACES_ROWS; x++) {
        rows[x] = x % 2 && p->A->nnz ? row_of(p->A, (int64_t)(secret() % (uint64_t)p->A->nnz))
                                     : (int64_t)(secret() % (uint64_t)p->rows);
        if (p->op->row_room(p, (int32_t)rows[x]) <= p->op->row_room(p, (int32_t)rows[0])) continue;
        const int64_t first = rows[0];
        rows[0] = rows[x], rows[x] = first;
    }
    for (int x = 0; x < PLACES_ROWS && !err && !R.broken[0] && seen->work < PLACES_WORK; x++) {
        seen->work += p->op->row_work(p, (int32_t)rows[x]) + 1;
        err = compare_one(t, &R, rows[x], &room, seen, R.broken, &same);
    }
    memcpy(text, R.broken, sizeof R.broken);
    row_free(&room.row);
    output_free(&R);
    return err;
}

int check_places(struct task *t, const struct problem *p, uint64_t seed, struct tally *tally,
                 struct check *out)
{
    struct seen seen = {0}, none = {0};
    *out = (struct check){.method = "places", .ok = true};
    int err = p->op->result == RESULT_SPARSE ? compare_some_rows(t, p, &seen, out->reason)
                                             : compare_spots(t, p, seed, &seen);
    if (err == ERR_WRONG) { // an order of rows that has no such row
        snprintf(out->reason, sizeof out->reason, "%s", fail_text());
        err = fail_drop();
    }
    if (err) return unchecked(err);
    tally_add_all(&seen.tally, tally);
    *tally = seen.tally;
    if (out->reason[0])
        out->ok = false, out->error_ratio = HUGE_VAL;
    else
        tell_verdict(t, p, &seen, &none, out);
    // With these signs a partial sum may overflow. Infinite elements could hide anything.
    if (!out->ok && !isfinite(seen.worst.c) && !isfinite(type_round(prec_out(t->prec), p->bound))) {
        out->blind = true;
        out->tolerance_share = 0;
    }
    return OK;
}

// Runs the task once, with a poisoned result. Sets *ms to the time, with the wait for the device.
static int run_poisoned(struct task *t, double *ms)
{
    t->dev->poison = true;
    int err = output_poison(t);
    if (!err) err = device_sync(t->dev);
    const double start = clock_ms();
    if (!err) err = task_run(t);
    if (!err) err = device_sync(t->dev);
    *ms = clock_ms() - start;
    t->dev->poison = false;
    return err;
}

// Checks a run on operands with other signs. A result of the operands' own values is wrong.
static int look_at_changed(struct task *t, struct change *change, struct check *out)
{
    struct tally tally = {0};
    double first_ms = 0;
    int err = change_all(change);
    if (!err) err = run_poisoned(t, &first_ms);
    const struct problem now = change_problem(change);
    if (!err && t->algo->finish) err = unchecked(t->algo->finish(t));
    if (!err) err = device_sync(t->dev);
    if (!err) err = check_places(t, &now, secret(), &tally, out);
    if (!err) err = change_end(change);
    task_release_result(t);
    out->first_more_ms = first_ms;
    return err;
}

// Checks a run on whole numbers. Changes a blind `out` to ok or wrong.
static int look_at_whole(struct task *t, enum check_mode mode, struct change *change,
                         struct check *out)
{
    const struct problem *p = change->o->p;
    const enum check_mode once = p->op->product || mode == CHECK_FULL ? mode : CHECK_SAMPLE;
    struct whole w;
    struct check found = {.ok = false};
    double ms;
    int err = unchecked(whole_make(p, algo_sums(t->algo, t->prec), &w));
    if (err) return err;
    err = change_values(change, &w.p);
    if (!err) err = run_poisoned(t, &ms);
    if (!err && t->algo->finish) err = unchecked(t->algo->finish(t));
    if (!err) err = device_sync(t->dev);
    // The tolerance is 0, so a random combination of all elements shows each error.
    t->exact = true;
    if (!err) err = check_once(t, &w.p, once, &found);
    t->exact = false;
    task_release_result(t);
    if (!err) err = change_end(change);
    whole_free(&w);
    if (err || found.blind) return err;
    out->blind = false;
    out->ok = found.ok;
    out->reason[0] = 0;
    if (found.ok) return OK;
    out->error_ratio = found.error_ratio;
    snprintf(out->reason, sizeof out->reason, "with whole numbers: %.130s", found.reason);
    return OK;
}

int check_task(struct task *t, struct reference *ref, enum check_mode mode, struct change *change,
               struct check *out)
{
    struct check changed = {.ok = true};
    *out = (struct check){.method = "off", .ok = true};
    int err = OK;
    if (mode != CHECK_OFF && change) {
        err = look_at_changed(t, change, &changed);
    } else {
        err = run_poisoned(t, &changed.first_more_ms);
        task_release_result(t);
    }
    double second_ms = 0;
    if (!err) err = run_poisoned(t, &second_ms);
    if (!err && t->algo->finish && mode != CHECK_OFF)
        err = unchecked(t->algo->finish(t)); // only the check needs it
    if (!err) err = device_sync(t->dev);
    out->result_nnz = t->R.nnz;
    if (!err && mode != CHECK_OFF) err = check_result(t, ref, mode, out);
    out->first_more_ms = changed.first_more_ms - second_ms;
    task_release_result(t);
    if (!err && out->blind && !check_overflows(out) && algo_sums_narrow(t->algo, t->prec) &&
        (!t->algo->plugin || out->tolerance_share <= SHARE_MAX_PLUGIN) && change &&
        change_reaches_sparse(change))
        err = look_at_whole(t, mode, change, out);
    const bool overflows = check_overflows(&changed);
    if (!err && out->ok && !changed.ok && (overflows || !changed.blind)) {
        out->ok = false;
        out->blind = overflows;
        out->error_ratio = changed.error_ratio;
        snprintf(out->reason, sizeof out->reason, "with other operands: %.130s", changed.reason);
    }
    if (err) out->method = NULL;
    return err;
}
