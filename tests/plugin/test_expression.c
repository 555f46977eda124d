// Expressions of kernels' descriptions: values, and every kind of mistake.
#include "plugin/expression.h"

#include "test.h"

int main(void)
{
    static const struct expression_name names[] = {{"m", 1000}, {"k", 64}, {"m_2", 7}, {NULL, 0}};
    static const struct {
        const char *text;
        int64_t want;
    } right[] = {
        {"1", 1},          {"m", 1000},
        {" m_2 + 1 ", 8},  {"(m * k + 255) / 256", 250},
        {"1 + 2 * 3", 7},  {"(1 + 2) * 3", 9},
        {"10 - 3 - 2", 5}, {"100 / 7 / 2", 7},
        {"100 % 7", 2},    {"-m", -1000},
        {"2 * -3", -6},    {"- - 2", 2},
        {"((((1))))", 1},  {"9223372036854775807", INT64_MAX},
    };
    static const char *const wrong[] = {"",
                                        " ",
                                        "m n",
                                        "n",
                                        "mm",
                                        "1 +",
                                        "(1",
                                        "1)",
                                        "*",
                                        "1 / 0",
                                        "1 % 0",
                                        "m / (k - 64)",
                                        "9223372036854775808",
                                        "9223372036854775807 + 1",
                                        "4611686018427387904 * 2",
                                        "-9223372036854775807 - 2",
                                        "1 ? 2",
                                        "1.5",
                                        "((((((((((((((((((((((((((((((((((1"};
    int64_t value;
    for (int i = 0; i < COUNT(right); i++) {
        int err = expression_value(right[i].text, names, &value);
        CHECK(!err && value == right[i].want, "'%s' is %lld, not %lld: %s", right[i].text,
              (long long)value, (long long)right[i].want, err ? fail_text() : "");
    }
    for (int i = 0; i < COUNT(wrong); i++)
        CHECK(expression_value(wrong[i], names, &value) == ERR_USAGE, "'%s' is %lld", wrong[i],
              (long long)value);
    CHECK(expression_is_name("m_2") && expression_is_name("k"), "names");
    CHECK(!expression_is_name("") && !expression_is_name("2m") && !expression_is_name("m-2") &&
              !expression_is_name("_m") && !expression_is_name("m "),
          "no names");
    return TEST_END();
}
