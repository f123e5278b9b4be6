#include "network/block_compression.h"

#include <arrow/result.h>
#include <arrow/util/compression.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "kernels/ops/tensor_functions.h"
#include "network/message_limits.h"

namespace pistachio {

namespace {

constexpr int64_t kPieceBytes = 256 << 10;
constexpr uint32_t kIsRaw = uint32_t{1} << 31;
constexpr int64_t kFrontBytes = sizeof(uint64_t);
// LZ4 expands a byte to at most 255 bytes; one more leaves room for the first sequence.
constexpr int64_t kLargestExpansion = 256;

int64_t piece_count(int64_t raw_bytes) {
  return (raw_bytes + kPieceBytes - 1) / kPieceBytes;
}

std::unique_ptr<arrow::util::Codec> make_codec() {
  arrow::Result<std::unique_ptr<arrow::util::Codec>> made = arrow::util::Codec::Create(arrow::Compression::LZ4);
  ENSURE(made.ok(), "Arrow was built without LZ4: {}", made.status().message());
  return std::move(*made);
}

void require(bool holds, const char* what) {
  if (!holds) throw PeerError(fmt::format("compressed rows from another rank are damaged: {}", what));
}

}  // namespace

std::optional<at::Tensor> compress_block(const at::Tensor& block) {
  ENSURE(block.scalar_type() == at::kByte && block.dim() == 1 && block.is_contiguous() && block.numel() > 0);
  const int64_t raw_bytes = block.numel(), pieces = piece_count(raw_bytes), limit = raw_bytes - raw_bytes / 10;
  int64_t place = kFrontBytes + pieces * static_cast<int64_t>(sizeof(uint32_t));
  // A payload over the limit must be rejected on send; compressing it would hide that.
  if (place >= limit || raw_bytes > kLargestPayload) return std::nullopt;
  std::unique_ptr<arrow::util::Codec> codec = make_codec();
  const auto* raw = block.const_data_ptr<uint8_t>();
  at::Tensor made = at::empty({limit}, at::kByte);
  auto* out = made.mutable_data_ptr<uint8_t>();
  std::vector<uint8_t> scratch(static_cast<size_t>(codec->MaxCompressedLen(std::min(raw_bytes, kPieceBytes), raw)));
  const auto front = static_cast<uint64_t>(raw_bytes);
  std::memcpy(out, &front, sizeof front);
  for (int64_t piece = 0; piece < pieces; ++piece) {
    const uint8_t* from = raw + piece * kPieceBytes;
    const int64_t bytes = std::min(kPieceBytes, raw_bytes - piece * kPieceBytes);
    arrow::Result<int64_t> length = codec->Compress(bytes, from, static_cast<int64_t>(scratch.size()), scratch.data());
    ENSURE(length.ok(), "{}", length.status().message());
    const bool is_smaller = *length < bytes;
    const int64_t taken = is_smaller ? *length : bytes;
    if (taken > limit - place) return std::nullopt;
    const uint32_t entry = static_cast<uint32_t>(taken) | (is_smaller ? 0 : kIsRaw);
    std::memcpy(out + kFrontBytes + piece * static_cast<int64_t>(sizeof entry), &entry, sizeof entry);
    std::memcpy(out + place, is_smaller ? scratch.data() : from, static_cast<size_t>(taken));
    place += taken;
  }
  return made.narrow(0, 0, place).clone();  // a view would keep the whole allocation alive until it is sent
}

at::Tensor decompress_block(const at::Tensor& compressed) {
  require(compressed.defined() && compressed.dim() == 1 && compressed.scalar_type() == at::kByte && compressed.is_contiguous() &&
              compressed.numel() >= kFrontBytes,
          "there is nothing");
  const auto* in = compressed.const_data_ptr<uint8_t>();
  uint64_t front = 0;
  std::memcpy(&front, in, sizeof front);
  require(front > 0 && front <= static_cast<uint64_t>(kLargestPayload), "it exceeds the largest message");
  const auto raw_bytes = static_cast<int64_t>(front);
  require(raw_bytes <= compressed.numel() * kLargestExpansion, "its size is implausible");
  const int64_t pieces = piece_count(raw_bytes);
  int64_t place = kFrontBytes + pieces * static_cast<int64_t>(sizeof(uint32_t));
  require(place <= compressed.numel(), "it ends too early");
  std::unique_ptr<arrow::util::Codec> codec = make_codec();
  at::Tensor made = at::empty({raw_bytes}, at::kByte);
  auto* out = made.mutable_data_ptr<uint8_t>();
  for (int64_t piece = 0; piece < pieces; ++piece) {
    uint32_t entry = 0;
    std::memcpy(&entry, in + kFrontBytes + piece * static_cast<int64_t>(sizeof entry), sizeof entry);
    const int64_t length = entry & ~kIsRaw, bytes = std::min(kPieceBytes, raw_bytes - piece * kPieceBytes);
    uint8_t* to = out + piece * kPieceBytes;
    require(length <= compressed.numel() - place, "it ends too early");
    if ((entry & kIsRaw) != 0) {
      require(length == bytes, "a piece has the wrong size");
      std::memcpy(to, in + place, static_cast<size_t>(bytes));
    } else {
      arrow::Result<int64_t> given = codec->Decompress(length, in + place, bytes, to);
      require(given.ok() && *given == bytes, "a piece cannot be decompressed");
    }
    place += length;
  }
  require(place == compressed.numel(), "bytes follow its end");
  return made;
}

bool compression_pays(double link_speed) {
  // A core compresses about 500 MB/s and has other work to do.
  constexpr double fast = 300e6;
  return link_speed > 0 && link_speed < fast;
}

WireBlock BlockCompressor::wire_form(at::Tensor block) {
  bool is_tried = is_on_ && block.numel() >= kSmallestBlock;
  // Concurrent lanes may try one block too many.
  if (is_tried && untried_ > 0) is_tried = untried_.fetch_sub(1) <= 0;
  if (!is_tried) return {std::move(block), false};
  if (std::optional<at::Tensor> compressed = compress_block(block)) return {std::move(*compressed), true};
  untried_ = kBlocksBetweenTrials;
  return {std::move(block), false};
}

}  // namespace pistachio
