#include "report/summary.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/words.h"

#define NAME_SIZE 512 // characters of an algorithm with its options

// Returns the blank that ends the word at p, or the end of the text.
static char *word_end(char *p) { return p + strcspn(p, " "); }

// Cuts the key into the parts of the row: operation, algorithm and device, inputs, variant, matrix.
static int split_key(struct summary_row *row, int64_t prefix)
{
    char head[NAME_SIZE];
    int length = snprintf(head, sizeof head, "%s %s ", row->op, row->rank.alg);
    if (length >= (int)sizeof head || strncmp(row->key, head, (size_t)length)) return ERR_INPUT;
    row->key[prefix] = 0;
    row->size_name = row->key + prefix + 1;
    row->matrix = strchr(row->size_name, ' ') + 1;
    row->id = row->key + length;
    char *p = word_end(row->key + length);
    if (!*p) return ERR_INPUT;
    *p = 0;
    if (!row->device) row->device = row->id;
    row->inputs = ++p;
    char *end = word_end(p);
    while (*end && strncmp(p, "cache=", 6)) p = end + 1, end = word_end(p);
    if (*end && !strncmp(end + 1, "launch=", 7)) end = word_end(end + 1);
    row->variant = *end ? end + 1 : end;
    *end = 0;
    return OK;
}

// Returns the optional axis of an operation that a word of a variant names; NULL: none.
static const struct axis *axis_of(const char *op_name, const char *word)
{
    const struct op *op = op_find(op_name);
    for (int a = 0; op && op->axes[a]; a++) {
        const size_t length = strlen(op->axes[a]->name);
        if (op->axes[a]->optional && !strncmp(word, op->axes[a]->name, length) &&
            word[length] == '=')
            return op->axes[a];
    }
    return NULL;
}

// Adds optional axes of the variant to the inputs: the values that give the same product. `text`:
// memory of `size` bytes.
static void add_products(struct summary_row *row, char *text, size_t size)
{
    char word[NAME_SIZE], values[AXIS_PRODUCT_TEXT];
    bool any = false;
    snprintf(text, size, "%s", row->inputs);
    for (const char *p = row->variant; *p; p += strcspn(p, " "), p += *p == ' ') {
        const struct axis *axis = axis_of(row->op, p);
        snprintf(word, sizeof word, "%.*s", (int)strcspn(p, " "), p);
        const int64_t value = axis ? axis_word(axis, strchr(word, '=') + 1) : -1;
        if (value < 0) continue;
        words_print(text, size, " %s=%s", axis->name, axis_product_text(axis, value, values));
        any = true;
    }
    if (any) row->inputs = text;
}

int summary_add(struct summaries *s, const struct summary_row *row, const char *key,
                const char *matrix)
{
    int64_t prefix = case_key_prefix(key, matrix), size = (int64_t)strlen(key) + 1;
    int err = mem_grow((void **)&s->rows, &s->room, s->count, sizeof *s->rows);
    if (err) return err;
    struct summary_row *added = &s->rows[s->count];
    *added = *row;
    if (row->partial) added->rank.ms = NAN;
    added->key = mem_alloc(2 * size + AXIS_PRODUCT_TEXT, 1);
    if (!added->key) return ERR_MEMORY;
    memcpy(added->key, key, (size_t)size);
    err = prefix ? split_key(added, prefix) : ERR_INPUT;
    if (!err) add_products(added, added->key + size, (size_t)size + AXIS_PRODUCT_TEXT);
    if (!err) return s->count++, OK;
    mem_free(added->key);
    return fail(ERR_INPUT, "the key does not match the record: %s", key);
}

static void free_line(struct summary_line *line)
{
    mem_free(line->name);
    mem_free(line->cells);
}

static void free_table(struct summary_table *t)
{
    for (int64_t i = 0; i < t->line_count; i++) free_line(&t->lines[i]);
    mem_free(t->lines);
    mem_free(t->matrices);
    mem_free(t->base_rows);
}

