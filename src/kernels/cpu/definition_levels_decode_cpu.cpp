// CPU body of definition_levels_decode: allocates, walks the page table, turns problems into DataError.
#include <fmt/format.h>

#include "base/error.h"
#include "kernels/cpu/boolean_decode_simd.h"
#include "kernels/cpu/rle_problem.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

int64_t bits_of(int64_t max_level) {
  return max_level == 0 ? 0 : 64 - __builtin_clzll(static_cast<uint64_t>(max_level));
}

std::tuple<at::Tensor, at::Tensor> definition_levels_decode(const at::Tensor& bytes, const at::Tensor& pages) {
  const uint8_t* data = bytes.const_data_ptr<uint8_t>();
  auto rows = pages.accessor<int64_t, 2>();
  for (int64_t page = 0; page < rows.size(0); ++page)
    check_run_counts(data, rows[page][0], rows[page][1], bits_of(rows[page][2]), rows[page][3] + rows[page][4]);
  at::Tensor validity = at::empty({total_take(pages)}, at::kBool);
  at::Tensor counts = at::empty({pages.size(0), 2}, at::kLong);
  uint8_t* out = reinterpret_cast<uint8_t*>(validity.mutable_data_ptr<bool>());
  auto count = counts.accessor<int64_t, 2>();
  for (int64_t page = 0; page < rows.size(0); ++page) {
    const int64_t begin = rows[page][0], max_level = rows[page][2], skip = rows[page][3], take = rows[page][4];
    LevelsOutcome outcome{.valid_skipped = skip, .valid_taken = take};
    if (max_level == 0) {
      std::fill_n(out, take, uint8_t{1});
    } else {
      outcome = decode_levels(data + begin, data + rows[page][1], static_cast<uint32_t>(max_level), skip, take, out);
      if (outcome.problem != RleProblem::None) throw_rle_problem(outcome.problem, begin + outcome.offset);
      if (outcome.above_max) {
        throw DataError(fmt::format("a definition level above {}", max_level), {.offset = begin + outcome.offset});
      }
    }
    count[page][0] = outcome.valid_skipped;
    count[page][1] = outcome.valid_taken;
    out += take;
  }
  return {validity, counts};
}

}  // namespace

REGISTER_BODY(Cpu, "definition_levels_decode", definition_levels_decode);

}  // namespace pistachio::kernels::cpu
