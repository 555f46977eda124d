// The rules of `auto`, made by results/fit_auto.py: not to be edited. The weights are in the order
// of enum pick_feature.
// clang-format off
#ifndef AUTO_RULES_H
#define AUTO_RULES_H

#include "algos/pick.h"

#define AUTO_SPMM_CUDA_PICKS {"graded", "aspt", "merge-tuned", "rowsplit", "tiled-tuned", "tiled", "naive"}
#define AUTO_SDDMM_CUDA_PICKS {"balanced", "aspt"}
#define AUTO_SPGEMM_CUDA_PICKS {"hash-tuned", "tile-tuned"}
#define AUTO_SPMM_CPU_PICKS {"rowsplit", "aspt", "tiled"}
#define AUTO_SDDMM_CPU_PICKS {"balanced", "aspt"}
#define AUTO_SPGEMM_CPU_PICKS {"gustavson", "hash", "tile"}

static inline const struct pick_rules *auto_spmm_cuda_row(void)
{
    static const struct pick_rules rules = {1.71, {
        {"graded",
         {0.281941, 0.080273, 0.062648, -0.0631396, 0.118657, 0.0353128, -0.060156, 0.00275769, 0.167301, 0.174539, 0}},
        {"aspt",
         {0.174015, 0.154054, 0.0482635, 0.0179556, 0.0295344, 0.0390632, -0.129705, 0.17014, -0.0514157, 0.194535, 0}},
        {"merge-tuned",
         {0.881355, -0.160192, 0.0699494, 0.0974259, 0.0261535, 0.0192335, 0.043236, -0.0021598, 0.0855993, 0.129221, 0}},
        {"rowsplit",
         {-0.496517, 0.20988, 0.0527779, -0.284413, 0.449788, -0.0112667, 0.0256366, -0.0722437, 0.904206, 0.0493829, 0}},
        {NULL, {0}}}};
    return &rules;
}

static inline const struct pick_rules *auto_spmm_cuda_col(void)
{
    static const struct pick_rules rules = {2, {
        {"tiled-tuned",
         {0.0890665, 0.288095, 0.0368674, -0.0349827, 0.151106, 0, -0.0786766, 0.0234965, 0.082254, 0.0392232, 0}},
        {"tiled",
         {1.4093, 0.0996234, 0.0566604, -0.0298237, 0.0943709, 0, -0.215582, 0.166909, -0.113774, -0.0367175, 0}},
        {"naive",
         {-0.330966, 0.386916, 0.0440222, -0.114274, 0.20259, 0, 0.183229, 0.0900163, 0.701592, -0.180493, 0}},
        {NULL, {0}}}};
    return &rules;
}

static inline const struct pick_rules *auto_sddmm_cuda(void)
{
    static const struct pick_rules rules = {2, {
        {"balanced",
         {0.639929, 0.131259, 0.0701252, -0.076185, 0.0943018, -0.0134663, -0.0607063, -0.0453884, 0.205114, 0.0396724, 0}},
        {"aspt",
         {-0.109983, 0.0816035, 0.0542653, -0.00753474, 0.0751638, 0.159947, -0.0685372, 0.0801256, 0.0660423, 0.204671, 0}},
        {NULL, {0}}}};
    return &rules;
}

static inline const struct pick_rules *auto_spgemm_cuda(void)
{
    static const struct pick_rules rules = {2, {
        {"hash-tuned",
         {4.21943, 0.628165, 0, 0, 0, 0, 0, 0, 0, 0, -0.327338}},
        {"tile-tuned",
         {6.05462, 0.70677, 0, 0, 0, 0, 0, 0, 0, 0, -0.973185}},
        {NULL, {0}}}};
    return &rules;
}

static inline const struct pick_rules *auto_spmm_cpu_row(void)
{
    static const struct pick_rules rules = {1.91, {
        {"rowsplit",
         {-1.3766, 0.395921, 0.0236159, 0.165254, 0.33807, 0.392659, 0.150204, -0.0508181, 0.216119, 0.281113, 0}},
        {"aspt",
         {-1.5039, 0.37428, 0.0245737, 0.1206, 0.382017, 0.401305, 0.148823, 0.000409604, 0.13237, 0.308456, 0}},
        {NULL, {0}}}};
    return &rules;
}

static inline const struct pick_rules *auto_spmm_cpu_col(void)
{
    static const struct pick_rules rules = {1, {
        {"tiled",
         {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
        {NULL, {0}}}};
    return &rules;
}

static inline const struct pick_rules *auto_sddmm_cpu(void)
{
    static const struct pick_rules rules = {2, {
        {"balanced",
         {2.93056, 0.230736, 0.0524721, 0.175451, 0.175451, 0.175711, -0.0304089, -0.182194, 0.290786, 0.0572182, 0}},
        {"aspt",
         {2.99585, 0.233666, 0.0518461, 0.186639, 0.186639, 0.111684, -0.00904269, -0.134468, 0.135983, -0.231721, 0}},
        {NULL, {0}}}};
    return &rules;
}

static inline const struct pick_rules *auto_spgemm_cpu(void)
{
    static const struct pick_rules rules = {2, {
        {"gustavson",
         {7.85884, 1.21141, 0, 0, 0, 0, 0, 0, 0, 0, -0.659714}},
        {"hash",
         {7.87023, 1.1597, 0, 0, 0, 0, 0, 0, 0, 0, -0.497073}},
        {"tile",
         {11.5858, 1.24288, 0, 0, 0, 0, 0, 0, 0, 0, -1.71534}},
        {NULL, {0}}}};
    return &rules;
}

#endif