void summaries_free(struct summaries *s)
{
    for (int64_t i = 0; i < s->count; i++) mem_free(s->rows[i].key);
    for (int i = 0; i < s->table_count; i++) free_table(&s->tables[i]);
    mem_free(s->rows);
    mem_free(s->tables);
    *s = (struct summaries){0};
}

bool summary_fits(const char *list, const char *word)
{
    char item[NAME_SIZE];
    for (const char *p = list; *p; p += strcspn(p, ","), p += *p == ',') {
        snprintf(item, sizeof item, "%.*s", (int)strcspn(p, ","), p);
        if (!strcmp(item, word) || !strcmp(item, "all") || !fnmatch(item, word, 0)) return true;
    }
    return false;
}

static bool same_table(const struct summary_row *a, const struct summary_row *b)
{
    return !strcmp(a->op, b->op) && !strcmp(a->inputs, b->inputs) &&
           !strcmp(a->device, b->device) && !strcmp(a->revision, b->revision);
}

static bool same_line(const struct summary_row *a, const struct summary_row *b)
{
    return !strcmp(a->rank.alg, b->rank.alg) && !strcmp(a->variant, b->variant) &&
           !strcmp(a->id, b->id);
}

// Rows of a matrix are mostly neighbours.
int64_t summary_find_matrix(const struct summary_table *t, const char *size_name)
{
    for (int64_t j = t->matrix_count - 1; j >= 0; j--)
        if (!strcmp(t->matrices[j]->size_name, size_name)) return j;
    return -1;
}

static int64_t find_line(const struct summary_table *t, const struct summary_row *row)
{
    for (int64_t i = 0; i < t->line_count; i++)
        if (same_line(t->lines[i].row, row)) return i;
    return -1;
}

static int find_tables(struct summaries *s)
{
    s->tables = mem_zero_alloc(s->count, sizeof *s->tables);
    if (!s->tables) return ERR_MEMORY;
    for (int64_t r = 0; r < s->count; r++) {
        int at = s->table_count - 1;
        while (at >= 0 && !same_table(s->tables[at].row, &s->rows[r])) at--;
        if (at < 0) at = s->table_count++, s->tables[at].row = &s->rows[r];
        s->tables[at].rows++;
    }
    return OK;
}

// Makes matrices, lines and cells of a table from its rows. The last of two rows of a case counts.
static int fill_table(struct summaries *s, struct summary_table *t)
{
    t->matrices = mem_alloc(t->rows, sizeof *t->matrices);
    t->lines = mem_zero_alloc(t->rows, sizeof *t->lines);
    if (!t->matrices || !t->lines) return ERR_MEMORY;
    for (int64_t r = 0; r < s->count; r++) {
        const struct summary_row *row = &s->rows[r];
        if (!same_table(t->row, row)) continue;
        if (summary_find_matrix(t, row->size_name) < 0) t->matrices[t->matrix_count++] = row;
        if (find_line(t, row) < 0) t->lines[t->line_count++].row = row;
    }
    for (int64_t i = 0; i < t->line_count; i++) {
        t->lines[i].cells = mem_zero_alloc(t->matrix_count, sizeof *t->lines[i].cells);
        if (!t->lines[i].cells) return ERR_MEMORY;
    }
    for (int64_t r = 0; r < s->count; r++) {
        struct summary_row *row = &s->rows[r];
        if (same_table(t->row, row))
            t->lines[find_line(t, row)].cells[summary_find_matrix(t, row->size_name)] = row;
    }
    t->base_rows = mem_zero_alloc(t->matrix_count, sizeof *t->base_rows);
    return t->base_rows ? OK : ERR_MEMORY;
}

static bool has_word(const char *text, const char *word, size_t length)
{
    for (const char *p = text; *p; p += strcspn(p, " "), p += *p == ' ')
        if (strcspn(p, " ") == length && !memcmp(p, word, length)) return true;
    return false;
}

