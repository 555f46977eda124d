// Citations of papers with several algorithms in this project.
#ifndef PAPERS_H
#define PAPERS_H

#define YANG_2018                                                                                  \
    "Yang, Buluc, Owens: Design Principles for Sparse Matrix Multiplication on the GPU, "          \
    "Euro-Par 2018"
#define NAGASAKA_2017                                                                              \
    "Nagasaka, Nukada, Matsuoka: High-performance and Memory-saving Sparse General "               \
    "Matrix-Matrix Multiplication for NVIDIA Pascal GPU, ICPP 2017"
#define HONG_2019                                                                                  \
    "Hong, Sukumaran-Rajam, Nisa, Singh, Sadayappan: Adaptive Sparse Tiling for Sparse Matrix "    \
    "Multiplication, PPoPP 2019"
#define NIU_2022                                                                                   \
    "Niu, Lu, Ji, Song, Jin, Liu: TileSpGEMM: A Tiled Algorithm for Parallel Sparse General "      \
    "Matrix-Matrix Multiplication on GPUs, PPoPP 2022"
#define KJOLSTAD_2017                                                                              \
    "Kjolstad, Kamil, Chou, Lugato, Amarasinghe: The Tensor Algebra Compiler, OOPSLA 2017"
#define TILED_SPMM "Optimizing Tiled Sparse Matrix Multiplication with Performance Modeling on GPUs"

#endif
