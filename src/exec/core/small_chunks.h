// Joins small chunks of a GPU into larger ones: an operator launches the same kernels for a thousand rows as for a million, and after a
// selective filter the host needs longer for the launches than the GPU for the rows. Chunks are held until they exceed a size, or there are
// more of them than were passed on before: a LIMIT gets its first rows at once, and many small chunks become few. Not thread-safe; one per
// lane. Memory: chunks of up to `bytes`, which share the memory of the scan that made them, and their concatenation.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "data/chunk.h"

namespace pistachio {

class SmallChunks {
 public:
  explicit SmallChunks(int64_t bytes) : most_bytes_(bytes) {}

  // Returns rows to pass on, this chunk's included, or holds them.
  std::optional<Chunk> add(Chunk chunk);
  // The rows held.
  std::optional<Chunk> take();

 private:
  const int64_t most_bytes_;
  std::vector<Chunk> held_;
  int64_t bytes_ = 0;
  size_t passed_ = 0;  // chunks, before they were joined
};

// All chunks as one; text stays dictionary-coded where that is shorter. At least one chunk.
Chunk join_chunks(std::vector<Chunk> chunks);

}  // namespace pistachio
