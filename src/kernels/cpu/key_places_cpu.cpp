// CPU body of append_digit and present_places.

#include <algorithm>
#include <type_traits>

#include "kernels/cpu/value_kind_of.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

// Arithmetic wraps: values under a NULL may be anything.
template <typename T>
void append_digits(const int32_t* places, const T* values, const bool* valid, int64_t rows, uint32_t first, uint32_t size, int32_t* out) {
  const auto digit = [=](int64_t row) { return static_cast<uint32_t>(values[row]) - first; };
  const auto base = [=](int64_t row) { return places == nullptr ? 0 : static_cast<uint32_t>(places[row]) * size; };
  if (valid == nullptr && places == nullptr) {
    for (int64_t row = 0; row < rows; ++row) out[row] = static_cast<int32_t>(digit(row));
  } else if (valid == nullptr) {
    for (int64_t row = 0; row < rows; ++row) out[row] = static_cast<int32_t>(base(row) + digit(row));
  } else {
    for (int64_t row = 0; row < rows; ++row) out[row] = static_cast<int32_t>(base(row) + (digit(row) & (valid[row] ? ~0U : 0U)));
  }
}

at::Tensor append_digit(const std::optional<at::Tensor>& places, const at::Tensor& values, int64_t least, int64_t size,
                        const std::optional<at::Tensor>& validity) {
  at::Tensor out = at::empty({values.size(0)}, at::kInt);
  const int32_t* before = places ? places->const_data_ptr<int32_t>() : nullptr;
  const bool* valid = validity ? validity->const_data_ptr<bool>() : nullptr;
  with_type(value_kind_of(values), [&](auto type) {
    using T = decltype(type);
    if constexpr (std::is_integral_v<T>) {
      append_digits(before, static_cast<const T*>(values.const_data_ptr()), valid, values.size(0), static_cast<uint32_t>(least - 1),
                    static_cast<uint32_t>(size), out.mutable_data_ptr<int32_t>());
    }
  });
  return out;
}

at::Tensor present_places(const at::Tensor& places, int64_t limit) {
  at::Tensor is_present = at::zeros({limit}, at::kByte);
  uint8_t* marks = is_present.mutable_data_ptr<uint8_t>();
  const int32_t* place = places.const_data_ptr<int32_t>();
  for (int64_t row = 0; row < places.numel(); ++row) marks[place[row]] = 1;
  at::Tensor present = at::empty({std::count(marks, marks + limit, 1)}, at::kLong);
  int64_t* out = present.mutable_data_ptr<int64_t>();
  for (int64_t i = 0; i < limit; ++i) {
    if (marks[i] != 0) *out++ = i;
  }
  return present;
}

}  // namespace

REGISTER_BODY(Cpu, "append_digit", append_digit);
REGISTER_BODY(Cpu, "present_places", present_places);

}  // namespace pistachio::kernels::cpu
