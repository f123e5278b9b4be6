// Decompresses pages: Snappy with our own decoder, the other codecs with Arrow's. One per column reader; not for use by several threads at
// once.
#pragma once

#include <memory>
#include <span>

#include "base/error.h"
#include "storage/parquet_footer.h"

namespace arrow::util {
class Codec;
}

namespace pistachio {

// The most bytes that a codec can make of one; INT64_MAX where there is no useful bound.
int64_t largest_expansion(PageCodec codec);

class PageDecompressor {
 public:
  // Throws DataError when the codec is not supported.
  PageDecompressor(PageCodec codec, const DataLocation& where);
  ~PageDecompressor();

  bool is_identity() const { return kind_ == PageCodec::Uncompressed; }

  // Refuses a claimed size that the codec cannot reach from so few bytes, before anything is allocated for it.
  void check_claim(int64_t compressed_bytes, int64_t uncompressed_bytes, const DataLocation& where) const;
  // Fills `target` exactly. Throws DataError.
  void decompress(std::span<const uint8_t> source, std::span<uint8_t> target, const DataLocation& where) const;

 private:
  PageCodec kind_;
  std::unique_ptr<arrow::util::Codec> codec_;  // none for Snappy
};

}  // namespace pistachio
