// A version of the planted vendor's library (planted.c), for -cusparse.
const char *planted_version(void);
const char *planted_version(void) { return "Plant 2.0"; }
