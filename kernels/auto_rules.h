// The rules of `auto`, made by results/fit_auto.py: not to be edited. The weights are in the order
// of enum pick_feature.
// clang-format off
#ifndef AUTO_RULES_H
#define AUTO_RULES_H

#include "algos/pick.h"

#define AUTO_SPMM_CUDA_PICKS {"graded", "rowsplit", "tiled-tuned", "naive"}
#define AUTO_SDDMM_CUDA_PICKS {"balanced", "aspt"}
#define AUTO_SPGEMM_CUDA_PICKS {"hash-tuned", "tile-tuned", "hash"}
#define AUTO_SPMM_CPU_PICKS {"rowsplit", "aspt", "tiled"}
#define AUTO_SDDMM_CPU_PICKS {"balanced", "aspt"}
#define AUTO_SPGEMM_CPU_PICKS {"gustavson", "hash", "tile"}

static inline const struct pick_rules *auto_spmm_cuda_row(void)
{
    static const struct pick_rules rules = {1.15, {
        {"graded",
         {-0.829624, 0.0292596, 0.0622022, 0.0989652, 0.0886149, 0.0154956, 0.00234476, 0.00635645, 0.190769, -0.0991871, 0.186385, 0}},
        {"rowsplit",
         {-4.63136, 0.178915, 0.0365242, 0.225021, 0.327254, 0.0510354, 0.294995, -0.11862, 0.616475, 0.233072, 0.155053, 0}},
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
         {-0.314007, 0.127204, 0.0660847, 0.0305544, 0.0700602, 0.0173054, 0.000386394, -0.0612896, 0.129686, 0.0792965, 0.0699421, 0}},
        {"aspt",
         {-2.12598, 0.073034, 0.0457263, 0.218042, 0.023933, 0.224978, 0.0605725, 0.0465209, 0.274071, -0.199853, 0.268641, 0}},
        {NULL, {0}}}};
    return &rules;
}

static inline const struct pick_rules *auto_spgemm_cuda(void)
{
    static const struct pick_rules rules = {1.5, {
        {"hash-tuned",
         {4.21943, 0.628165, 0, 0, 0, 0, 0, 0, 0, 0, 0, -0.327338}},
        {"tile-tuned",
         {6.05462, 0.70677, 0, 0, 0, 0, 0, 0, 0, 0, 0, -0.973185}},
        {"hash",
         {4.7486, 0.965707, 0, 0, 0, 0, 0, 0, 0, 0, 0, -0.770991}},
        {NULL, {0}}}};
    return &rules;
}

static inline const struct pick_rules *auto_spmm_cpu_row(void)
{
    static const struct pick_rules rules = {1.15, {
        {"rowsplit",
         {-1.29204, 0.405749, 0.0239497, 0.175533, 0.322117, 0.379746, 0.144605, -0.0553743, 0.0452617, 0.181349, 0.268429, 0}},
        {"aspt",
         {-1.42428, 0.383534, 0.0248881, 0.130279, 0.366996, 0.389145, 0.143551, -0.00388056, 0.0426189, 0.0996299, 0.296513, 0}},
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
    static const struct pick_rules rules = {1.3, {
        {"balanced",
         {2.81976, 0.239727, 0.0528765, 0.180489, 0.180489, 0.164559, -0.0129554, -0.194593, 0.124997, 0.171157, 0.0462772, 0}},
        {"aspt",
         {2.78799, 0.250532, 0.0526048, 0.196091, 0.196091, 0.0907637, 0.0236995, -0.157727, 0.234491, -0.0884362, -0.252246, 0}},
        {NULL, {0}}}};
    return &rules;
}

static inline const struct pick_rules *auto_spgemm_cpu(void)
{
    static const struct pick_rules rules = {1.5, {
        {"gustavson",
         {7.85884, 1.21141, 0, 0, 0, 0, 0, 0, 0, 0, 0, -0.659714}},
        {"hash",
         {7.87023, 1.1597, 0, 0, 0, 0, 0, 0, 0, 0, 0, -0.497073}},
        {"tile",
         {11.5858, 1.24288, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1.71534}},
        {NULL, {0}}}};
    return &rules;
}

#endif
