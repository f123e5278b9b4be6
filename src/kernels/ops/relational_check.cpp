#include "kernels/ops/relational_check.h"

#include <ATen/core/Tensor.h>

#include "base/check.h"
#include "kernels/ops/argument_check.h"

namespace pistachio::kernels {

void check_words(const at::Tensor& words, const at::Tensor& other) {
  ENSURE(words.defined());
  ENSURE(words.scalar_type() == at::kLong, "they are {}", c10::toString(words.scalar_type()));
  ENSURE_EQ(words.dim(), 1);
  ENSURE(words.device() == other.device());
}

void check_state(const at::Tensor& state, at::ScalarType type, int64_t columns, const at::Tensor& other) {
  ENSURE(state.defined());
  ENSURE(state.scalar_type() == type, "the state is {}", c10::toString(state.scalar_type()));
  ENSURE_EQ(state.dim(), columns == 0 ? 1 : 2);
  if (columns > 0) ENSURE_EQ(state.size(1), columns);
  ENSURE(state.is_contiguous(), "the state has gaps");
  ENSURE(state.device() == other.device());
}

std::optional<at::Tensor> optional_validity(const at::Tensor& validity, int64_t rows, const at::Tensor& other) {
  if (!validity.defined()) return std::nullopt;
  check_mask(validity, rows, other);
  return validity.contiguous();
}

bool is_power_of_two(int64_t value) {
  return value > 0 && (value & (value - 1)) == 0;
}

void check_ranges(const at::Tensor& begins, const at::Tensor& ends, const at::Tensor& other) {
  for (const at::Tensor& places : {begins, ends}) {
    ENSURE(places.defined());
    ENSURE(places.scalar_type() == at::kLong, "they are {}", c10::toString(places.scalar_type()));
    ENSURE_EQ(places.dim(), 2);
    ENSURE(places.device() == other.device());
  }
  ENSURE_GE(begins.size(0), 1);
  ENSURE_EQ(begins.size(0), ends.size(0));
  ENSURE_EQ(begins.size(1), ends.size(1));
}

}  // namespace pistachio::kernels
