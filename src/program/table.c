#include "program/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// Four digits that count: 0.01234, 1.234, 123.4, 12345.
static const char *number_text(double x, char text[32])
{
    int decimals = x > 0 && isfinite(x) ? 3 - (int)floor(log10(x)) : 3;
    snprintf(text, 32, "%.*f", decimals < 0 ? 0 : decimals > 7 ? 7 : decimals, x);
    return text;
}

int table_start(struct table *t, const struct plan *plan, int matrix_count, bool quiet,
                bool verbose)
{
    *t = (struct table){.plan = plan,
                        .matrix_count = matrix_count,
                        .matrix = -1,
                        .case_count = bench_case_count(plan),
                        .start_ms = clock_ms(),
                        .quiet = quiet,
                        .verbose = verbose,
                        .terminal = !quiet && isatty(STDERR_FILENO)};
    t->alg_width = (int)strlen("algorithm");
    for (int i = 0; i < plan->entry_count; i++)
        t->alg_width = (int)max64(t->alg_width, (int64_t)strlen(plan->entries[i]->name));
    t->sparse = plan->entry_count && ops[plan->entries[0]->op].sparse_row;
    t->k_width = 4;
    for (int i = 0; i < plan->k_count && !t->sparse; i++)
        t->k_width = (int)max64(t->k_width, snprintf(NULL, 0, "%lld", (long long)plan->ks[i]));
    for (int i = 0; i < plan->layout_count && !t->sparse; i++)
        t->layout_column |= plan->layouts[i] == LAYOUT_COL;
    t->cases = mem_alloc(t->case_count, sizeof *t->cases);
    return t->cases ? OK : ERR_MEMORY;
}

void table_free(struct table *t)
{
    mem_free(t->cases);
    t->cases = NULL;
}

void table_clear(const struct table *t)
{
    if (t->terminal) fprintf(stderr, "\r\033[K");
}

void table_progress_text(const struct table *t, const char *text)
{
    if (t->terminal) fprintf(stderr, "\r\033[K%.78s", text);
}

// What stands in the column k: columns of the dense operands, or what SpGEMM multiplies.
static const char *k_text(const struct table *t, int64_t k, char text[32])
{
    if (t->sparse) return mul_name(t->plan->mul);
    snprintf(text, 32, "%lld", (long long)k);
    return text;
}

// The case that runs now, from its place in the order of bench_matrix().
static void show_progress(const struct table *t)
{
    const struct plan *p = t->plan;
    if (!t->terminal || t->done >= t->case_count) return;
    int64_t i = t->done;
    const char *alg = p->entries[i % p->entry_count]->name;
    i /= p->entry_count * p->layout_count;
    char k[32];
    const char *which = k_text(t, p->ks[i % p->k_count], k);
    const char *prec = prec_name(p->precs[i / p->k_count]);
    double all = (double)t->case_count * t->matrix_count;
    double done = (double)t->case_count * t->matrix + (double)t->done;
    double spent_s = (clock_ms() - t->start_ms) * 1e-3;
    char left[48] = "", line[256];
    if (t->done) {
        long long s = (long long)(spent_s / done * (all - done));
        snprintf(left, sizeof left, ", %lld:%02lld:%02lld left", s / 3600, s / 60 % 60, s % 60);
    }
    snprintf(line, sizeof line, "matrix %d/%d %.24s: %s %s %s%s [%.0f%%%s]", t->matrix + 1,
             t->matrix_count, t->matrix_name, alg, prec, t->sparse ? "" : "k ", which,
             100 * done / all, left);
    table_progress_text(t, line);
}

void table_loading(struct table *t, const char *name)
{
    t->matrix++;
    t->done = t->kept = 0;
    t->matrix_name = name;
    char line[256];
    snprintf(line, sizeof line, "matrix %d/%d %.40s: reading", t->matrix + 1, t->matrix_count,
             name);
    table_progress_text(t, line);
}