// Returns true if another line of the same algorithm lacks this word of its variant.
static bool distinguishes(const struct summary_table *t, const struct summary_line *line,
                          const char *word, size_t length)
{
    for (int64_t i = 0; i < t->line_count; i++)
        if (!strcmp(t->lines[i].row->rank.alg, line->row->rank.alg) &&
            !has_word(t->lines[i].row->variant, word, length))
            return true;
    return false;
}

static int name_lines(struct summary_table *t)
{
    for (int64_t i = 0; i < t->line_count; i++) {
        struct summary_line *line = &t->lines[i];
        char name[NAME_SIZE], word[NAME_SIZE];
        snprintf(name, sizeof name, "%s", line->row->rank.alg);
        for (const char *p = line->row->variant; *p; p += strcspn(p, " "), p += *p == ' ') {
            size_t length = strcspn(p, " ");
            snprintf(word, sizeof word, "%.*s", (int)length, p);
            if (axis_of(line->row->op, p) || distinguishes(t, line, p, length))
                words_add(name, sizeof name, " ", word);
        }
        const char *own = line->row->own_device;
        if (own && strcmp(own, line->row->device))
            words_add(name, sizeof name, " on ", line->row->id);
        line->name = mem_copy_text(name, strlen(name));
        if (!line->name) return ERR_MEMORY;
    }
    return OK;
}

static double cell_ms(const struct summary_table *t, int64_t i, int64_t j)
{
    const struct summary_row *row = t->lines[i].cells[j];
    return row ? row->rank.ms : NAN;
}

// Candidates for the baseline: the named algorithms, a vendor's algorithms, or all but references
// and dense products.
enum base_kind { BASE_NAMED, BASE_VENDOR, BASE_ANY };

static bool may_be_base(const struct summary_row *row, enum base_kind kind, const char *name)
{
    if (row->rank.dense && kind != BASE_NAMED) return false;
    if (kind == BASE_VENDOR) return row->rank.vendor != NULL;
    if (kind == BASE_ANY) return !row->rank.reference;
    return !strcmp(row->rank.alg, name) || (row->rank.vendor && !strcmp(row->rank.vendor, name));
}

// Fills base_rows with the fastest candidate for the baseline, and counts its marks. Returns true
// if any has a time.
static bool take_base(struct summary_table *t, enum base_kind kind, const char *name)
{
    t->base_times = (struct doubt_counts){0};
    t->base_fewer = 0;
    for (int64_t j = 0; j < t->matrix_count; j++) {
        bool failed = false;
        t->base_rows[j] = NULL;
        for (int64_t i = 0; i < t->line_count; i++) {
            struct summary_row *row = t->lines[i].cells[j];
            if (!row || !may_be_base(row, kind, name)) continue;
            failed |= !row->partial && !status_is_good(row->status);
            if (!isnan(row->rank.ms) && !(summary_base_ms(t, j) <= row->rank.ms))
                t->base_rows[j] = row;
        }
        if (!t->base_rows[j]) continue;
        doubt_count(&t->base_times, t->base_rows[j]->doubt);
        t->base_fewer += failed;
    }
    return t->base_times.times;
}

// Writes the vendor's name, "cuSPARSE", or several.
static void vendor_names(const struct summary_table *t, char *text, size_t size)
{
    text[0] = 0;
    for (int64_t i = 0; i < t->line_count; i++) {
        const char *vendor = t->lines[i].row->rank.vendor;
        bool known = !vendor || t->lines[i].row->rank.dense;
        for (int64_t k = 0; k < i && !known; k++)
            known = t->lines[k].row->rank.vendor && !strcmp(t->lines[k].row->rank.vendor, vendor);
        if (!known) words_and(text, size, vendor);
    }
}

