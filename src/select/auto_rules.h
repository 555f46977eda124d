// The rules of `auto`, made by `make rules` (tools/fit_auto.py): do not edit. The weights are in
// the order of enum pick_feature.
// clang-format off
#ifndef AUTO_RULES_H
#define AUTO_RULES_H

#include "select/pick.h"

#define AUTO_SPGEMM_CUDA_PICKS {"hash-tuned", "tile-tuned", "hash"}
#define AUTO_SPMM_CPU_PICKS {"bundled", "rowsplit", "merge"}
#define AUTO_SDDMM_CPU_PICKS {"balanced", "aspt"}
#define AUTO_SPGEMM_CPU_PICKS {"onepass", "gustavson"}

static inline const struct pick_rules *auto_spgemm_cuda(void)
{
    static const struct pick_rules rules = {2.76, {
        {"hash-tuned",
         {4.10242, 0.553107, 0, 0, 0, 0, 0, 0, 0, 0, 0, -0.176098}},
        {"tile-tuned",
         {6.09924, 0.681252, 0, 0, 0, 0, 0, 0, 0, 0, 0, -0.84006}},
        {"hash",
         {4.56083, 0.863592, 0, 0, 0, 0, 0, 0, 0, 0, 0, -0.472611}},
        {NULL, {0}}},
        {{NULL, 0, 0}, {"work", 4.39896e-05, 9.58897}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {"tile", 0.693124, 5.01543}},
        {68.8749, 3.71312, 1.11873}};
    return &rules;
}

static inline const struct pick_rules *auto_spmm_cpu_row(void)
{
    static const struct pick_rules rules = {1.35, {
        {"bundled",
         {-0.806693, 0.403822, 0.0458199, 0.110305, 0.266347, 0.291267, 0.0638077, -0.0417432, 0.284806, -0.142189, 0.0490784, 0}},
        {"rowsplit",
         {-0.201642, 0.411147, 0.0486605, 0.105154, 0.232634, 0.216956, 0.0700283, -0.0545359, 0.28186, -0.061054, 0.101737, 0}},
        {"merge",
         {-0.222176, 0.455191, 0.0487764, 0.122713, 0.19606, 0.220702, 0.0841983, -0.0524623, 0.289648, -0.0773904, -0.00287074, 0}},
        {NULL, {0}}},
        {{NULL, 0, 0}, {"work", 1.85047, 7.40786}, {"work_2", 3.42457, 54.8709}, {"rows", 3.61056, 12.6946}, {"columns", 7.60064, 12.6946}, {"depth", 3.49616, 4.8603}, {"mean", 1.0465, 9.78152}, {"longest", 1.60928, 11.4443}, {"uneven", 0.00912693, 4.9702}, {"spread", -0.0001, 4.54854}, {"width", -0.0001, 0.693247}, {NULL, 0, 0}},
        {1.58176, 1.45193, 1.40192}};
    return &rules;
}

static inline const struct pick_rules *auto_spmm_cpu_col(void)
{
    static const struct pick_rules rules = {1, {
        {"bundled",
         {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
        {NULL, {0}}},
        {{NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}},
        {0}};
    return &rules;
}

static inline const struct pick_rules *auto_sddmm_cpu(void)
{
    static const struct pick_rules rules = {1.34, {
        {"balanced",
         {1.03197, 0.555014, 0.0361161, 0.156854, 0.162455, 0.0158559, 0.0780153, 0.0166648, 0.122143, -0.144013, 0.0301954, 0}},
        {"aspt",
         {1.45524, 0.520858, 0.0408604, 0.112612, 0.193396, -0.0255732, 0.120633, -0.0175261, 0.14698, -0.0316627, -0.223622, 0}},
        {NULL, {0}}},
        {{NULL, 0, 0}, {"work", 1.85047, 8.10077}, {"work_2", 3.42457, 65.6159}, {"rows", 3.61056, 12.6946}, {"columns", 7.60064, 12.6946}, {"depth", 3.49616, 4.8603}, {"mean", 1.0465, 9.78152}, {"longest", 1.60928, 11.4443}, {"uneven", 0.00912693, 4.9702}, {"spread", -0.0001, 4.54854}, {"width", -0.0001, 0.693247}, {NULL, 0, 0}},
        {2.16906, 1.57953}};
    return &rules;
}

static inline const struct pick_rules *auto_spgemm_cpu(void)
{
    static const struct pick_rules rules = {1.87, {
        {"onepass",
         {7.01765, 1.0158, 0, 0, 0, 0, 0, 0, 0, 0, 0, -0.542742}},
        {"gustavson",
         {7.42963, 1.13015, 0, 0, 0, 0, 0, 0, 0, 0, 0, -0.490867}},
        {NULL, {0}}},
        {{NULL, 0, 0}, {"work", 0.0698961, 5.48266}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {"tile", 0.715603, 4.40309}},
        {5.44278, 1.12726}};
    return &rules;
}

#endif
