#include "report/cell.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *cell_number(double x, char text[32])
{
    if (isnan(x)) return strcpy(text, "-");
    int decimals = x > 0 && isfinite(x) ? 3 - (int)floor(log10(x)) : 3;
    snprintf(text, 32, "%.*f", decimals < 0 ? 0 : decimals > 7 ? 7 : decimals, x);
    return text;
}

const char *cell_count(double x, char text[32])
{
    snprintf(text, 32, "%.0f", x);
    return text;
}

const char *cell_percent(double percent, char text[32])
{
    snprintf(text, 32, isnan(percent) ? "-" : "%.1f", percent);
    return text;
}

const char *cell_interval(double percent, char text[32])
{
    if (isnan(percent))
        snprintf(text, 32, "-");
    else if (percent < 99.5)
        snprintf(text, 32, percent < 9.95 ? "%.2f" : "%.0f", percent);
    else
        snprintf(text, 32, ">99");
    return text;
}

const char *cell_prep(double ms, char text[32])
{
    if (isnan(ms)) return strcpy(text, "-");
    if (ms >= 1) return cell_number(ms, text);
    snprintf(text, 32, "%.3f", ms);
    return text;
}

const char *cell_runs(double runs, char text[32])
{
    if (isnan(runs)) return strcpy(text, "-");
    if (isinf(runs)) return strcpy(text, "never");
    snprintf(text, 32, runs < 1e9 ? "%.0f" : "%.2g", runs);
    return text;
}

const char *cell_ratio(double x, char text[32])
{
    if (isnan(x))
        snprintf(text, 32, "-");
    else
        snprintf(text, 32, x >= 999.5 ? "%.0f" : x >= 0.1 ? "%.2f" : "%.2g", x);
    return text;
}
