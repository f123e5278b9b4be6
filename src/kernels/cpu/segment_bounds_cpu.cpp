// CPU body of segment_bounds: one pass, which fills a segment when it has found its end.

#include <algorithm>
#include <cstring>
#include <tuple>

#include "kernels/ops/tensor_functions.h"

#include "kernels/ops/body_table.h"

namespace pistachio::kernels::cpu {

namespace {

std::tuple<at::Tensor, at::Tensor> segment_bounds(const at::Tensor& starts) {
  const int64_t rows = starts.numel();
  at::Tensor begins = at::empty({rows}, at::kLong), ends = at::empty({rows}, at::kLong);
  const bool* starts_here = starts.const_data_ptr<bool>();
  int64_t* begin_out = begins.mutable_data_ptr<int64_t>();
  int64_t* end_out = ends.mutable_data_ptr<int64_t>();
  for (int64_t begin = 0; begin < rows;) {
    const void* next = begin + 1 < rows ? std::memchr(starts_here + begin + 1, 1, static_cast<size_t>(rows - begin - 1)) : nullptr;
    const int64_t end = next == nullptr ? rows : static_cast<const bool*>(next) - starts_here;
    std::fill(begin_out + begin, begin_out + end, begin);
    std::fill(end_out + begin, end_out + end, end);
    begin = end;
  }
  return {begins, ends};
}

}  // namespace

REGISTER_BODY(Cpu, "segment_bounds", segment_bounds);

}  // namespace pistachio::kernels::cpu
