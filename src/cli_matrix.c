// spbench info and gen: facts about matrices, and matrices made to order.
#include "cli.h"

#include <stdio.h>
#include <string.h>

#include "gen.h"
#include "mtx.h"

// A count that may be unknown (-1).
static const char *count_text(int64_t x, char text[32])
{
    if (x < 0)
        snprintf(text, 32, "not known");
    else
        snprintf(text, 32, "%lld", (long long)x);
    return text;
}

static void print_products(const struct matrix *M)
{
    const struct matrix_stats *s = &M->stats;
    char a[32], b[32];
    if (M->A.m != M->A.n)
        printf("  A*A          the matrix is not square\n");
    else
        printf("  A*A          %s products", count_text(s->products_aa, a));
    if (M->A.m == M->A.n && s->nnz_aa >= 0)
        printf(", %s nonzeros, compression %.2f", count_text(s->nnz_aa, b), s->compression_aa);
    if (M->A.m == M->A.n) printf("\n");
    printf("  A*A^T        %s products\n", count_text(s->products_aat, a));
}

static void print_facts(const struct matrix *M)
{
    const struct matrix_stats *s = &M->stats;
    const struct csr *A = &M->A;
    char a[32], b[32];
    double cells = (double)A->m * A->n;
    printf("%s\n", M->name);
    printf("  from         %s: %s, %s, %lld entries, %lld duplicates summed%s%s\n", M->path,
           M->field, M->symmetry, (long long)M->stored, (long long)M->duplicates,
           M->values_drawn ? ", values drawn from the seed" : "",
           M->real_part ? ", real parts of complex values" : "");
    printf("  size         %d x %d, %lld nonzeros, density %.3g\n", A->m, A->n, (long long)A->nnz,
           cells > 0 ? (double)A->nnz / cells : 0.0);
    printf("  row length   mean %.4g, from %lld to %lld, cv %.3g\n", s->row_mean,
           (long long)s->row_min, (long long)s->row_max, s->row_cv);
    printf("  empty        %lld rows, %s columns\n", (long long)s->empty_rows,
           count_text(s->empty_cols, a));
    printf("  bandwidth    %s\n", count_text(s->bandwidth, a));
    print_products(M);
    printf("  tiles        %s of %dx%d hold nonzeros, %.3g each\n", count_text(s->tiles, a),
           STATS_TILE, STATS_TILE, s->tile_mean);
    printf("  reuse of B   ");
    for (int i = 0; i < STATS_PANELS; i++)
        printf("%s%.3g in panels of %d rows", i ? ", " : "", s->reuse[i], stats_panel_rows[i]);
    int64_t starts = ((int64_t)A->m + 1) * 4;
    printf("\n  csr          %s in f32, %s in f64\n", size_text(starts + A->nnz * 8, a),
           size_text(starts + A->nnz * 12, b));
    if (M->load_ms > 0) printf("  read in      %.3g ms, %.3g MB/s\n", M->load_ms, M->load_mb_s);
}

int cli_info(const struct request *q)
{
    int err = OK;
    bool any = false;
    for (int i = 0; i < q->o->operand_count && !err; i++) {
        struct matrix M;
        err = matrix_load(q->o->operands[i], q->o->seed, &M);
        if (!err) err = stats_structure(&M.A, STATS_PRODUCTS_LIMIT, &M.stats);
        if (err) {
            err = cli_load_failed(err, q->outcome);
        } else {
            if (any) printf("\n");
            any = true;
            print_facts(&M);
        }
        matrix_free(&M);
    }
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
