// Decompresses pages: Snappy with our own decoder, the other codecs with Arrow's. One per column reader; not thread-safe.
#pragma once

#include <memory>
#include <span>

#include "base/error.h"
#include "storage/parquet_footer.h"

namespace arrow::util {
class Codec;
}

namespace pistachio {

// Upper bound of decompressed bytes per compressed byte; INT64_MAX if there is no useful bound.
int64_t largest_expansion(PageCodec codec);

// The error for a Snappy block that does not decompress to the `bytes` bytes its page claims.
DataError damaged_snappy_page(size_t bytes, const DataLocation& where);

class PageDecompressor {
 public:
  // Throws DataError when the codec is not supported.
  PageDecompressor(PageCodec codec, const DataLocation& where);
  ~PageDecompressor();

  bool is_identity() const { return kind_ == PageCodec::Uncompressed; }

  // Throws DataError if the claimed size is impossible for the codec. Call it before allocating.
  void check_claim(int64_t compressed_bytes, int64_t uncompressed_bytes, const DataLocation& where) const;
  // Whether kernels::snappy_decompress() can do it.
  bool is_known_to_devices() const { return kind_ == PageCodec::Snappy; }
  // Fills `target` exactly. Throws DataError.
  void decompress(std::span<const uint8_t> source, std::span<uint8_t> target, const DataLocation& where) const;
  // For a codec that devices know: fills `target` with the first of the block's `length` bytes. Throws DataError.
  void decompress_start(std::span<const uint8_t> source, size_t length, std::span<uint8_t> target, const DataLocation& where) const;

 private:
  PageCodec kind_;
  std::unique_ptr<arrow::util::Codec> codec_;  // none for Snappy
};

}  // namespace pistachio
