// Vectors at any address in memory, included once per type and kind of processor. `middle` is for
// AVX-512, which otherwise has no vectors between 64 and 16 bytes.
typedef T NAME(wide) __attribute__((vector_size(VECTOR), aligned(sizeof(T)), may_alias));
typedef T NAME(middle) __attribute__((vector_size(32), aligned(sizeof(T)), may_alias));
typedef T NAME(narrow) __attribute__((vector_size(16), aligned(sizeof(T)), may_alias));
