// Statistics of an algorithm as the table says them.
#include "report/remarks.h"

#include "base/base.h"

#include "test.h"

int main(void)
{
    static const struct {
        const char *name, *value, *text;
    } rows[] = {
        {"picked", "graded", "picked graded"},
        {"merge_refused", "no memory", "merge refused: no memory"},
    };
    char text[REMARK_TEXT_MAX];
    for (int i = 0; i < COUNT(rows); i++)
        CHECK_TEXT(remark_stat(rows[i].name, rows[i].value, text), rows[i].text);
    return TEST_END();
}
