#include "storage/page_decompressor.h"

#include <arrow/result.h>
#include <arrow/util/compression.h>
#include <fmt/format.h>

#include <cstring>

#include "base/check.h"
#include "storage/snappy_decompressor.h"

namespace pistachio {

namespace {

arrow::Compression::type arrow_codec(PageCodec codec) {
  switch (codec) {
    case PageCodec::Gzip: return arrow::Compression::GZIP;
    case PageCodec::Brotli: return arrow::Compression::BROTLI;
    case PageCodec::Zstd: return arrow::Compression::ZSTD;
    case PageCodec::Lz4Raw: return arrow::Compression::LZ4;
    case PageCodec::Lz4Hadoop: return arrow::Compression::LZ4_HADOOP;
    default: return arrow::Compression::UNCOMPRESSED;
  }
}

}  // namespace

DataError damaged_snappy_page(size_t bytes, const DataLocation& where) {
  return DataError(fmt::format("page is damaged: its SNAPPY block does not give {} bytes", bytes), where);
}

// Snappy: 3 bytes copy up to 64; LZ4: 255 per length byte; Deflate: 258 bytes in 2 bits. Zstd and Brotli have no useful bound.
int64_t largest_expansion(PageCodec codec) {
  switch (codec) {
    case PageCodec::Uncompressed: return 1;
    case PageCodec::Snappy: return 22;
    case PageCodec::Lz4Raw:
    case PageCodec::Lz4Hadoop: return 256;
    case PageCodec::Gzip: return 1040;
    default: return INT64_MAX;
  }
}

PageDecompressor::PageDecompressor(PageCodec codec, const DataLocation& where) : kind_(codec) {
  if (codec == PageCodec::Unsupported)
    throw DataError("its compression codec is not supported (LZO, or one unknown to this version)", where);
  if (codec == PageCodec::Uncompressed || codec == PageCodec::Snappy) return;
  arrow::Result<std::unique_ptr<arrow::util::Codec>> made = arrow::util::Codec::Create(arrow_codec(codec));
  if (!made.ok()) throw DataError(fmt::format("codec {} is not available: {}", codec_name(codec), made.status().message()), where);
  codec_ = std::move(*made);
}

PageDecompressor::~PageDecompressor() = default;

void PageDecompressor::check_claim(int64_t compressed_bytes, int64_t uncompressed_bytes, const DataLocation& where) const {
  if (is_identity()) {
    if (uncompressed_bytes != compressed_bytes) {
      throw DataError(fmt::format("uncompressed page claims {} bytes and has {}", uncompressed_bytes, compressed_bytes), where);
    }
    return;
  }
  int64_t expansion = largest_expansion(kind_);
  if (expansion < INT64_MAX && uncompressed_bytes > (compressed_bytes + 16) * expansion) {
    throw DataError(
        fmt::format("page claims {} bytes, more than {} can make of {}", uncompressed_bytes, codec_name(kind_), compressed_bytes), where);
  }
}

void PageDecompressor::decompress_start(std::span<const uint8_t> source, size_t length, std::span<uint8_t> target,
                                        const DataLocation& where) const {
  ENSURE(is_known_to_devices());
  if (!snappy_decompress_start(source, length, target)) throw damaged_snappy_page(length, where);
}

void PageDecompressor::decompress(std::span<const uint8_t> source, std::span<uint8_t> target, const DataLocation& where) const {
  if (is_identity()) {
    if (source.size() != target.size()) throw DataError("uncompressed page has the wrong size", where);
    if (!source.empty()) std::memcpy(target.data(), source.data(), source.size());
    return;
  }
  if (target.empty()) return;
  if (kind_ == PageCodec::Snappy) {
    if (!snappy_decompress(source, target)) throw damaged_snappy_page(target.size(), where);
    return;
  }
  arrow::Result<int64_t> made =
      codec_->Decompress(static_cast<int64_t>(source.size()), source.data(), static_cast<int64_t>(target.size()), target.data());
  if (!made.ok())
    throw DataError(fmt::format("page cannot be decompressed with {}: {}", codec_name(kind_), made.status().message()), where);
  if (*made != static_cast<int64_t>(target.size())) {
    throw DataError(fmt::format("page has {} bytes when decompressed, its header says {}", *made, target.size()), where);
  }
}

}  // namespace pistachio
