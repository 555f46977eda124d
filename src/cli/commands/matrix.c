// spbench info and gen: facts about matrices, and matrices made to order.
#include "cli/commands/request.h"

#include <stdio.h>
#include <string.h>

#include "algos/op.h"
#include "base/utf8.h"
#include "data/gen.h"
#include "data/mtx.h"
#include "report/cell.h"
#include "report/grid.h"

// Writes a fact, "-" for -1, which is not known.
static const char *fact_text(double x, const char *format, char text[32])
{
    if (x < 0)
        snprintf(text, 32, "-");
    else
        snprintf(text, 32, format, x);
    return text;
}

static void print_products(const struct matrix *M)
{
    const struct matrix_facts *s = &M->facts;
    char a[32], b[32], c[32];
    if (M->A.m != M->A.n)
        printf("  A*A          the matrix is not square\n");
    else
        printf("  A*A          %s products", fact_text((double)s->products_aa, "%.0f", a));
    if (M->A.m == M->A.n && s->nnz_aa >= 0)
        printf(", %s nonzeros, compression %s", fact_text((double)s->nnz_aa, "%.0f", b),
               fact_text(s->compression_aa, "%.2f", c));
    if (M->A.m == M->A.n) printf("\n");
    printf("  A*A^T        %s products\n", fact_text((double)s->products_aat, "%.0f", a));
}

static void print_facts(const struct matrix *M)
{
    const struct matrix_facts *s = &M->facts;
    const struct csr *A = &M->A;
    char a[32], b[32], name[FAIL_TEXT_MAX], path[FAIL_TEXT_MAX];
    double cells = (double)A->m * A->n;
    printf("%s\n", utf8_visible(M->name, name, sizeof name));
    printf("  from         %s: %s, %s, %lld entries, %lld duplicates summed%s%s\n",
           utf8_visible(M->path, path, sizeof path), M->field, M->symmetry, (long long)M->stored,
           (long long)M->duplicates, M->values_drawn ? ", values drawn from the seed" : "",
           M->real_part ? ", real parts of complex values" : "");
    printf("  size         %d x %d, %lld nonzeros, density %.3g\n", A->m, A->n, (long long)A->nnz,
           cells > 0 ? (double)A->nnz / cells : 0.0);
    printf("  row length   mean %.4g, from %lld to %lld, cv %.3g\n", s->row_mean,
           (long long)s->row_min, (long long)s->row_max, s->row_cv);
    printf("  empty        %lld rows, %s columns\n", (long long)s->empty_rows,
           fact_text((double)s->empty_cols, "%.0f", a));
    printf("  bandwidth    %s\n", fact_text((double)s->bandwidth, "%.0f", a));
    print_products(M);
    printf("  tiles        %s of %dx%d hold nonzeros, %s each\n",
           fact_text((double)s->tiles, "%.0f", a), FACTS_TILE, FACTS_TILE,
           fact_text(s->tile_mean, "%.3g", b));
    printf("  reuse of B   ");
    for (int i = 0; i < FACTS_PANELS; i++)
        printf("%s%s in panels of %d rows", i ? ", " : "", fact_text(s->reuse[i], "%.3g", a),
               facts_panel_rows[i]);
    printf("\n  csr          %s in f32, %s in f64\n", size_text(op_csr_bytes(A, F32), a),
           size_text(op_csr_bytes(A, F64), b));
    if (M->load_ms > 0) printf("  read in      %.3g ms, ", M->load_ms);
    if (M->load_ms > 0 && M->cached)
        printf("from the cache\n");
    else if (M->load_ms > 0)
        printf("%.3g MB/s\n", M->load_mb_s);
}

// The table of several matrices, with the columns of SpGEMM papers.
static void start_table(struct grid *g)
{
    static const char *const heads[] = {"matrix",     "rows",        "nnz",
                                        "nnz/row",    "max nnz/row", "products of A*A",
                                        "nnz of A*A", "compression"};
    for (int c = 0; c < COUNT(heads); c++) grid_column(g, heads[c], !c);
}

static void add_line(struct grid *g, const struct matrix *M)
{
    const struct matrix_facts *s = &M->facts;
    const int64_t counts[] = {s->row_max, s->products_aa, s->nnz_aa};
    char text[32];
    grid_cell(g, M->name);
    grid_cell(g, cell_count(M->A.m, text));
    grid_cell(g, cell_count((double)M->A.nnz, text));
    grid_cell(g, fact_text(s->row_mean, "%.1f", text));
    for (int i = 0; i < COUNT(counts); i++)
        grid_cell(g, fact_text((double)counts[i], "%.0f", text));
    grid_cell(g, fact_text(s->compression_aa, "%.2f", text));
}

// Puts the path of the matrix in front of an error message.
static int name_matrix(const struct matrix *M, int err)
{
    return err ? fail((enum err)err, "%s: %s", M->path, fail_text()) : OK;
}

// Prints the facts of a matrix and adds its line to the table.
static int show(const struct model_view *view, struct matrix *M, struct grid *g, bool between)
{
    int err = name_matrix(M, facts_structure(&M->A, FACTS_PRODUCTS_LIMIT, &M->facts));
    if (err) return err;
    if (between) printf("\n");
    print_facts(M);
    add_line(g, M);
    return name_matrix(M, cli_model_print(view, M));
}

int cli_info(const struct request *q)
{
    int count = 0;
    struct model_view view = {0};
    struct grid g = {0};
    int err = cli_model_open(&view, q->o);
    start_table(&g);
    for (int i = 0; i < q->o->operand_count && !err; i++) {
        struct matrix M;
        err = matrix_load(q->o->operands[i], q->o->seed, &M);
        if (!err) err = show(&view, &M, &g, count > 0);
        if (err)
            err = cli_load_failed(err, q->outcome);
        else
            count++;
        matrix_free(&M);
    }
    if (!err && count > 1) {
        printf("\n");
        err = grid_print(&g, stdout, GRID_TEXT);
    }
    grid_free(&g);
    cli_model_close(&view);
    return err;
}

int cli_gen(const struct request *q)
{
    const char *spec = q->o->operands[0], *path = q->o->output ? q->o->output : "-";
    struct csr A = {0};
    char comment[256];
    int err = gen_matrix(spec, q->o->seed, &A);
    if (err) return err;
    if (!strncmp(spec, "gen:", 4)) spec += 4;
    snprintf(comment, sizeof comment, "spbench gen %.200s -seed %llu", spec,
             (unsigned long long)q->o->seed);
    err = mtx_write(path, &A, comment);
    csr_free(&A);
    return err;
}
