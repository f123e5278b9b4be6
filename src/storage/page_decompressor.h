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

class PageDecompressor {
 public:
  // Throws DataError when the codec is not supported.
  PageDecompressor(PageCodec codec, const DataLocation& where);
  ~PageDecompressor();

  bool is_identity() const { return kind_ == PageCodec::Uncompressed; }

  // Throws DataError if the claimed size is impossible for the codec. Call it before allocating.
  void check_claim(int64_t compressed_bytes, int64_t uncompressed_bytes, const DataLocation& where) const;
  // Fills `target` exactly. Throws DataError.
  void decompress(std::span<const uint8_t> source, std::span<uint8_t> target, const DataLocation& where) const;

 private:
  PageCodec kind_;
  std::unique_ptr<arrow::util::Codec> codec_;  // none for Snappy
};

}  // namespace pistachio
