// Sort keys. Scalar loops that the compiler vectorizes.
#include "kernels/cpu/sort_keys_simd.h"

#include <algorithm>

#include "kernels/cpu/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/sort_keys_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pistachio::kernels::cpu::HWY_NAMESPACE {

WordRange RangeOfWords(const int64_t* HWY_RESTRICT words, const int64_t* HWY_RESTRICT rows, int64_t count) {
  int64_t least = words[rows == nullptr ? 0 : rows[0]], greatest = least;
  if (rows == nullptr) {
    for (int64_t i = 0; i < count; ++i) {
      least = std::min(least, words[i]);
      greatest = std::max(greatest, words[i]);
    }
  } else {
    for (int64_t i = 0; i < count; ++i) {
      least = std::min(least, words[rows[i]]);
      greatest = std::max(greatest, words[rows[i]]);
    }
  }
  return {least, greatest};
}

void AppendWords(const int64_t* HWY_RESTRICT words, const int64_t* HWY_RESTRICT rows, int64_t count, int64_t least, int dropped, int bits,
                 uint64_t* HWY_RESTRICT numbers) {
  const uint64_t base = static_cast<uint64_t>(least);
  if (rows == nullptr) {
    for (int64_t i = 0; i < count; ++i) numbers[i] = numbers[i] << bits | (static_cast<uint64_t>(words[i]) - base) >> dropped;
  } else {
    for (int64_t i = 0; i < count; ++i) numbers[i] = numbers[i] << bits | (static_cast<uint64_t>(words[rows[i]]) - base) >> dropped;
  }
}

void AppendPositions(int64_t count, int bits, uint64_t* HWY_RESTRICT numbers) {
  for (int64_t i = 0; i < count; ++i) numbers[i] = numbers[i] << bits | static_cast<uint64_t>(i);
}

void RowsOfPositions(const uint64_t* HWY_RESTRICT numbers, int64_t count, int bits, const int64_t* HWY_RESTRICT rows,
                     int64_t* HWY_RESTRICT out) {
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  if (rows == nullptr) {
    for (int64_t i = 0; i < count; ++i) out[i] = static_cast<int64_t>(numbers[i] & mask);
  } else {
    for (int64_t i = 0; i < count; ++i) out[i] = rows[numbers[i] & mask];
  }
}

}  // namespace pistachio::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pistachio::kernels::cpu {

HWY_EXPORT(RangeOfWords);
HWY_EXPORT(AppendWords);
HWY_EXPORT(AppendPositions);
HWY_EXPORT(RowsOfPositions);

WordRange range_of_words(const int64_t* words, const int64_t* rows, int64_t count) {
  return HWY_DYNAMIC_DISPATCH(RangeOfWords)(words, rows, count);
}
void append_words(const int64_t* words, const int64_t* rows, int64_t count, int64_t least, int dropped, int bits, uint64_t* numbers) {
  HWY_DYNAMIC_DISPATCH(AppendWords)(words, rows, count, least, dropped, bits, numbers);
}
void append_positions(int64_t count, int bits, uint64_t* numbers) {
  HWY_DYNAMIC_DISPATCH(AppendPositions)(count, bits, numbers);
}
void rows_of_positions(const uint64_t* numbers, int64_t count, int bits, const int64_t* rows, int64_t* out) {
  HWY_DYNAMIC_DISPATCH(RowsOfPositions)(numbers, count, bits, rows, out);
}

}  // namespace pistachio::kernels::cpu
#endif