void table_matrix(struct table *t, const struct matrix *M)
{
    t->matrix_name = M->name;
    if (t->quiet) return;
    table_clear(t);
    char mean[32];
    fprintf(stderr,
            "%s%s: %d x %d, %lld nonzeros; rows: mean %s, longest %lld, cv %.2f, %lld empty\n",
            t->any ? "\n" : "", M->name, M->A.m, M->A.n, (long long)M->A.nnz,
            number_text(M->stats.row_mean, mean), (long long)M->stats.row_max, M->stats.row_cv,
            (long long)M->stats.empty_rows);
    t->any = true;
    if (t->verbose && M->load_mb_s > 0)
        fprintf(stderr, "  read in %.3g ms, %.3g MB/s; %s, %s%s%s\n", M->load_ms, M->load_mb_s,
                M->field, M->symmetry, M->values_drawn ? ", values drawn from the seed" : "",
                M->real_part ? ", real parts" : "");
    fprintf(stderr, "  %-*s  device  prec  %*s%s         ms   +-%%    GFLOPS  %%roof%s  check\n",
            t->alg_width, "algorithm", t->k_width, t->sparse ? "mul" : "k",
            t->layout_column ? "  layout" : "", t->sparse ? "  compr." : "");
    show_progress(t);
}

static void print_times(const struct table *t, const struct result *r)
{
    char ms[32], rate[32], roof[32] = "-", noise[32] = ">99";
    const struct timing *x = &r->timing;
    double percent = 100 * (x->ci_hi - x->ci_lo) / 2 / x->median;
    if (percent < 99.5) snprintf(noise, sizeof noise, percent < 9.95 ? "%.2f" : "%.0f", percent);
    if (r->bound_ms > 0) snprintf(roof, sizeof roof, "%.1f", 100 * r->efficiency);
    fprintf(stderr, "%11s  %4s  %8s  %5s", number_text(x->median, ms), noise,
            number_text(r->gflops, rate), roof);
    if (t->sparse && r->result_nnz)
        fprintf(stderr, "  %6.2f", (double)r->products / (double)r->result_nnz);
    else if (t->sparse)
        fprintf(stderr, "  %6s", "-");
    if (r->checked)
        fprintf(stderr, "  %s %.2f", r->check.method, r->check.error_ratio);
    else
        fprintf(stderr, "  not checked");
    if (r->cache_resident) fprintf(stderr, "; faster than memory: from the cache");
    if (x->throttled) fprintf(stderr, "; throttled");
    for (int i = 0; i < r->figure_count; i++)
        if (r->figures[i].text[0])
            fprintf(stderr, "; %s %s", r->figures[i].name, r->figures[i].text);
}

static void print_phases(const struct table *t, const struct result *r)
{
    fprintf(stderr, "  %-*s  %lld products, %lld nonzeros", t->alg_width, "",
            (long long)r->products, (long long)r->result_nnz);
    for (int i = 0; i < r->phases.count; i++)
        fprintf(stderr, "%s %s %.3f ms", i ? "," : "; phases:", r->phases.list[i].name,
                r->phases.list[i].ms);
    fprintf(stderr, "\n");
}

static void print_details(const struct table *t, const struct result *r)
{
    char peak[32], form[32];
    if (r->timed)
        fprintf(stderr, "  %-*s  %d samples of %d run%s after %d, stopped by %s; fastest %.6g ms\n",
                t->alg_width, "", r->timing.count, r->timing.batch, r->timing.batch > 1 ? "s" : "",
                r->timing.warmup, r->timing.stop, r->timing.min);
    fprintf(stderr,
            "  %-*s  convert %.3f ms, upload %.3f ms, analyse %.3f ms; peak %s, format %s\n",
            t->alg_width, "", r->setup.convert_ms, r->setup.upload_ms, r->setup.analyse_ms,
            size_text(r->peak_bytes, peak), size_text(r->format_bytes, form));
    if (t->sparse && r->timed) print_phases(t, r);
}

