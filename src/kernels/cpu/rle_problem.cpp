#include "kernels/cpu/rle_problem.h"

#include "base/error.h"

namespace pistachio::kernels::cpu {

void throw_rle_problem(RleProblem problem, int64_t offset) {
  switch (problem) {
    case RleProblem::None: break;
    case RleProblem::EndsEarly: throw DataError("the page ends before its values", {.offset = offset});
    case RleProblem::NumberTooLong: throw DataError("a number of more than 64 bits", {.offset = offset});
    case RleProblem::ValueTooWide: throw DataError("a repeated value is wider than its bit width", {.offset = offset});
    case RleProblem::RunTooLong: throw DataError("a bit-packed run of absurd length", {.offset = offset});
    case RleProblem::Surplus: throw DataError("the page holds more values than its levels", {.offset = offset});
  }
  throw InternalError("no problem to report");
}

void check_run_counts(const uint8_t* bytes, int64_t begin, int64_t end, int64_t bit_width, int64_t needed) {
  if (bit_width == 0 || needed <= (end - begin) * 8 / bit_width) return;
  RleRunReader reader(bytes + begin, bytes + end, static_cast<int>(bit_width));
  RleRun run;
  for (; needed > 0; needed -= run.count) {
    if (const RleProblem problem = reader.next(run); problem != RleProblem::None) throw_rle_problem(problem, reader.position() - bytes);
  }
}

}  // namespace pistachio::kernels::cpu
