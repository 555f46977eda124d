// Formats the numbers of tables. Each function writes into `text` and returns it.
#ifndef CELL_H
#define CELL_H

// Four significant digits: 0.01234, 1.234, 123.4, 12345; "-" of NAN.
const char *cell_number(double x, char text[32]);
// A whole number: "12345".
const char *cell_count(double x, char text[32]);
// Half an interval in percent of the median: "0.42", "12", ">99"; "-": there is no interval.
const char *cell_interval(double percent, char text[32]);
// A share in percent: "36.5"; "-" of NAN.
const char *cell_percent(double percent, char text[32]);
// Milliseconds of a preparation: "0.003", "18.12"; "-": not known.
const char *cell_prep(double ms, char text[32]);
// A number of runs: "21", "never"; "-": NAN.
const char *cell_runs(double runs, char text[32]);
// A ratio of two times: "1.36", "0.023", "3221"; "-" of NAN.
const char *cell_ratio(double x, char text[32]);

#endif
