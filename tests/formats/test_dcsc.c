// DCSC: places of its entries, and stats. test_formats.c tests the way back to csr.
#include "formats/dcsc.h"

#include "formats.h"
#include "test.h"
#include "formats/csr.h"

static struct device dev;

static struct dcsc *make(const struct csr *A, double panel)
{
    return (struct dcsc *)sparse_of(&dev, &format_dcsc, A, F64, &panel);
}

// [ 1 . 2 . ]           panel 2: the segments of rows 0 and 1 are columns 0, 1 and 2, the last one
// [ . 0 3 . ]           of two entries; rows 2 and 3 are empty; row 4 is a panel that is not full.
// [ . . . . ]
// [ . . . . ]
// [ 4 . . 5 ]
static struct dcsc *make_small(void)
{
    int64_t ptr[] = {0, 2, 4, 4, 4, 6};
    int32_t idx[] = {0, 2, 1, 2, 0, 3};
    double val[] = {1, 2, 0, 3, 4, 5};
    struct csr A = {5, 4, 6, ptr, idx, val};
    return make(&A, 2);
}

static void test_layout(void)
{
    struct dcsc *D = make_small();
    if (!D) return;
    static const int64_t ptr[] = {0, 3, 3, 5}, start[] = {0, 1, 2, 4, 5, 6};
    static const int32_t col[] = {0, 1, 2, 0, 3}, row[] = {0, 1, 0, 1, 4, 4};
    static const double val[] = {1, 0, 2, 3, 4, 5};
    CHECK(D->panel == 2 && D->panels == 3 && D->segments == 5, "%lld panels, %lld segments",
          (long long)D->panels, (long long)D->segments);
    CHECK(D->panels == 3 && !memcmp(D->ptr, ptr, sizeof ptr), "starts of panels");
    CHECK(D->segments == 5 && !memcmp(D->start, start, sizeof start), "starts of segments");
    CHECK(D->segments == 5 && !memcmp(D->col, col, sizeof col), "columns");
    CHECK(!memcmp(D->row, row, sizeof row) && !memcmp(D->val, val, sizeof val), "entries");
    sparse_free(&dev, &D->head);
}

// Entries of a segment; 0 where there is none.
static void test_stats(void)
{
    struct dcsc *D = make_small();
    int64_t ptr[] = {0, 0, 0};
    struct csr A = {.m = 2, .n = 3, .ptr = ptr};
    if (D) check_figure(&D->head, "segment_length", 6.0 / 5, 1);
    if (D) sparse_free(&dev, &D->head);
    D = make(&A, 2);
    if (D) check_figure(&D->head, "segment_length", 0, 1);
    if (D) sparse_free(&dev, &D->head);
}

// One column that every row has: as many segments as panels, each as long as the panel has rows.
static void test_one_column(void)
{
    enum { ROWS = 1000 };
    int64_t ptr[ROWS + 1];
    int32_t idx[ROWS];
    double val[ROWS];
    for (int i = 0; i < ROWS; i++) ptr[i + 1] = i + 1, idx[i] = 7, val[i] = i;
    ptr[0] = 0;
    struct csr A = {ROWS, 9, ROWS, ptr, idx, val};
    struct dcsc *D = make(&A, 64);
    if (!D) return;
    CHECK(D->segments == 16 && D->start[15] == 960 && D->col[15] == 7, "%lld segments",
          (long long)D->segments);
    CHECK(!format_broken(&D->head), "%s", format_broken(&D->head));
    sparse_free(&dev, &D->head);
}

TESTS_ON_CPU(dev, test_layout, test_stats, test_one_column)