// One that repeats a product whose structure is known does less than the others: it is in no race.
static bool is_partial(const char *alg)
{
    static const char ending[] = "-reuse";
    size_t length = strlen(alg), tail = sizeof ending - 1;
    return length > tail && !strcmp(alg + length - tail, ending);
}

void table_result(struct table *t, const struct result *r)
{
    t->done++;
    if (r->status == STATUS_OK && r->timed && r->checked && !is_partial(r->entry->name))
        t->cases[t->kept++] =
            (struct table_case){r->entry->name,   r->prec,         r->k,           r->layout,
                                r->timing.median, r->timing.ci_lo, r->timing.ci_hi};
    if (t->quiet) return;
    table_clear(t);
    char k[32];
    fprintf(stderr, "  %-*s  %-6s  %-4s  %*s", t->alg_width, r->entry->name, r->device,
            prec_name(r->prec), t->k_width, k_text(t, r->k, k));
    if (t->layout_column) fprintf(stderr, "  %-6s", layout_name(r->layout));
    if (r->status == STATUS_OK && r->timed)
        print_times(t, r);
    else
        fprintf(stderr, "  %s%s%s", status_name(r->status), r->reason[0] ? ": " : "", r->reason);
    fprintf(stderr, "\n");
    if (t->verbose && r->format_bytes > 0) print_details(t, r);
    show_progress(t);
}

static bool same_group(const struct table_case *a, const struct table_case *b)
{
    return a->prec == b->prec && a->k == b->k && a->layout == b->layout;
}

// The fastest case of a group, of all or of the algorithms whose name begins with `prefix`.
static const struct table_case *fastest(const struct table *t, const struct table_case *group,
                                        const char *prefix)
{
    const struct table_case *best = NULL;
    for (int64_t i = 0; i < t->kept; i++) {
        const struct table_case *c = &t->cases[i];
        if (!same_group(c, group) || strncmp(c->alg, prefix, strlen(prefix))) continue;
        if (!best || c->median < best->median) best = c;
    }
    return best;
}

// The first algorithm of an operation in the list is its plain reference.
static const char *reference_name(const struct table *t)
{
    for (int i = 0; i < algo_count; i++)
        if (algos[i].op == t->plan->entries[0]->op) return algos[i].name;
    return "";
}

static void print_winner(const struct table *t, const struct table_case *group)
{
    char ms[32], k[32];
    const struct table_case *best = fastest(t, group, "");
    fprintf(stderr, "  fastest, %s %s%s%s%s: %s, %s ms", prec_name(group->prec),
            t->sparse ? "" : "k ", k_text(t, group->k, k), t->layout_column ? " " : "",
            t->layout_column ? layout_name(group->layout) : "", best->alg,
            number_text(best->median, ms));
    for (int64_t i = 0; i < t->kept; i++) {
        const struct table_case *c = &t->cases[i];
        if (c != best && same_group(c, best) && c->ci_lo <= best->ci_hi) {
            fprintf(stderr, " (%s is within the noise)", c->alg);
            break;
        }
    }
    // The vendor's best is the fair baseline; where there is none, the plain reference.
    const struct table_case *vendor = fastest(t, group, "cusparse");
    const struct table_case *base = vendor ? vendor : fastest(t, group, reference_name(t));
    if (base && base != best)
        fprintf(stderr, "; %.2f x as fast as %s", base->median / best->median, base->alg);
    fprintf(stderr, "\n");
}

void table_summary(struct table *t)
{
    if (t->quiet || t->plan->entry_count == 1) return; // one alone is no race
    table_clear(t);
    if (!t->kept) {
        fprintf(stderr, "  fastest: none, there is no checked result\n");
        return;
    }
    for (int64_t i = 0; i < t->kept; i++) {
        bool seen = false;
        for (int64_t j = 0; j < i && !seen; j++) seen = same_group(&t->cases[i], &t->cases[j]);
        if (!seen) print_winner(t, &t->cases[i]);
    }
}
