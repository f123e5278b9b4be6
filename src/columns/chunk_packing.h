// A chunk as one block of bytes, to be sent: columns back to back, each buffer aligned, no row encoding. Text carries only the bytes of its
// rows; a dictionary comes along if it has fewer entries than there are rows, otherwise the values do.
#pragma once

#include "data/chunk.h"

namespace pistachio {

// uint8 [bytes] in host memory.
at::Tensor pack_chunk(const Chunk& chunk);

// The columns are views of the block. Throws PeerError for a block that pack_chunk did not make: every place in it is checked.
Chunk unpack_chunk(const at::Tensor& block);

}  // namespace pistachio
