// Streams chunks into a Parquet file or an Arrow IPC stream, through Arrow's writers. One thread. Memory: one chunk and, for Parquet, the
// row group being filled, which is bounded in rows and bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "storage/arrow_export.h"

namespace pistachio {

// Receives the bytes in order. An exception it throws aborts writing and propagates unchanged out of the writer's call.
using ByteSink = std::function<void(std::string_view bytes)>;

class ChunkWriter {
 public:
  virtual ~ChunkWriter() = default;
  // Throws UserError for values that the format cannot represent; rethrows errors of the sink.
  virtual void write(const Chunk& chunk) = 0;
  // Without this call the output stays truncated, so that readers reject it.
  virtual void finish() = 0;
};

enum class ParquetCompression { None, Snappy, Gzip, Zstd, Lz4, Brotli };

struct ParquetStyle {
  ParquetCompression compression = ParquetCompression::Snappy;
  std::optional<int> level = {};  // of the codec; its own default without
  // Row groups are large enough to read efficiently and small enough to buffer: they also end at 64 MB.
  int64_t row_group_rows = 1 << 20;
};

std::unique_ptr<ChunkWriter> make_parquet_writer(const std::vector<NamedType>& columns, ByteSink sink, const ParquetStyle& style = {});
std::unique_ptr<ChunkWriter> make_arrow_stream_writer(const std::vector<NamedType>& columns, ByteSink sink);

}  // namespace pistachio