static void find_base(struct summary_table *t, const char *name)
{
    char vendors[128];
    t->compared = true;
    if (name) {
        bool any = take_base(t, BASE_NAMED, name);
        snprintf(t->base, sizeof t->base, "%.128s%s", name, any ? "" : ", without a time here");
    } else if (take_base(t, BASE_VENDOR, NULL)) {
        vendor_names(t, vendors, sizeof vendors);
        snprintf(t->base, sizeof t->base, "best of %s", vendors);
    } else {
        bool any = take_base(t, BASE_ANY, NULL);
        t->compared = false;
        snprintf(t->base, sizeof t->base, any ? "fastest of all" : "nothing");
    }
}

// Moves line `from` before line `to`. The lines between keep their order.
static void move_line(struct summary_table *t, int64_t from, int64_t to)
{
    const struct summary_line line = t->lines[from];
    memmove(&t->lines[to + 1], &t->lines[to], (size_t)(from - to) * sizeof line);
    t->lines[to] = line;
}

// Keeps the lines that match the rule's algorithms, in that order.
static void choose_lines(struct summary_table *t, const char *algs)
{
    char item[NAME_SIZE];
    int64_t kept = 0;
    for (const char *p = algs; *p; p += strcspn(p, ","), p += *p == ',') {
        snprintf(item, sizeof item, "%.*s", (int)strcspn(p, ","), p);
        for (int64_t i = kept; i < t->line_count; i++)
            if (summary_fits(item, t->lines[i].row->rank.alg)) move_line(t, i, kept++);
    }
    while (t->line_count > kept) free_line(&t->lines[--t->line_count]);
}

double summary_speedup(const struct summary_table *t, int64_t i, int64_t j)
{
    return summary_base_ms(t, j) / cell_ms(t, i, j);
}

// Counts the times and failures of a line, and finds its worst case.
static void count_line(const struct summary_table *t, int64_t i)
{
    struct summary_line *line = &t->lines[i];
    line->mean = line->mean_ms = line->over_best = line->worst = NAN;
    line->worst_at = -1;
    for (int64_t j = 0; j < t->matrix_count; j++) {
        const struct summary_row *row = t->lines[i].cells[j];
        double x = summary_speedup(t, i, j);
        if (!isnan(cell_ms(t, i, j))) {
            line->timed++;
            line->few += (row->doubt & DOUBT_FEW) != 0;
            line->busy += (row->doubt & DOUBT_BUSY) != 0;
        }
        line->failed += row && !status_is_good(row->status);
        if (isnan(x) || line->worst <= x) continue;
        line->worst = x;
        line->worst_at = j;
        line->worst_doubt = row->doubt | t->base_rows[j]->doubt;
    }
}

// Returns the index of the fastest line on matrix j; -1: no line has a time.
static int64_t fastest_line(const struct summary_table *t, int64_t j)
{
    int64_t best = -1;
    for (int64_t i = 0; i < t->line_count; i++) {
        double ms = cell_ms(t, i, j);
        if (!isnan(ms) && (best < 0 || ms < cell_ms(t, best, j))) best = i;
    }
    return best;
}

const struct summary_row *summary_fastest(const struct summary_table *t, int64_t j)
{
    int64_t best = fastest_line(t, j);
    return best < 0 ? NULL : t->lines[best].cells[j];
}

// Counts a win for the fastest line on a matrix if the baseline has a time and is not faster. The
// baseline may be hidden.
static void count_win(struct summary_table *t, int64_t j)
{
    int64_t best = fastest_line(t, j);
    if (best < 0) return;
    struct summary_line *line = &t->lines[best];
    t->unopposed += !t->base_rows[j];
    if (!(cell_ms(t, best, j) <= summary_base_ms(t, j))) return;
    line->wins++;
    line->wins_doubt |= line->cells[j]->doubt | t->base_rows[j]->doubt;
}

// Sets the ranks of the lines on matrix j. `list`: scratch memory, size line_count.
static void rank_lines(const struct summary_table *t, int64_t j, struct rank_case **list)
{
    int count = 0;
    for (int64_t i = 0; i < t->line_count; i++) {
        if (!t->lines[i].cells[j]) continue;
        list[count] = &t->lines[i].cells[j]->rank;
        list[count++]->name = t->lines[i].name;
    }
    rank_make(list, count);
}

