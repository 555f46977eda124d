// Name and version of the compiler of this build.
#ifndef COMPILER_H
#define COMPILER_H

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

#endif
