// A chunk as one block of bytes, to be sent: columns back to back, each buffer aligned, no row encoding. Text carries only the bytes of its
// rows; a dictionary comes along if it has no more entries than there are rows, otherwise the values do. Dictionaries that many chunks
// share may travel apart from them, once.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "data/chunk.h"

namespace pistachio {

using SharedDictionaries = std::vector<std::shared_ptr<const Column>>;

// Which dictionaries stay out of blocks, by their bytes in memory.
struct ApartSizes {
  int64_t least = INT64_MAX;
  int64_t most = 0;
};

struct PackedChunk {
  at::Tensor block;                 // uint8 [bytes] in host memory
  SharedDictionaries dictionaries;  // those that the block refers to, by their place in here; as they are in the chunk, on its device
};

// No chunk refers to more dictionaries that are not in its block.
constexpr size_t kMostApart = 256;

PackedChunk pack_chunk(const Chunk& chunk, ApartSizes apart);
// With all of its dictionaries.
at::Tensor pack_chunk(const Chunk& chunk);

// The columns are views of the block. `dictionaries` are those that pack_chunk left out, in host memory, in its order. Throws PeerError for
// a block that pack_chunk did not make: every place in it is checked.
Chunk unpack_chunk(const at::Tensor& block, const SharedDictionaries& dictionaries = {});

}  // namespace pistachio
