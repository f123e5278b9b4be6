// The operations that the agreement tests run, each with a generator that draws the arguments of one call. A call can be repeated on
// whichever body the mode and the instruction set select. For tests only.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "kernels/cpu/test_streams.h"

namespace pistachio::kernels::kernel_cases {

using Call = std::function<std::vector<at::Tensor>()>;

struct Draw {
  test_streams::Random& random;
  int64_t rows;  // approximate number of rows of the call
  at::Device device;
};

struct Operation {
  std::string name;
  std::function<Call(Draw&)> draw;      // a valid call
  std::function<Call(Draw&)> draw_bad;  // a call on damaged bytes; empty for operations that do not read file bytes
};

// GoogleTest prints parameters with it.
inline void PrintTo(const Operation& operation, std::ostream* out) {
  *out << operation.name;
}

std::vector<Operation> decode_operations();
std::vector<Operation> value_operations();
std::vector<Operation> text_operations();
std::vector<Operation> relational_operations();
std::vector<Operation> range_operations();

// The same elements in a different layout: unchanged, at an offset, or strided.
at::Tensor disguise(Draw& draw, at::Tensor tensor);
at::Tensor bytes_tensor(Draw& draw, const test_streams::Bytes& bytes);
// bool [rows]: random, sometimes all true or all false.
at::Tensor random_mask(Draw& draw, int64_t rows);
// Undefined (no NULLs) in half of the cases.
at::Tensor optional_mask(Draw& draw, int64_t rows);
// Values of a random column dtype (sometimes two-word), including extremes.
at::Tensor random_values(Draw& draw, int64_t rows, bool allow_wide);

}  // namespace pistachio::kernels::kernel_cases
