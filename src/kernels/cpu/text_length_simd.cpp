// Characters are bytes minus continuation bytes. Rows are processed in blocks: the values of a block are usually close together in memory,
// so one sweep over that range often proves that it is all ASCII, and the result is the sum of lengths. Otherwise each value is counted.
#include "kernels/cpu/text_length_simd.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels/cpu/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/text_length_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pistachio::kernels::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE bool is_ascii(const uint8_t* data, int64_t length) {
  const hn::ScalableTag<uint8_t> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  auto seen = hn::Zero(d);
  int64_t i = 0;
  for (; i + 4 * lanes <= length; i += 4 * lanes) {
    const auto first = hn::Or(hn::LoadU(d, data + i), hn::LoadU(d, data + i + lanes));
    const auto second = hn::Or(hn::LoadU(d, data + i + 2 * lanes), hn::LoadU(d, data + i + 3 * lanes));
    seen = hn::Or(seen, hn::Or(first, second));
  }
  uint8_t rest = 0;
  for (; i < length; ++i) rest |= data[i];
  return rest < 128 && hn::AllTrue(d, hn::Lt(seen, hn::Set(d, uint8_t{128})));
}

// Counts continuation bytes (10xxxxxx) among `length` bytes.
HWY_INLINE int64_t continuation_bytes(const uint8_t* data, int64_t length) {
  int64_t count = 0, i = 0;
#if HWY_TARGET <= HWY_AVX3
  const __m512i first_other = _mm512_set1_epi8(-64);  // as signed bytes, continuation bytes are those below 0xc0
  for (; i < length; i += 64) {
    const __mmask64 mask = length - i >= 64 ? ~__mmask64{0} : (__mmask64{1} << (length - i)) - 1;
    const __m512i bytes = _mm512_maskz_loadu_epi8(mask, data + i);
    count += __builtin_popcountll(_mm512_cmplt_epi8_mask(bytes, first_other));
  }
#else
  for (; i + 8 <= length; i += 8) {
    uint64_t word;
    std::memcpy(&word, data + i, 8);
    count += __builtin_popcountll((word >> 7) & (~word >> 6) & 0x0101010101010101);
  }
  for (; i < length; ++i) count += (data[i] & 0xc0) == 0x80;
#endif
  return count;
}

constexpr int64_t block_rows = 1024;

struct Block {
  int64_t bytes = 0;  // of the valid values
  int64_t begin = std::numeric_limits<int64_t>::max();
  int64_t end = 0;
  // Whether to sweep from the values' first to last byte: only if gaps are not much longer than the values.
  bool close_together(int64_t rows) const { return end - begin <= 2 * bytes + 16 * rows; }
};

HWY_INLINE Block measure(const int64_t* begins, const int64_t* ends, const uint8_t* validity, int64_t rows) {
  Block block;
  if (validity == nullptr) {
    for (int64_t row = 0; row < rows; ++row) {
      block.bytes += ends[row] - begins[row];
      block.begin = std::min(block.begin, begins[row]);
      block.end = std::max(block.end, ends[row]);
    }
  } else {
    for (int64_t row = 0; row < rows; ++row) {
      block.bytes += validity[row] != 0 ? ends[row] - begins[row] : 0;
      block.begin = std::min(block.begin, begins[row]);
      block.end = std::max(block.end, ends[row]);
    }
  }
  return block;
}

TextLengths SumTextLengths(const uint8_t* data, const int64_t* begins, const int64_t* ends, const uint8_t* validity, int64_t rows) {
  TextLengths lengths;
  for (int64_t start = 0; start < rows; start += block_rows) {
    const int64_t count = std::min(block_rows, rows - start);
    const uint8_t* valid = validity != nullptr ? validity + start : nullptr;
    const Block block = measure(begins + start, ends + start, valid, count);
    lengths.bytes += block.bytes;
    lengths.characters += block.bytes;
    if (valid == nullptr) {
      lengths.count += count;
    } else {
      for (int64_t row = 0; row < count; ++row) lengths.count += valid[row] != 0;
    }
    if (block.close_together(count) && is_ascii(data + block.begin, block.end - block.begin)) continue;
    for (int64_t row = start; row < start + count; ++row) {
      if (validity != nullptr && validity[row] == 0) continue;
      lengths.characters -= continuation_bytes(data + begins[row], ends[row] - begins[row]);
    }
  }
  return lengths;
}

void CountCharacters(const uint8_t* data, const int64_t* begins, const int64_t* ends, int64_t rows, int64_t* characters) {
  for (int64_t start = 0; start < rows; start += block_rows) {
    const int64_t stop = std::min(rows, start + block_rows);
    const Block block = measure(begins + start, ends + start, nullptr, stop - start);
    for (int64_t row = start; row < stop; ++row) characters[row] = ends[row] - begins[row];
    if (block.close_together(stop - start) && is_ascii(data + block.begin, block.end - block.begin)) continue;
    for (int64_t row = start; row < stop; ++row) characters[row] -= continuation_bytes(data + begins[row], characters[row]);
  }
}

}  // namespace pistachio::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pistachio::kernels::cpu {

HWY_EXPORT(SumTextLengths);
HWY_EXPORT(CountCharacters);

TextLengths sum_text_lengths(const uint8_t* data, const int64_t* begins, const int64_t* ends, const uint8_t* validity,
                             int64_t rows) {
  return HWY_DYNAMIC_DISPATCH(SumTextLengths)(data, begins, ends, validity, rows);
}
void count_characters(const uint8_t* data, const int64_t* begins, const int64_t* ends, int64_t rows, int64_t* characters) {
  HWY_DYNAMIC_DISPATCH(CountCharacters)(data, begins, ends, rows, characters);
}

}  // namespace pistachio::kernels::cpu
#endif