// Returns the median of numbers of runs, which may be INFINITY. An even count gives the larger
// middle value. Returns NAN if most cases have no preparation.
static double median_runs(double *runs, int count)
{
    timing_median(runs, count); // sorts the numbers
    return runs[count / 2] > 0 ? runs[count / 2] : NAN;
}

// Compares the lines on each matrix. Then takes the medians of prep_ms and pays_after.
static int compare_lines(struct summary_table *t)
{
    struct rank_case **list = mem_alloc(t->line_count, sizeof *list);
    double *prep = mem_alloc(t->matrix_count, sizeof *prep);
    double *pays = mem_alloc(t->matrix_count, sizeof *pays);
    int err = list && prep && pays ? OK : ERR_MEMORY;
    for (int64_t j = 0; j < t->matrix_count && !err; j++) rank_lines(t, j, list);
    for (int64_t i = 0; i < t->line_count && !err; i++) {
        struct summary_line *line = &t->lines[i];
        int count = 0;
        for (int64_t j = 0; j < t->matrix_count; j++) {
            const struct summary_row *row = t->lines[i].cells[j];
            if (!row || isnan(row->rank.ms) || isnan(row->rank.prep_ms)) continue;
            prep[count] = row->rank.prep_ms;
            pays[count++] = isnan(row->rank.pays_after) ? 0 : row->rank.pays_after;
        }
        line->prep_ms = count ? timing_median(prep, count) : NAN;
        line->pays_after = count ? median_runs(pays, count) : NAN;
    }
    mem_free(list);
    mem_free(prep);
    mem_free(pays);
    return err;
}

// Returns true if the baseline and all lines with any time have a time on the matrix.
static bool is_shared(const struct summary_table *t, int64_t j)
{
    bool all = t->base_rows[j] != NULL;
    for (int64_t i = 0; i < t->line_count && all; i++)
        all = !t->lines[i].timed || !isnan(cell_ms(t, i, j));
    return all;
}

// Counts the times of the means on matrix j, and collects their marks.
static void add_doubts(struct summary_table *t, int64_t j)
{
    const struct summary_row *base = t->base_rows[j], *best = summary_fastest(t, j);
    bool shown = false; // the baseline is one of the lines
    for (int64_t i = 0; i < t->line_count; i++) {
        struct summary_line *line = &t->lines[i];
        if (!line->timed) continue;
        shown |= line->cells[j] == base;
        line->mean_doubt |= line->cells[j]->doubt | base->doubt;
        line->over_best_doubt |= line->cells[j]->doubt | best->doubt;
        doubt_count(&t->times, line->cells[j]->doubt & DOUBT_TIME);
    }
    if (!shown) doubt_count(&t->times, base->doubt & DOUBT_TIME);
}

static void take_means(struct summary_table *t)
{
    for (int64_t j = 0; j < t->matrix_count; j++)
        if (is_shared(t, j)) add_doubts(t, j);
    for (int64_t i = 0; i < t->line_count; i++) {
        struct summary_line *line = &t->lines[i];
        double speed = 0, ms = 0, over = 0;
        t->shared = 0;
        for (int64_t j = 0; j < t->matrix_count; j++) {
            if (!is_shared(t, j)) continue;
            t->shared++;
            if (!line->timed) continue;
            speed += log(summary_speedup(t, i, j));
            ms += log(cell_ms(t, i, j));
            over += log(t->lines[i].cells[j]->rank.over_best);
        }
        if (!t->shared || !line->timed) continue;
        line->mean = exp(speed / (double)t->shared);
        line->mean_ms = exp(ms / (double)t->shared);
        line->over_best = exp(over / (double)t->shared);
    }
}

