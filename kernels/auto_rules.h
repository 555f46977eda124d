// The rules of `auto`, made by tools/fit_auto.py: not to be edited. The weights are in the order
// of enum pick_feature.
// --since spgemm:cuda:2026-11-26
// clang-format off
#ifndef AUTO_RULES_H
#define AUTO_RULES_H

#include "algos/pick.h"

#define AUTO_SPMM_CUDA_PICKS {"graded", "rowsplit", "tiled-tuned", "naive"}
#define AUTO_SDDMM_CUDA_PICKS {"balanced", "aspt"}
#define AUTO_SPGEMM_CUDA_PICKS {"hash-tuned", "tile-tuned", "hash"}
#define AUTO_SPMM_CPU_PICKS {"bundled", "rowsplit", "merge", "tiled"}
#define AUTO_SDDMM_CPU_PICKS {"balanced", "aspt"}
#define AUTO_SPGEMM_CPU_PICKS {"onepass", "gustavson"}

static inline const struct pick_rules *auto_spmm_cuda_row(void)
{
    static const struct pick_rules rules = {1.7, {
        {"graded",
         {-0.915216, 0.0623964, 0.0591119, 0.0747321, 0.0961159, 0.0430849, -0.0472277, 0.0213394, 0.172871, -0.0944677, 0.125881, 0}},
        {"rowsplit",
         {-6.91873, 0.221004, 0.0190649, 0.504949, 0.161686, 0.285789, 0.421135, -0.147633, 0.799373, 0.154989, 0.361441, 0}},
        {NULL, {0}}},
        {{NULL, 0, 0}, {"work", 0.000283926, 9.23498}, {"work_2", -9.98526e-05, 85.2763}, {"rows", 1.0985, 15.3159}, {"columns", 1.38616, 15.2033}, {"depth", 3.49616, 4.8603}, {"mean", 0.916191, 9.78152}, {"longest", 1.0985, 11.4443}, {"uneven", 0.000150069, 6.50444}, {"spread", -0.0001, 4.54854}, {"width", -0.0001, 0.693247}, {NULL, 0, 0}},
        {143.155, 1.43245}};
    return &rules;
}

static inline const struct pick_rules *auto_spmm_cuda_col(void)
{
    static const struct pick_rules rules = {2.06, {
        {"tiled-tuned",
         {-0.981866, 0.284727, 0.031033, 0.103185, 0.120128, 0, 7.34335e-05, 0.0037761, 0.166511, -0.0804295, 0.0809213, 0}},
        {"naive",
         {-2.81696, 0.379096, 0.0304786, 0.206458, 0.130679, 0, 0.366035, 0.0442386, 0.386528, 0.323949, -0.0836974, 0}},
        {NULL, {0}}},
        {{NULL, 0, 0}, {"work", 0.000667705, 7.84814}, {"work_2", -9.94106e-05, 61.5871}, {"rows", 1.0985, 13.8169}, {"columns", 1.38616, 13.8169}, {"depth", 4.17397, 4.1748}, {"mean", 0.916191, 9.78152}, {"longest", 1.0985, 11.4443}, {"uneven", 0.0009003, 6.50444}, {"spread", -0.0001, 4.54854}, {"width", -0.0001, 0.693247}, {NULL, 0, 0}},
        {183.977, 1.37445}};
    return &rules;
}

static inline const struct pick_rules *auto_sddmm_cuda(void)
{
    static const struct pick_rules rules = {1.59, {
        {"balanced",
         {-0.0747582, 0.22065, 0.0554709, 0.0240823, 0.0566044, -0.0278789, -0.0346917, -0.0388926, 0.13317, 0.0187672, 0.0281936, 0}},
        {"aspt",
         {-2.1207, 0.0254854, 0.0472299, 0.215417, 0.0526503, 0.181181, 0.0685126, 0.069148, 0.287886, -0.28037, 0.245316, 0}},
        {NULL, {0}}},
        {{NULL, 0, 0}, {"work", 0.000283926, 9.23468}, {"work_2", -9.98526e-05, 85.2707}, {"rows", 1.0985, 15.2033}, {"columns", 1.38616, 15.2033}, {"depth", 3.49616, 4.8603}, {"mean", 0.916191, 9.78152}, {"longest", 1.0985, 11.4443}, {"uneven", 0.000150069, 6.50444}, {"spread", -0.0001, 4.54854}, {"width", -0.0001, 0.693247}, {NULL, 0, 0}},
        {8.57932, 1.4143}};
    return &rules;
}

static inline const struct pick_rules *auto_spgemm_cuda(void)
{
    static const struct pick_rules rules = {2.64, {
        {"hash-tuned",
         {4.12829, 0.533149, 0, 0, 0, 0, 0, 0, 0, 0, 0, -0.15603}},
        {"tile-tuned",
         {6.24353, 0.652895, 0, 0, 0, 0, 0, 0, 0, 0, 0, -0.829086}},
        {"hash",
         {4.52936, 0.834179, 0, 0, 0, 0, 0, 0, 0, 0, 0, -0.410559}},
        {NULL, {0}}},
        {{NULL, 0, 0}, {"work", -6.00008e-05, 9.58897}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {"tile", 0.693124, 5.01543}},
        {68.8749, 3.72615, 1.46659}};
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
        {"tiled",
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
