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
    static const struct pick_rules rules = {1.83, {
        {"rowsplit",
         {0.395678, 0.407933, 0.022243, 0.0948015, 0.29025, 0.362642, 0.00969069, -0.0206298, 0.188675, 0.261424, 0}},
        {"aspt",
         {0.0324524, 0.443789, 0.019901, 0.0679217, 0.324548, 0.331029, 0.0434489, 0.0260145, 0.132583, 0.25199, 0}},
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
         {2.30023, 0.349984, 0.056631, 0.259034, 0.259034, -0.385984, 0.117225, -0.0138918, -0.174585, -0.705174, 0}},
        {"aspt",
         {0.289157, 0.397207, 0.0220182, 0.340452, 0.340452, -0.260154, 0.307995, 0.0165812, -0.336668, -0.658619, 0}},
        {NULL, {0}}}};
    return &rules;
}

static inline const struct pick_rules *auto_spgemm_cpu(void)
{
    static const struct pick_rules rules = {2, {
        {"gustavson",
         {8.44598, 1.20245, 0, 0, 0, 0, 0, 0, 0, 0, -0.658076}},
        {"hash",
         {8.39734, 1.19981, 0, 0, 0, 0, 0, 0, 0, 0, -0.551794}},
        {"tile",
         {11.9281, 1.2204, 0, 0, 0, 0, 0, 0, 0, 0, -1.61974}},
        {NULL, {0}}}};
    return &rules;
}

#endif
