// Writes chunks, as they come, in a format of Arrow's making: a Parquet file or an Arrow IPC stream. One thread. Memory: a chunk, and for
// Parquet the row group that is being filled, which is bounded in rows and bytes.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "storage/arrow_export.h"

namespace pistachio {

// Takes the bytes in their order. What it throws ends the writing and comes out of the writer's call as it was thrown.
using ByteSink = std::function<void(std::string_view bytes)>;

class ChunkWriter {
 public:
  virtual ~ChunkWriter() = default;
  // Throws UserError for values that the format cannot hold, and what the sink throws.
  virtual void write(const Chunk& chunk) = 0;
  // Without it the output stays unfinished, and a reader will say so.
  virtual void finish() = 0;
};

std::unique_ptr<ChunkWriter> make_parquet_writer(const std::vector<NamedType>& columns, ByteSink sink);
std::unique_ptr<ChunkWriter> make_arrow_stream_writer(const std::vector<NamedType>& columns, ByteSink sink);

}  // namespace pistachio
