// A shared library that is no plug-in.
int nothing(void);
int nothing(void) { return 0; }
