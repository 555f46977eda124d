#ifndef WARP_SIZE_H
#define WARP_SIZE_H

#define WARP 32 // threads of a warp

#endif
