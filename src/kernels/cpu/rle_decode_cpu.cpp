// CPU body of rle_decode: allocates, walks the page table, turns problems into DataError.
#include <fmt/format.h>

#include "base/error.h"
#include "kernels/cpu/rle_decode_simd.h"
#include "kernels/cpu/rle_problem.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

at::Tensor rle_decode(const at::Tensor& bytes, const at::Tensor& pages) {
  const uint8_t* data = bytes.const_data_ptr<uint8_t>();
  auto rows = pages.accessor<int64_t, 2>();
  for (int64_t page = 0; page < rows.size(0); ++page)
    check_run_counts(data, rows[page][0], rows[page][1], rows[page][2], rows[page][5] + rows[page][6]);
  at::Tensor values = at::empty({total_take(pages)}, at::kInt);
  uint32_t* out = reinterpret_cast<uint32_t*>(values.mutable_data_ptr<int32_t>());
  for (int64_t page = 0; page < rows.size(0); ++page) {
    const int64_t begin = rows[page][0], bit_width = rows[page][2], limit = rows[page][3], take = rows[page][6];
    if (bit_width == 0) {
      std::fill_n(out, take, 0u);
    } else {
      const RleOutcome outcome = decode_rle(data + begin, data + rows[page][1], static_cast<int>(bit_width), rows[page][5], take, out);
      if (outcome.problem != RleProblem::None) throw_rle_problem(outcome.problem, begin + outcome.offset);
      if (limit > 0 && outcome.max >= limit) {
        throw DataError(fmt::format("a code of {} in a dictionary of {}", outcome.max, limit), {.offset = begin});
      }
    }
    if (const uint32_t base = static_cast<uint32_t>(rows[page][4]); base != 0) {
      for (int64_t i = 0; i < take; ++i) out[i] += base;
    }
    out += take;
  }
  return values;
}

}  // namespace

REGISTER_BODY(Cpu, "rle_decode", rle_decode);

}  // namespace pistachio::kernels::cpu
