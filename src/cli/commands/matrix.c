// spbench info and gen: facts about matrices, and matrices made to order.
#include "cli/commands/request.h"

#include <stdio.h>
#include <string.h>

#include "algos/op.h"
#include "base/utf8.h"
#include "data/gen.h"
#include "data/mtx.h"

// Writes a count, "not known" for -1.
static const char *count_text(int64_t x, char text[32])
{
    if (x < 0)
        snprintf(text, 32, "not known");
    else
        snprintf(text, 32, "%lld", (long long)x);
    return text;
}

// Writes a mean, "-" for -1.
static const char *mean_text(double x, const char *format, char text[32])
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
        printf("  A*A          %s products", count_text(s->products_aa, a));
    if (M->A.m == M->A.n && s->nnz_aa >= 0)
        printf(", %s nonzeros, compression %s", count_text(s->nnz_aa, b),
               mean_text(s->compression_aa, "%.2f", c));
    if (M->A.m == M->A.n) printf("\n");
    printf("  A*A^T        %s products\n", count_text(s->products_aat, a));
}

static void print_facts(const struct matrix *M)
{
    const struct matrix_facts *s = &M->facts;
    const struct csr *A = &M->A;
    char a[32], b[32], read[64], name[FAIL_TEXT_MAX], path[FAIL_TEXT_MAX];
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
           count_text(s->empty_cols, a));
    printf("  bandwidth    %s\n", count_text(s->bandwidth, a));
    print_products(M);
    printf("  tiles        %s of %dx%d hold nonzeros, %s each\n", count_text(s->tiles, a),
           FACTS_TILE, FACTS_TILE, mean_text(s->tile_mean, "%.3g", b));
    printf("  reuse of B   ");
    for (int i = 0; i < FACTS_PANELS; i++)
        printf("%s%s in panels of %d rows", i ? ", " : "", mean_text(s->reuse[i], "%.3g", a),
               facts_panel_rows[i]);
    printf("\n  csr          %s in f32, %s in f64\n", size_text(op_csr_bytes(A, F32), a),
           size_text(op_csr_bytes(A, F64), b));
    if (M->load_ms > 0) printf("  read in      %s\n", matrix_load_text(M, read));
}

// A line of the table of several matrices, with the columns of SpGEMM papers.
#define TABLE_COLUMNS 8
#define CELL_MAX      96
struct table_line {
    char cell[TABLE_COLUMNS][CELL_MAX];
};

static const struct table_line table_head = {{"matrix", "rows", "nnz", "nnz/row", "max nnz/row",
                                              "products of A*A", "nnz of A*A", "compression"}};

// Writes "1,234,567", or "-" for an unknown count.
static void put_count(char cell[CELL_MAX], int64_t x)
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%lld", (long long)x), used = 0;
    for (int i = 0; x >= 0 && i < length; i++) {
        if (i && (length - i) % 3 == 0) cell[used++] = ',';
        cell[used++] = digits[i];
    }
    snprintf(cell + used, CELL_MAX - (size_t)used, "%s", x < 0 ? "-" : "");
}

// Writes a name, escaped for Markdown.
static void put_name(char cell[CELL_MAX], const char *name)
{
    char shown[CELL_MAX / 2];
    int used = 0;
    utf8_visible(name, shown, sizeof shown);
    for (const char *c = shown; *c; c++) {
        if (*c == '|' || *c == '\\') cell[used++] = '\\';
        cell[used++] = *c;
    }
    cell[used] = 0;
}

static void fill_line(struct table_line *line, const struct matrix *M)
{
    const struct matrix_facts *s = &M->facts;
    put_name(line->cell[0], M->name);
    put_count(line->cell[1], M->A.m);
    put_count(line->cell[2], M->A.nnz);
    snprintf(line->cell[3], sizeof line->cell[3], "%.1f", s->row_mean);
    put_count(line->cell[4], s->row_max);
    put_count(line->cell[5], s->products_aa);
    put_count(line->cell[6], s->nnz_aa);
    snprintf(line->cell[7], sizeof line->cell[7], "%.2f", s->compression_aa);
    if (s->compression_aa < 0) put_count(line->cell[7], -1);
}

static void print_line(const struct table_line *line, const int *width)
{
    for (int c = 0; c < TABLE_COLUMNS; c++)
        printf("| %*s ", c ? width[c] : -width[c], line->cell[c]);
    printf("|\n");
}

// Prints the table with aligned columns. The text is also valid Markdown.
static void print_table(const struct table_line *lines, int count)
{
    char dashes[CELL_MAX];
    memset(dashes, '-', sizeof dashes);
    int width[TABLE_COLUMNS];
    for (int c = 0; c < TABLE_COLUMNS; c++) {
        width[c] = (int)strlen(table_head.cell[c]);
        for (int i = 0; i < count; i++)
            width[c] = (int)max64(width[c], (int64_t)strlen(lines[i].cell[c]));
    }
    printf("\n");
    print_line(&table_head, width);
    for (int c = 0; c < TABLE_COLUMNS; c++)
        printf("| %.*s%s ", width[c] - (c > 0), dashes, c ? ":" : "");
    printf("|\n");
    for (int i = 0; i < count; i++) print_line(&lines[i], width);
}

// Puts the path of the matrix in front of an error message.
static int name_matrix(const struct matrix *M, int err)
{
    return err ? fail((enum err)err, "%s: %s", M->path, fail_text()) : OK;
}

// Prints the facts of a matrix and fills in its line of the table.
static int show(const struct model_view *view, struct matrix *M, struct table_line *line,
                bool between)
{
    int err = name_matrix(M, facts_structure(&M->A, FACTS_PRODUCTS_LIMIT, &M->facts));
    if (err) return err;
    if (between) printf("\n");
    print_facts(M);
    fill_line(line, M);
    return name_matrix(M, cli_model_print(view, M));
}

int cli_info(const struct request *q)
{
    int count = 0;
    struct model_view view = {0};
    struct table_line *lines = mem_alloc(q->o->operand_count, sizeof *lines);
    if (!lines) return ERR_MEMORY;
    int err = cli_model_open(&view, q->o);
    for (int i = 0; i < q->o->operand_count && !err; i++) {
        struct matrix M;
        err = matrix_load(q->o->operands[i], q->o->seed, &M);
        if (!err) err = show(&view, &M, &lines[count], count > 0);
        if (err)
            err = cli_load_failed(err, q->outcome);
        else
            count++;
        matrix_free(&M);
    }
    if (!err && count > 1) print_table(lines, count);
    cli_model_close(&view);
    mem_free(lines);
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
