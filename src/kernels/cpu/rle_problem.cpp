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
  }
  throw InternalError("no problem to report");
}

}  // namespace pistachio::kernels::cpu
