/* The kernels of three recipes at their default tiles as loops over blocks and threads, cut at the barriers: what the CPU target makes of
   them, written by hand. SIZE: rows and columns, a multiple of the tiles. */
#include <stdlib.h>

typedef float row[SIZE];

void naive(row *restrict A, row *restrict B, row *restrict C) {
  for (long by = 0; by < SIZE / 16; ++by)
    for (long bx = 0; bx < SIZE / 16; ++bx)
      for (long y = 0; y < 16; ++y)
        for (long x = 0; x < 16; ++x) {
          C[by * 16 + y][bx * 16 + x] = 0;
          for (long k = 0; k < SIZE; ++k) C[by * 16 + y][bx * 16 + x] += A[by * 16 + y][k] * B[k][bx * 16 + x];
        }
}

void shared(row *restrict A, row *restrict B, row *restrict C) {
  float As[16][16], Bs[16][16], acc[16][16];
  for (long by = 0; by < SIZE / 16; ++by)
    for (long bx = 0; bx < SIZE / 16; ++bx) {
      for (long y = 0; y < 16; ++y)
        for (long x = 0; x < 16; ++x) acc[y][x] = 0;
      for (long k0 = 0; k0 < SIZE; k0 += 16) {
        for (long y = 0; y < 16; ++y)
          for (long x = 0; x < 16; ++x) {
            As[y][x] = A[by * 16 + y][k0 + x];
            Bs[y][x] = B[k0 + y][bx * 16 + x];
          }
        for (long y = 0; y < 16; ++y)
          for (long x = 0; x < 16; ++x)
            for (long k = 0; k < 16; ++k) acc[y][x] += As[y][k] * Bs[k][x];
      }
      for (long y = 0; y < 16; ++y)
        for (long x = 0; x < 16; ++x) C[by * 16 + y][bx * 16 + x] = acc[y][x];
    }
}

void simt(row *restrict A, row *restrict B, row *restrict C) {
  float(*As)[132] = aligned_alloc(64, 16 * 132 * 4), (*Bs)[128] = aligned_alloc(64, 16 * 128 * 4);
  float(*acc)[8][8] = aligned_alloc(64, 256 * 64 * 4);
  for (long by = 0; by < SIZE / 128; ++by)
    for (long bx = 0; bx < SIZE / 128; ++bx) {
      for (long t = 0; t < 256; ++t)
        for (int i = 0; i < 8; ++i)
          for (int j = 0; j < 8; ++j) acc[t][i][j] = 0;
      for (long k0 = 0; k0 < SIZE; k0 += 16) {
        for (long t = 0; t < 256; ++t) {
          for (long i = 0; i < 2; ++i)
            for (long v = 0; v < 4; ++v)
              As[t % 4 * 4 + v][t / 4 + i * 64] = A[bx * 128 + t / 4 + i * 64][k0 + t % 4 * 4 + v];
          for (long i = 0; i < 2; ++i)
            for (long v = 0; v < 4; ++v)
              Bs[t / 32 + 8 * i][t % 32 * 4 + v] = B[k0 + t / 32 + 8 * i][by * 128 + t % 32 * 4 + v];
        }
        for (long t = 0; t < 256; ++t) {
          long row0 = t % 32 / 4 * 8 + t / 32 / 4 * 64, col0 = t % 4 * 8 + t / 32 % 4 * 32;
          for (long k = 0; k < 16; ++k) {
            float a[8], b[8];
            for (int i = 0; i < 8; ++i) a[i] = As[k][row0 + i];
            for (int i = 0; i < 8; ++i) b[i] = Bs[k][col0 + i];
            for (int i = 0; i < 8; ++i)
              for (int j = 0; j < 8; ++j) acc[t][i][j] += a[i] * b[j];
          }
        }
      }
      for (long t = 0; t < 256; ++t) {
        long row0 = t % 32 / 4 * 8 + t / 32 / 4 * 64, col0 = t % 4 * 8 + t / 32 % 4 * 32;
        for (int i = 0; i < 8; ++i)
          for (int j = 0; j < 8; ++j) C[bx * 128 + row0 + i][by * 128 + col0 + j] = acc[t][i][j];
      }
    }
  free(As);
  free(Bs);
  free(acc);
}