// Returns the number by which a line is sorted: on matrix j, or over all matrices (j -1).
static double sort_key(const struct summary_table *t, int64_t i, int64_t j, enum summary_sort sort)
{
    switch (sort) {
    case SUMMARY_TIME: return j < 0 ? t->lines[i].mean_ms : cell_ms(t, i, j);
    case SUMMARY_SPEEDUP: return j < 0 ? -t->lines[i].mean : -summary_speedup(t, i, j);
    case SUMMARY_AS_IS:
    case SUMMARY_NAME: break;
    }
    return 0;
}

// Returns true if line a sorts before line b. NAN sorts last.
static bool is_before(const struct summary_table *t, int64_t a, int64_t b, int64_t j,
                      enum summary_sort sort)
{
    const double x = sort_key(t, a, j, sort), y = sort_key(t, b, j, sort);
    if (sort == SUMMARY_NAME) return strcmp(t->lines[a].name, t->lines[b].name) < 0;
    return x < y || (isnan(y) && !isnan(x));
}

void summary_order(const struct summary_table *t, int64_t j, enum summary_sort sort, int64_t *order)
{
    for (int64_t i = 0; i < t->line_count; i++) {
        int64_t p = i;
        for (; p > 0 && is_before(t, i, order[p - 1], j, sort); p--) order[p] = order[p - 1];
        order[p] = i;
    }
}

static void sort_lines(struct summary_table *t, enum summary_sort sort)
{
    for (int64_t i = 0; i < t->line_count; i++) {
        int64_t p = i;
        while (p > 0 && is_before(t, i, p - 1, -1, sort)) p--;
        move_line(t, i, p);
    }
}

static int make_table(struct summaries *s, struct summary_table *t, const struct summary_rule *rule)
{
    int err = fill_table(s, t);
    if (!err) err = name_lines(t);
    if (err) return err;
    find_base(t, rule->baseline);
    if (rule->algs) choose_lines(t, rule->algs);
    for (int64_t i = 0; i < t->line_count; i++) count_line(t, i);
    for (int64_t j = 0; j < t->matrix_count; j++) count_win(t, j);
    err = compare_lines(t);
    if (err) return err;
    take_means(t);
    sort_lines(t, rule->sort);
    return OK;
}

// Writes the names of all algorithms for a message, cut if there are many.
static void all_names(const struct summaries *s, char *text, size_t size)
{
    text[0] = 0;
    for (int64_t r = 0; r < s->count; r++) {
        bool known = false;
        for (int64_t k = 0; k < r && !known; k++)
            known = !strcmp(s->rows[k].rank.alg, s->rows[r].rank.alg);
        if (!known) words_add(text, size, ", ", s->rows[r].rank.alg);
    }
}

// Checks that each name of the rule matches an algorithm or vendor.
static int check_rule(const struct summaries *s, const struct summary_rule *rule)
{
    char item[NAME_SIZE], all[NAME_SIZE];
    for (const char *p = rule->algs ? rule->algs : ""; *p; p += strcspn(p, ","), p += *p == ',') {
        bool any = false;
        snprintf(item, sizeof item, "%.*s", (int)strcspn(p, ","), p);
        for (int64_t r = 0; r < s->count && !any; r++)
            any = summary_fits(item, s->rows[r].rank.alg);
        if (any) continue;
        all_names(s, all, sizeof all);
        return fail(ERR_USAGE, "-alg %s: no such algorithm in the records; there are %s", item,
                    all);
    }
    const char *base = rule->baseline;
    for (int64_t r = 0; base && r < s->count; r++)
        if (may_be_base(&s->rows[r], BASE_NAMED, base)) return OK;
    if (!base) return OK;
    all_names(s, all, sizeof all);
    return fail(ERR_USAGE, "-baseline %s: no such algorithm or vendor in the records; there are %s",
                base, all);
}

int summary_make(struct summaries *s, const struct summary_rule *rule)
{
    int err = check_rule(s, rule);
    if (!err) err = find_tables(s);
    for (int t = 0; t < s->table_count && !err; t++) err = make_table(s, &s->tables[t], rule);
    return err;
}
