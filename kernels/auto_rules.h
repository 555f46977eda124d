// The rules of `auto`, made by results/fit_auto.py: not to be edited. The weights are in the order
// of enum pick_feature.
// clang-format off
#ifndef AUTO_RULES_H
#define AUTO_RULES_H

#include "algos/pick.h"

#define AUTO_SPMM_CUDA_PICKS {"aspt", "merge-tuned", "rowsplit", "tiled-tuned", "tiled", "naive"}
#define AUTO_SDDMM_CUDA_PICKS {"balanced", "aspt"}
#define AUTO_SPGEMM_CUDA_PICKS {"hash-tuned", "tile-tuned"}
#define AUTO_SPMM_CPU_PICKS {"rowsplit", "aspt", "tiled"}
#define AUTO_SDDMM_CPU_PICKS {"balanced", "aspt"}
#define AUTO_SPGEMM_CPU_PICKS {"gustavson", "hash", "tile"}

static inline const struct pick_rules *auto_spmm_cuda_row(void)
{
    static const struct pick_rules rules = {1.67, {
        {"aspt",
         {0.168788, 0.154994, 0.0480756, 0.017681, 0.0305346, 0.0382045, -0.130632, 0.172135, -0.0529948, 0.202707, 0}},
        {"merge-tuned",
         {0.886683, -0.159307, 0.0699246, 0.0971857, 0.0256958, 0.0187866, 0.0423454, -0.00138498, 0.0845354, 0.128372, 0}},
        {"rowsplit",
         {-0.394961, 0.221799, 0.0527377, -0.287212, 0.446335, -0.0318457, 0.0245985, -0.0729435, 0.909148, 0.0352527, 0}},
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
