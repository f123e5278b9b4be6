// LZ4 compression of packed rows for slow links. A block is compressed in independent pieces, so that no piece exceeds the codec's limit and a part
// that does not shrink stays uncompressed.
//   raw bytes: uint64 | length of each 256 KiB piece (the last may be shorter): uint32 | the pieces
// The top bit of a length marks an uncompressed piece. Pure functions and one counter; thread-safe. Memory: the result and one piece.
#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <cstdint>
#include <optional>

namespace pistachio {

// `block` is uint8 [bytes] on the host, at least one. Nothing if it would not shrink to nine tenths.
std::optional<at::Tensor> compress_block(const at::Tensor& block);

// Throws PeerError for bytes that compress_block did not make; what they say of their size is checked before anything is allocated for it.
at::Tensor decompress_block(const at::Tensor& compressed);

// Whether a link of so many bytes a second is slower than LZ4 on both of its ends; 0: nobody knows, and it is taken for a fast one.
bool compression_pays(double link_speed);

// A block as it travels.
struct WireBlock {
  at::Tensor bytes;
  bool is_compressed = false;
};

// Compresses the blocks of one exchange as long as that is of use: after one that did not shrink, it is some time before another is tried.
// Thread-safe.
class BlockCompressor {
 public:
  static constexpr int64_t kSmallestBlock = 4 << 10;  // smaller ones cost more than they save
  static constexpr int kBlocksBetweenTrials = 15;

  explicit BlockCompressor(bool is_on) : is_on_(is_on) {}
  WireBlock wire_form(at::Tensor block);

 private:
  const bool is_on_;
  std::atomic<int> untried_ = 0;  // so many blocks more go as they are
};

}  // namespace pistachio
