// Included into every file of llama.cpp's native build. GCC 12's <amxtileintrin.h> tells the
// compiler that _tile_loadconfig reads 8 of the 64 bytes that it reads, so the stores of the others
// are dropped and the program dies of an invalid tile configuration on every machine with AMX.
#pragma once
#ifdef __AMX_TILE__
#include <immintrin.h>
#define _tile_loadconfig(config) \
  __asm__ volatile("ldtilecfg %0" ::"m"(*reinterpret_cast<const char(*)[64]>(config)))
#endif
