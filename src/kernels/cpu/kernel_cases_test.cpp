// Random tensors for the agreement tests.
#include "kernels/cpu/kernel_cases.h"

#include <cstring>
#include <limits>

#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::kernel_cases {

using test_streams::uniform;

at::Tensor disguise(Draw& draw, at::Tensor tensor) {
  tensor = tensor.to(draw.device);
  at::DimVector shape(tensor.sizes().begin(), tensor.sizes().end());
  switch (uniform(draw.random, 0, 3)) {
    case 0: {
      const int64_t before = uniform(draw.random, 1, 5);
      shape[0] += before;
      at::Tensor larger = at::zeros(shape, tensor.options());
      larger.slice(0, before).copy_(tensor);
      return larger.slice(0, before);
    }
    case 1: {
      if (tensor.size(0) == 0) return tensor;
      shape[0] *= 2;
      at::Tensor larger = at::zeros(shape, tensor.options());
      larger.slice(0, 0, larger.size(0), 2).copy_(tensor);
      return larger.slice(0, 0, larger.size(0), 2);
    }
    default: return tensor;
  }
}

at::Tensor bytes_tensor(Draw& draw, const test_streams::Bytes& bytes) {
  at::Tensor tensor = at::empty({static_cast<int64_t>(bytes.size())}, at::kByte);
  if (!bytes.empty()) std::memcpy(tensor.mutable_data_ptr<uint8_t>(), bytes.data(), bytes.size());
  return disguise(draw, tensor);
}

at::Tensor random_mask(Draw& draw, int64_t rows) {
  at::Tensor mask = at::empty({rows}, at::kBool);
  bool* out = mask.mutable_data_ptr<bool>();
  const int64_t kind = uniform(draw.random, 0, 4);
  if (kind == 3) {  // runs of equal values
    for (int64_t row = 0; row < rows;) {
      const int64_t stop = std::min(rows, row + uniform(draw.random, 1, 300));
      const bool value = uniform(draw.random, 0, 1) == 1;
      for (; row < stop; ++row) out[row] = value;
    }
  } else {
    const uint64_t share = kind == 0 ? 0 : kind == 1 ? 256 : kind == 2 ? 128 : static_cast<uint64_t>(uniform(draw.random, 1, 255));
    for (int64_t row = 0; row < rows; ++row) out[row] = draw.random() % 256 < share;
  }
  return disguise(draw, mask);
}

namespace {

template <typename T>
at::Tensor random_integers(Draw& draw, int64_t count, at::ScalarType type) {
  at::Tensor values = at::empty({count}, at::TensorOptions(type));
  T* out = static_cast<T*>(values.mutable_data_ptr());
  const bool few = uniform(draw.random, 0, 1) == 0;
  for (int64_t i = 0; i < count; ++i) {
    switch (draw.random() % 32) {
      case 0: out[i] = std::numeric_limits<T>::max(); break;
      case 1: out[i] = std::numeric_limits<T>::min(); break;
      default: out[i] = static_cast<T>(few ? draw.random() % 4 : draw.random());
    }
    if (type == at::kBool) out[i] = out[i] != 0;
  }
  return values;
}

// Small multiples of 1/8, so that sums are exact in any order; occasionally with special values.
template <typename T>
at::Tensor random_floats(Draw& draw, int64_t count, at::ScalarType type) {
  at::Tensor values = at::empty({count}, at::TensorOptions(type));
  T* out = static_cast<T*>(values.mutable_data_ptr());
  const bool special = uniform(draw.random, 0, 1) == 0;
  constexpr T infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const T specials[] = {T(0.0), T(-0.0), infinity, -infinity, nan, -nan};
  const int64_t only = uniform(draw.random, 0, 9);  // sometimes a single special value everywhere
  for (int64_t i = 0; i < count; ++i) {
    out[i] = static_cast<T>(uniform(draw.random, -(1 << 20), 1 << 20)) / 8;
    if (special && only < 6) out[i] = specials[only];
    if (special && only >= 6 && draw.random() % 16 == 0) out[i] = specials[draw.random() % 6];
  }
  return values;
}

}  // namespace

at::Tensor optional_mask(Draw& draw, int64_t rows) {
  return uniform(draw.random, 0, 1) == 0 ? at::Tensor() : random_mask(draw, rows);
}

at::Tensor random_values(Draw& draw, int64_t rows, bool allow_wide) {
  switch (uniform(draw.random, 0, allow_wide ? 8 : 7)) {
    case 0: return disguise(draw, random_integers<uint8_t>(draw, rows, at::kBool));
    case 1: return disguise(draw, random_integers<uint8_t>(draw, rows, at::kByte));
    case 2: return disguise(draw, random_integers<int8_t>(draw, rows, at::kChar));
    case 3: return disguise(draw, random_integers<int16_t>(draw, rows, at::kShort));
    case 4: return disguise(draw, random_integers<int32_t>(draw, rows, at::kInt));
    case 5: return disguise(draw, random_integers<int64_t>(draw, rows, at::kLong));
    case 6: return disguise(draw, random_floats<float>(draw, rows, at::kFloat));
    case 7: return disguise(draw, random_floats<double>(draw, rows, at::kDouble));
    default: {
      at::Tensor words = random_integers<int64_t>(draw, 2 * rows, at::kLong).view({rows, 2});
      // Mostly small values: sums of full-range values overflow, which must not be the only case.
      if (uniform(draw.random, 0, 3) != 0) words.select(1, 1).copy_(words.select(1, 0).bitwise_right_shift(63));
      return disguise(draw, words);
    }
  }
}

}  // namespace pistachio::kernels::kernel_cases
