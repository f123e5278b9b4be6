// Delta decoding: each miniblock is unpacked with vectors into a small buffer, then summed. The sum is a dependency chain of one add per
// value, about as fast as a vector prefix sum with its shuffles.
#include "kernels/cpu/delta_binary_simd.h"

#include <algorithm>

#include "kernels/cpu/rle_runs.h"
#include "kernels/cpu/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/delta_binary_simd.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/bit_unpack_inl.h"

HWY_BEFORE_NAMESPACE();
namespace pistachio::kernels::cpu::HWY_NAMESPACE {

constexpr int64_t delta_buffer = 256;  // values unpacked at a time; a multiple of 8, so that each part starts at a byte boundary

class DeltaDecoder {
 public:
  DeltaDecoder(const uint8_t* begin, const uint8_t* end, int64_t skip, int64_t take, bool is_32_bit, int64_t* out)
      : begin_(begin), position_(begin), end_(end), skip_(skip), needed_(skip + take), is_32_bit_(is_32_bit), out_(out) {}

  DeltaOutcome run() {
    if (position_ == end_ && needed_ == 0) return {};
    DeltaProblem problem = read_header();
    if (problem == DeltaProblem::None && total_ > 0) {
      if (skip_ == 0 && needed_ > 0) out_[0] = wrapped();
      index_ = 1;
      while (problem == DeltaProblem::None && index_ < total_) problem = read_block();
    }
    return {problem, position_ - begin_};
  }

 private:
  DeltaProblem read_number(uint64_t& number) {
    switch (read_varint(position_, end_, number)) {
      case RleProblem::None: return DeltaProblem::None;
      case RleProblem::EndsEarly: return DeltaProblem::EndsEarly;
      default: return DeltaProblem::NumberTooLong;
    }
  }

  DeltaProblem read_header() {
    uint64_t block_size, miniblocks, total, first;
    for (uint64_t* number : {&block_size, &miniblocks, &total, &first}) {
      if (const DeltaProblem problem = read_number(*number); problem != DeltaProblem::None) return problem;
    }
    if (block_size == 0 || block_size % 128 != 0 || block_size > (1 << 20) || miniblocks == 0 || miniblocks > 1024 ||
        block_size % miniblocks != 0 || block_size / miniblocks % 32 != 0) {
      return DeltaProblem::BlockSize;
    }
    if (total < static_cast<uint64_t>(needed_)) return DeltaProblem::TooFewValues;
    miniblocks_ = static_cast<int64_t>(miniblocks);
    miniblock_size_ = static_cast<int64_t>(block_size / miniblocks);
    // Clamped; a bogus count runs out of bytes long before this.
    total_ = static_cast<int64_t>(std::min<uint64_t>(total, uint64_t{1} << 62));
    value_ = from_zigzag(first);
    return DeltaProblem::None;
  }

  DeltaProblem read_block() {
    uint64_t zigzag;
    if (const DeltaProblem problem = read_number(zigzag); problem != DeltaProblem::None) return problem;
    const uint64_t min_delta = from_zigzag(zigzag);
    if (end_ - position_ < miniblocks_) return DeltaProblem::EndsEarly;
    const uint8_t* bit_widths = position_;
    position_ += miniblocks_;
    for (int64_t miniblock = 0; miniblock < miniblocks_ && index_ < total_; ++miniblock) {
      const int bit_width = bit_widths[miniblock];
      if (bit_width > 64) return DeltaProblem::BitWidth;
      const int64_t count = std::min(miniblock_size_, total_ - index_);
      if ((count * bit_width + 7) / 8 > end_ - position_) return DeltaProblem::EndsEarly;
      if (index_ < needed_) add_deltas(bit_width, min_delta, std::min(count, needed_ - index_));
      index_ += count;
      position_ += std::min<int64_t>(miniblock_size_ / 8 * bit_width, end_ - position_);
    }
    return DeltaProblem::None;
  }

  // Decodes `count` values starting at index_ from the packed deltas at position_, all of which are in the page.
  void add_deltas(int bit_width, uint64_t min_delta, int64_t count) {
    for (int64_t done = 0; done < count; done += delta_buffer) {
      const int64_t step = std::min(delta_buffer, count - done);
      const uint8_t* packed = position_ + done / 8 * bit_width;
      if (bit_width == 0) {
        sum_up(step, index_ + done, [min_delta](int64_t) HWY_ATTR { return min_delta; });
      } else if (bit_width <= 32) {
        uint32_t deltas[delta_buffer];
        BitUnpacker(bit_width).unpack(packed, end_ - packed, step, deltas);
        sum_up(step, index_ + done, [&deltas, min_delta](int64_t i) HWY_ATTR { return min_delta + deltas[i]; });
      } else {
        uint64_t deltas[delta_buffer];
        for (int64_t i = 0; i < step; ++i) deltas[i] = unpack_one(packed, end_ - packed, bit_width, i);
        sum_up(step, index_ + done, [&deltas, min_delta](int64_t i) HWY_ATTR { return min_delta + deltas[i]; });
      }
    }
  }

  template <typename Delta>
  HWY_INLINE void sum_up(int64_t count, int64_t index, const Delta& delta) {
    int64_t i = 0;
    for (; i < count && index + i < skip_; ++i) value_ += delta(i);
    int64_t* out = out_;
    const int64_t place = index - skip_;  // of delta 0; negative if it is skipped
    uint64_t value = value_;
    if (is_32_bit_) {
      for (; i < count; ++i) out[place + i] = static_cast<int32_t>(static_cast<uint32_t>(value += delta(i)));
    } else {
      for (; i < count; ++i) out[place + i] = static_cast<int64_t>(value += delta(i));
    }
    value_ = value;
  }

  int64_t wrapped() const { return is_32_bit_ ? static_cast<int32_t>(static_cast<uint32_t>(value_)) : static_cast<int64_t>(value_); }
  static uint64_t from_zigzag(uint64_t number) { return (number >> 1) ^ (0 - (number & 1)); }

  const uint8_t* begin_;
  const uint8_t* position_;
  const uint8_t* end_;
  int64_t skip_, needed_;
  bool is_32_bit_;
  int64_t* out_;
  int64_t miniblocks_ = 0, miniblock_size_ = 0;
  int64_t total_ = 0;  // values in the stream
  int64_t index_ = 0;  // index of the next value
  uint64_t value_ = 0;
};

DeltaOutcome DecodeDelta(const uint8_t* begin, const uint8_t* end, int64_t skip, int64_t take, bool is_32_bit, int64_t* out) {
  return DeltaDecoder(begin, end, skip, take, is_32_bit, out).run();
}

}  // namespace pistachio::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pistachio::kernels::cpu {

HWY_EXPORT(DecodeDelta);

DeltaOutcome decode_delta(const uint8_t* begin, const uint8_t* end, int64_t skip, int64_t take, bool is_32_bit, int64_t* out) {
  return HWY_DYNAMIC_DISPATCH(DecodeDelta)(begin, end, skip, take, is_32_bit, out);
}

}  // namespace pistachio::kernels::cpu
#endif
