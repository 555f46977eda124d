// The table-driven test: every algorithm x precision x layout x k x tiny matrix, with whole-number
// values, so that the result must be exact. Runs on the CPU, on a GPU, or on the emulated device.
#include "cases.h"

static bool dense_row(int32_t i, int32_t j) { return i == 7 || j == i % 5; }
static bool dense_row_first(int32_t i, int32_t j) { return i == 0 || j == i; }
static bool dense_row_last(int32_t i, int32_t j) { return i == 39 || j == i; }
static bool dense_column(int32_t i, int32_t j) { return (void)i, j == 3; }
static bool only_first_row(int32_t i, int32_t j) { return i == 0 && j % 2; }
static bool only_last_row(int32_t i, int32_t j) { return i == 299 && j % 2; }
static bool first_half_empty(int32_t i, int32_t j) { return i >= 150 && (i + j) % 7 == 0; }
static bool last_half_empty(int32_t i, int32_t j) { return i < 150 && (i + j) % 7 == 0; }
static bool every_other_row(int32_t i, int32_t j) { return i % 2 && (i + 3 * j) % 5 == 0; }
static bool two_far_rows(int32_t i, int32_t j) { return (i == 5 || i == 2990) && j < 40; }
static bool rows_of_32(int32_t i, int32_t j) { return (j + i) % 64 < 32; }
static bool rows_of_33(int32_t i, int32_t j) { return (j + i) % 64 < 33; }
static bool rows_of_4(int32_t i, int32_t j) { return (j + 64 - i % 64) % 16 == 0; }
static bool power_law(int32_t i, int32_t j) { return j * (i + 1) < 400 + (i + j) % 3; }
static bool long_then_short(int32_t i, int32_t j) { return i % 50 == 10 ? true : j == i % 700; }

static const struct shape shapes[] = {
    {"no rows and no columns", 0, 0, none, 0},
    {"no rows", 0, 5, none, 0},
    {"no columns", 5, 0, none, 0},
    {"no entries", 4, 4, none, 0},
    {"1 x 1", 1, 1, full, 0},
    {"1 x 1 empty", 1, 1, none, 0},
    {"1 x n", 1, 300, full, 0},
    {"1 x n, one row of 3", 1, 3, full, 0},
    {"m x 1", 300, 1, full, 0},
    {"identity", 70, 70, diagonal, 0},
    {"wide diagonal", 20, 90, diagonal, 0},
    {"tall diagonal", 90, 20, diagonal, 0},
    {"every row length to 80", 80, 80, lower, 0},
    {"tridiagonal", 100, 100, tridiagonal, 0},
    {"one dense row", 40, 400, dense_row, 0},
    {"first row dense", 40, 400, dense_row_first, 0},
    {"last row dense", 40, 400, dense_row_last, 0},
    {"one dense column", 200, 9, dense_column, 0},
    {"only the first row", 300, 90, only_first_row, 0},
    {"only the last row", 300, 90, only_last_row, 0},
    {"first half empty", 300, 40, first_half_empty, 0},
    {"last half empty", 300, 40, last_half_empty, 0},
    {"every other row empty", 101, 60, every_other_row, 0},
    {"3000 rows, two of them used", 3000, 50, two_far_rows, 0},
    {"rows of exactly 32", 24, 64, rows_of_32, 0},
    {"rows of exactly 33", 24, 64, rows_of_33, 0},
    {"rows of exactly 4", 128, 64, rows_of_4, 0},
    {"dense 33 x 33", 33, 33, full, 0},
    {"dense 3 x 257", 3, 257, full, 0},
    {"random", 120, 90, scattered, 0},
    {"very sparse", 400, 200, few, 0},
    {"power law", 120, 400, power_law, 0},
    {"long rows among short ones", 160, 700, long_then_short, 0},
    {"unsorted entries", 60, 50, scattered, 1},
    {"duplicate entries", 60, 50, scattered, 3},
};

static const int64_t ks[] = {1, 2, 3, 8, 31, 32, 33, 64, 65, 100, 128, 130};

static void test_device(struct device *dev, int step)
{
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s += step) {
        struct csr A;
        int err = shape_build(&shapes[s], &A);
        if (err) continue;
        for (int prec = F32; prec <= F64; prec++)
            for (size_t i = 0; i < sizeof ks / sizeof *ks; i += step) {
                struct inputs in = {
                    .A = &A, .prec = (enum prec)prec, .k = ks[i], .seed = 7, .integers = true};
                err = ops[OP_SPMM].make(&in);
                CHECK(!err, "inputs: %s", fail_text());
                if (err) continue;
                test_inputs(dev, &in, shapes[s].name);
                if (ks[i] == 33) test_options(dev, &in, shapes[s].name, true);
                inputs_free(&in);
            }
        csr_free(&A);
    }
}

int main(int argc, char **argv) { return cases_main(argc, argv, OP_SPMM, test_device); }
