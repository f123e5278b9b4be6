// The CUDA kernels of snappy_decompress, on raw device memory and a stream. No torch headers: nvcc compiles this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace pistachio::kernels::cuda {

constexpr uint32_t kSnappyFragmentBytes = 1 << 16;  // of the output
constexpr uint32_t kSnappyTileBytes = 4096;         // of the input
constexpr uint32_t kSnappyTileEntries = 128;        // a chain of tags that has no long literals enters a tile in its first 64 bytes

struct SnappyPage {
  int64_t begin;            // in the compressed bytes
  int64_t target;           // in the output
  uint32_t bytes;           // compressed, including the plain ones
  uint32_t plain;           // leading bytes to copy
  uint32_t size;            // of the output
  uint32_t page;            // index for errors
  uint32_t first_fragment;  // among all fragments
  uint32_t first_tile;      // among all tiles; only pages of several fragments have tiles
};

struct SnappyFragment {
  uint32_t page;    // index in the table of pages
  uint32_t number;  // in the page
};

struct SnappyTile {
  uint32_t page;
  uint32_t number;
};

// Where a chain of tags that enters a tile leaves it, and what its elements in the tile yield.
struct SnappyHop {
  uint32_t position;  // in the compressed block
  uint32_t made;
};

// A tag and the bytes of the output before it.
struct SnappyStart {
  uint32_t position;
  uint32_t made;
};

// All of it device memory.
struct SnappyBatch {
  const SnappyPage* pages;
  int64_t page_count;
  const SnappyFragment* fragments;
  int64_t fragment_count;
  const SnappyTile* tiles;
  int64_t tile_count;
  SnappyStart* starts;  // [fragments]
  SnappyHop* hops;      // [tiles * kSnappyTileEntries]
  uint32_t* redo;       // [pages], 0
};

// Sets *first_damaged, which is 0 before, to the greatest -1 - page (as unsigned numbers: the first page) of the damaged pages. Returns the
// launch error.
cudaError_t decompress_snappy(const uint8_t* bytes, const SnappyBatch& batch, uint8_t* out, unsigned long long* first_damaged,
                              cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
