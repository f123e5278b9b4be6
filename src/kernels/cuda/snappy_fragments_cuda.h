// Finds where the fragments of long Snappy pages begin. Writers compress 64 KB at a time and no copy reaches beyond its fragment, so the
// fragments of a page can be decompressed in parallel, although the format does not guarantee this.
// No torch headers: nvcc compiles this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/snappy_decompress_cuda.h"

namespace pistachio::kernels::cuda {

// Fills `starts` for the fragments of the pages whose tiles are listed: the nearest place at or before the fragment where a tag is known.
// Sets redo[page] if the tags of the page lead to no such places. `hops` has kSnappyTileEntries entries per tile. All of it is device memory.
cudaError_t find_snappy_fragments(const uint8_t* bytes, const SnappyPage* pages, int64_t page_count, const SnappyTile* tiles,
                                  int64_t tile_count, SnappyHop* hops, SnappyStart* starts, uint32_t* redo, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
