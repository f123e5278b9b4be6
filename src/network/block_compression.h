// LZ4 compression of packed rows for slow links. A block is compressed in independent pieces, so that no piece exceeds the codec's limit
// and incompressible parts stay uncompressed.
//   raw bytes: uint64 | length of each 256 KiB piece (the last may be shorter): uint32 | the pieces
// The top bit of a length marks an uncompressed piece. Pure functions and one counter; thread-safe. Memory: the result and one piece.
#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <cstdint>
#include <optional>

namespace pistachio {

// `block` is uint8 [bytes] on the host, not empty. Nullopt if it would not shrink to 90 %.
std::optional<at::Tensor> compress_block(const at::Tensor& block);

// Throws PeerError for bytes that compress_block did not produce; checks the claimed size before allocating.
at::Tensor decompress_block(const at::Tensor& compressed);

// Whether LZ4 on both ends is faster than a link of this many bytes per second; 0: unknown, taken to be fast.
bool compression_pays(double link_speed);

// A block as it is sent.
struct WireBlock {
  at::Tensor bytes;
  bool is_compressed = false;
};

// Compresses the blocks of one exchange while that helps: after a block that did not shrink, some are sent uncompressed before the next
// attempt. Thread-safe.
class BlockCompressor {
 public:
  static constexpr int64_t kSmallestBlock = 4 << 10;  // smaller ones cost more than they save
  static constexpr int kBlocksBetweenTrials = 15;

  explicit BlockCompressor(bool is_on) : is_on_(is_on) {}
  WireBlock wire_form(at::Tensor block);

 private:
  const bool is_on_;
  std::atomic<int> untried_ = 0;  // blocks left uncompressed before the next attempt
};

}  // namespace pistachio
