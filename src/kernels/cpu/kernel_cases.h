// The table of operations that the agreement tests run: for each, a generator that draws the arguments of one call. The call is made
// through the front door as often as wanted, on whatever body the mode and the instruction set choose. For tests only.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "kernels/cpu/test_streams.h"

namespace pistachio::kernels::kernel_cases {

using Call = std::function<std::vector<at::Tensor>()>;

struct Draw {
  test_streams::Random& random;
  int64_t rows;  // about how many rows the call should have
  at::Device device;
};

struct Operation {
  std::string name;
  std::function<Call(Draw&)> draw;      // a valid call
  std::function<Call(Draw&)> draw_bad;  // a call on damaged bytes; empty for operations that read no file bytes
};

// What GoogleTest prints of a parameter.
inline void PrintTo(const Operation& operation, std::ostream* out) {
  *out << operation.name;
}

std::vector<Operation> decode_operations();
std::vector<Operation> value_operations();
std::vector<Operation> text_operations();
std::vector<Operation> relational_operations();

// A tensor with the same elements that lies elsewhere: as it is, behind an offset, or with gaps.
at::Tensor disguise(Draw& draw, at::Tensor tensor);
at::Tensor bytes_tensor(Draw& draw, const test_streams::Bytes& bytes);
// bool [rows]: random, or sometimes all of one kind.
at::Tensor random_mask(Draw& draw, int64_t rows);
// Undefined in half of the cases: no NULLs.
at::Tensor optional_mask(Draw& draw, int64_t rows);
// Values of a random column dtype (sometimes two-word), with extremes.
at::Tensor random_values(Draw& draw, int64_t rows, bool allow_wide);

}  // namespace pistachio::kernels::kernel_cases
