// Name and version of the compiler of this build, and its version of OpenMP as a date.
#ifndef COMPILER_H
#define COMPILER_H

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif
#define OPENMP_TEXT(x)    #x
#define OPENMP_DATE(date) OPENMP_TEXT(date)
#define OPENMP            OPENMP_DATE(_OPENMP)

#endif
