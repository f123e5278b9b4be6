#include "kernels/cpu/key_ranks_simd.h"

#include <type_traits>

#include "kernels/cpu/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/key_ranks_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pistachio::kernels::cpu::HWY_NAMESPACE {

// Without branches: lookups of different rows overlap their cache misses.
template <typename T>
HWY_INLINE void look_up(const KeyRanks& ranks, const T* HWY_RESTRICT values, int64_t rows, int64_t* HWY_RESTRICT found) {
  const KeyRanks local = ranks;
  for (int64_t row = 0; row < rows; ++row) {
    const uint64_t place = local.place_of(values[row]);
    const bool is_inside = place < local.values;
    const uint64_t inside = is_inside ? place : 0;
    const uint64_t* words = local.words + 2 * (inside >> 6);
    const uint64_t bit = inside & 63;
    const bool is_there = is_inside & static_cast<bool>(words[0] >> bit & 1);
    const uint64_t smaller = words[0] & ((uint64_t{1} << bit) - 1);
    const int64_t rank = static_cast<int64_t>(words[1]) + __builtin_popcountll(smaller);
    found[row] = is_there ? rank : -1;
  }
}

void LookUpRanks(const KeyRanks& ranks, ValueKind kind, const void* values, const bool* validity, int64_t begin, int64_t end,
                 int64_t* HWY_RESTRICT found) {
  with_type(kind, [&](auto type) HWY_ATTR {
    using T = decltype(type);
    if constexpr (std::is_integral_v<T>) look_up(ranks, static_cast<const T*>(values) + begin, end - begin, found);
  });
  if (validity == nullptr) return;
  for (int64_t row = begin; row < end; ++row) {
    if (!validity[row]) found[row - begin] = -1;
  }
}

}  // namespace pistachio::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pistachio::kernels::cpu {

HWY_EXPORT(LookUpRanks);

void look_up_ranks(const KeyRanks& ranks, ValueKind kind, const void* values, const bool* validity, int64_t begin, int64_t end,
                   int64_t* found) {
  HWY_DYNAMIC_DISPATCH(LookUpRanks)(ranks, kind, values, validity, begin, end, found);
}

}  // namespace pistachio::kernels::cpu
#endif
