// Shared parts of the forms of `auto`: options and descriptors. Rules: auto_rules.h.
#ifndef AUTO_H
#define AUTO_H

#include "select/auto_rules.h"

static const struct algo_option auto_options[] = {
    {"trials", 1, 0, 1, true, "1: time all candidates if the rule does not decide"}, {0}};

// Descriptors, from `layouts` or `precs` on.
#define AUTO_DENSE(prepare_function, layout_bits, prec_bits, ...)                                  \
    .layouts = layout_bits, .precs = prec_bits, .A = {&format_csr}, .arith = ARITH_PREC,           \
    .options = auto_options, .cite = "Own work", .keeps_values = true, .picks = __VA_ARGS__,       \
    ALGO_FUNCTIONS(prepare_function, delegate_run, delegate_teardown)
#define AUTO_SPARSE(prepare_function, differs_text, ...)                                           \
    .precs = BOTH_PRECS, .A = {&format_csr}, .S = {&format_csr}, .arith = ARITH_PREC,              \
    .options = auto_options, .cite = "Own work", .differs = differs_text, .picks = __VA_ARGS__,    \
    ALGO_FUNCTIONS(prepare_function, delegate_run, delegate_teardown), .finish = delegate_finish,  \
    .release = delegate_release

#endif
