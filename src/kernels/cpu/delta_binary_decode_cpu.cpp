// CPU body of delta_binary_decode: allocates, walks the page table, turns problems into DataError.
#include <ATen/ATen.h>
#include <torch/library.h>

#include "base/error.h"
#include "kernels/cpu/delta_binary_simd.h"
#include "kernels/ops/argument_check.h"

namespace pistachio::kernels::cpu {

namespace {

const char* problem_text(DeltaProblem problem) {
  switch (problem) {
    case DeltaProblem::None: break;
    case DeltaProblem::EndsEarly: return "the page ends before its delta-coded values";
    case DeltaProblem::NumberTooLong: return "a number of more than 64 bits";
    case DeltaProblem::BlockSize: return "a delta stream with absurd block sizes";
    case DeltaProblem::TooFewValues: return "a delta stream with fewer values than its page";
    case DeltaProblem::BitWidth: return "deltas of more than 64 bits";
  }
  return "no problem";
}

std::tuple<at::Tensor, at::Tensor> delta_binary_decode(const at::Tensor& bytes, const at::Tensor& pages, bool is_32_bit) {
  at::Tensor values = at::empty({total_take(pages)}, at::kLong);
  at::Tensor ends = at::empty({pages.size(0)}, at::kLong);
  int64_t* out = values.mutable_data_ptr<int64_t>();
  int64_t* end_out = ends.mutable_data_ptr<int64_t>();
  const uint8_t* data = bytes.const_data_ptr<uint8_t>();
  auto rows = pages.accessor<int64_t, 2>();
  for (int64_t page = 0; page < rows.size(0); ++page) {
    const int64_t begin = rows[page][0], take = rows[page][4];
    const DeltaOutcome outcome = decode_delta(data + begin, data + rows[page][1], rows[page][3], take, is_32_bit, out);
    if (outcome.problem != DeltaProblem::None) throw DataError(problem_text(outcome.problem), {.offset = begin + outcome.length});
    end_out[page] = begin + outcome.length;
    out += take;
  }
  return {values, ends};
}

}  // namespace

TORCH_LIBRARY_IMPL(pistachio, CPU, library) {
  library.impl("delta_binary_decode", TORCH_FN(delta_binary_decode));
}

}  // namespace pistachio::kernels::cpu
