// Serializes chunks into one block of bytes: columns back to back, each buffer aligned, no row encoding. Text is compacted to the bytes of
// its rows; a dictionary is included if it has no more entries than there are rows, else the column is decoded. Dictionaries shared by
// many chunks can be sent separately, once.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "data/chunk.h"

namespace pistachio {

using SharedDictionaries = std::vector<std::shared_ptr<const Column>>;

// Dictionaries of this size, in bytes of memory, are sent separately.
struct ExternalDictionaryLimits {
  int64_t least = INT64_MAX;
  int64_t most = 0;
};

struct PackedChunk {
  at::Tensor block;                 // uint8 [bytes] in host memory, pinned if the chunk is on a GPU
  SharedDictionaries dictionaries;  // dictionaries outside the block, which it refers to by index; on the chunk's device
};

// Most dictionaries that a chunk may refer to outside its block.
constexpr size_t kMaxExternalDictionaries = 256;

// The rows of all chunks, at least one, whose columns have the same types. Columns on a GPU are compacted there and copied once.
PackedChunk pack_chunks(const std::vector<Chunk>& chunks, ExternalDictionaryLimits limits);
PackedChunk pack_chunk(const Chunk& chunk, ExternalDictionaryLimits limits);
// With all dictionaries in the block, which is never pinned: it may be kept.
at::Tensor pack_chunk(const Chunk& chunk);

// The columns are views of the block, or of a copy of it on `device`. `dictionaries`: as returned by pack_chunk, in the same order, on
// `device`. Throws PeerError for malformed blocks: every offset is checked.
Chunk unpack_chunk(const at::Tensor& block, const SharedDictionaries& dictionaries = {}, at::Device device = at::kCPU);

}  // namespace pistachio
