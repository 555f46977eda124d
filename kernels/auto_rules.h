// The rules of `auto`, made by results/fit_auto.py: not to be edited. The weights are in the order
// of enum pick_feature.
// clang-format off
#ifndef AUTO_RULES_H
#define AUTO_RULES_H

#include "algos/pick.h"

#define AUTO_SPMM_CUDA_PICKS {"graded", "rowsplit", "tiled-tuned", "naive"}
#define AUTO_SDDMM_CUDA_PICKS {"balanced", "aspt"}
#define AUTO_SPGEMM_CUDA_PICKS {"hash-tuned", "tile-tuned", "hash"}
#define AUTO_SPMM_CPU_PICKS {"bundled", "rowsplit", "tiled"}
#define AUTO_SDDMM_CPU_PICKS {"balanced", "aspt"}
#define AUTO_SPGEMM_CPU_PICKS {"onepass", "gustavson"}

static inline const struct pick_rules *auto_spmm_cuda_row(void)
{
    static const struct pick_rules rules = {1.3, {
        {"graded",
         {-0.81256, 0.0393646, 0.0630476, 0.0952388, 0.0768085, 0.00658752, 0.00886203, 0.0091403, 0.180698, -0.112928, 0.0917604, 0}},
        {"rowsplit",
         {-4.76791, 0.174603, 0.0363714, 0.224945, 0.328718, 0.0805766, 0.305396, -0.126255, 0.614078, 0.257978, 0.170258, 0}},
        {NULL, {0}}}};
    return &rules;
}

static inline const struct pick_rules *auto_spmm_cuda_col(void)
{
    static const struct pick_rules rules = {2, {
        {"tiled-tuned",
         {-0.981866, 0.284727, 0.031033, 0.103185, 0.120128, 0, 7.34335e-05, 0.0037761, 0.166511, -0.0804295, 0.0809213, 0}},
        {"naive",
         {-2.81696, 0.379096, 0.0304786, 0.206458, 0.130679, 0, 0.366035, 0.0442386, 0.386528, 0.323949, -0.0836974, 0}},
        {NULL, {0}}}};
    return &rules;
}

static inline const struct pick_rules *auto_sddmm_cuda(void)
{
    static const struct pick_rules rules = {1.4, {
        {"balanced",
         {-0.32156, 0.12674, 0.0661243, 0.0307805, 0.0699998, 0.0176561, 0.000991807, -0.061552, 0.129204, 0.0800176, 0.0779306, 0}},
        {"aspt",
         {-2.13972, 0.0727424, 0.0457408, 0.218546, 0.0240731, 0.225418, 0.0645419, 0.0425046, 0.275177, -0.192598, 0.280302, 0}},
        {NULL, {0}}}};
    return &rules;
}

static inline const struct pick_rules *auto_spgemm_cuda(void)
{
    static const struct pick_rules rules = {1.5, {
        {"hash-tuned",
         {4.23484, 0.625386, 0, 0, 0, 0, 0, 0, 0, 0, 0, -0.324531}},
        {"tile-tuned",
         {6.05684, 0.705272, 0, 0, 0, 0, 0, 0, 0, 0, 0, -0.968432}},
        {"hash",
         {4.76775, 0.962417, 0, 0, 0, 0, 0, 0, 0, 0, 0, -0.768349}},
        {NULL, {0}}}};
    return &rules;
}

static inline const struct pick_rules *auto_spmm_cpu_row(void)
{
    static const struct pick_rules rules = {1.05, {
        {"bundled",
         {-0.806693, 0.403822, 0.0458199, 0.110305, 0.266347, 0.291267, 0.0638077, -0.0417432, 0.284806, -0.142189, 0.0490784, 0}},
        {"rowsplit",
         {-0.201642, 0.411147, 0.0486605, 0.105154, 0.232634, 0.216956, 0.0700283, -0.0545359, 0.28186, -0.061054, 0.101737, 0}},
        {NULL, {0}}}};
    return &rules;
}

static inline const struct pick_rules *auto_spmm_cpu_col(void)
{
    static const struct pick_rules rules = {1, {
        {"tiled",
         {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
        {NULL, {0}}}};
    return &rules;
}

static inline const struct pick_rules *auto_sddmm_cpu(void)
{
    static const struct pick_rules rules = {1.2, {
        {"balanced",
         {1.03197, 0.555014, 0.0361161, 0.156854, 0.162455, 0.0158559, 0.0780153, 0.0166648, 0.122143, -0.144013, 0.0301954, 0}},
        {"aspt",
         {1.45524, 0.520858, 0.0408604, 0.112612, 0.193396, -0.0255732, 0.120633, -0.0175261, 0.14698, -0.0316627, -0.223622, 0}},
        {NULL, {0}}}};
    return &rules;
}

static inline const struct pick_rules *auto_spgemm_cpu(void)
{
    static const struct pick_rules rules = {1, {
        {"onepass",
         {7.01765, 1.0158, 0, 0, 0, 0, 0, 0, 0, 0, 0, -0.542742}},
        {"gustavson",
         {7.42963, 1.13015, 0, 0, 0, 0, 0, 0, 0, 0, 0, -0.490867}},
        {NULL, {0}}}};
    return &rules;
}

#endif
