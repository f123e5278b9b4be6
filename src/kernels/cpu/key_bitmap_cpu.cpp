// CPU body of key_bitmap_add and key_bitmap_test. Scalar loops without branches: rows are independent, and bits of neighbouring keys share
// cache lines.

#include <type_traits>

#include "kernels/cpu/value_kind_of.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

template <typename Run>
void with_integers(const at::Tensor& values, const Run& run) {
  with_type(value_kind_of(values), [&](auto type) {
    using T = decltype(type);
    if constexpr (std::is_integral_v<T>) run(static_cast<const T*>(values.const_data_ptr()));
  });
}

// Wraps for values below `least`, to far above every range.
template <typename T>
uint64_t place_of(T value, uint64_t least) {
  return static_cast<uint64_t>(static_cast<int64_t>(value)) - least;
}

void key_bitmap_add(at::Tensor& words, const at::Tensor& values, int64_t least) {
  auto* word = reinterpret_cast<uint64_t*>(words.mutable_data_ptr<int64_t>());
  with_integers(values, [&](const auto* value) {
    for (int64_t row = 0, rows = values.numel(); row < rows; ++row) {
      const uint64_t place = place_of(value[row], static_cast<uint64_t>(least));
      word[place >> 6] |= uint64_t{1} << (place & 63);
    }
  });
}

at::Tensor key_bitmap_test(const at::Tensor& words, const at::Tensor& values, int64_t least) {
  if (words.numel() == 0) return at::zeros({values.numel()}, at::kBool);
  at::Tensor passes = at::empty({values.numel()}, at::kBool);
  const auto* word = reinterpret_cast<const uint64_t*>(words.const_data_ptr<int64_t>());
  const uint64_t limit = static_cast<uint64_t>(words.numel()) * 64;
  bool* out = passes.mutable_data_ptr<bool>();
  with_integers(values, [&](const auto* value) {
    for (int64_t row = 0, rows = values.numel(); row < rows; ++row) {
      const uint64_t place = place_of(value[row], static_cast<uint64_t>(least));
      const bool is_inside = place < limit;
      const uint64_t inside = is_inside ? place : 0;
      out[row] = is_inside & static_cast<bool>(word[inside >> 6] >> (inside & 63) & 1);
    }
  });
  return passes;
}

}  // namespace

REGISTER_BODY(Cpu, "key_bitmap_add", key_bitmap_add);
REGISTER_BODY(Cpu, "key_bitmap_test", key_bitmap_test);

}  // namespace pistachio::kernels::cpu
