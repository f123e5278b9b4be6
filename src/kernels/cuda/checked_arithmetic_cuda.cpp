// CUDA bodies of checked_arithmetic and wide_arithmetic, on torch's current stream. They synchronize once, for the
// error flag, unless checks are deferred.
#include "kernels/cuda/checked_arithmetic_cuda.h"

#include "base/error.h"
#include "kernels/cuda/kernel_call.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/checked_arithmetic.h"

namespace pistachio::kernels::cuda {

namespace {

static_assert(static_cast<int64_t>(ArithmeticOperation::Add) == static_cast<int64_t>(Arithmetic::Add));
static_assert(static_cast<int64_t>(ArithmeticOperation::Subtract) == static_cast<int64_t>(Arithmetic::Subtract));
static_assert(static_cast<int64_t>(ArithmeticOperation::Multiply) == static_cast<int64_t>(Arithmetic::Multiply));
static_assert(static_cast<int64_t>(ArithmeticOperation::Divide) == static_cast<int64_t>(Arithmetic::Divide));
static_assert(static_cast<int64_t>(ArithmeticOperation::Modulo) == static_cast<int64_t>(Arithmetic::Modulo));
static_assert(static_cast<int64_t>(ArithmeticOperation::DivideRounding) == static_cast<int64_t>(Arithmetic::DivideRounding));

at::Tensor compute(const at::Tensor& left, int64_t operation, const at::Tensor& right, const std::optional<at::Tensor>& valid,
                   bool is_wide) {
  const KernelCall call(left);
  ENSURE(left.scalar_type() != at::kByte, "unsigned integers have no checked arithmetic");
  ENSURE(operation >= 0 && operation <= static_cast<int64_t>(Arithmetic::DivideRounding), "operation {}", operation);
  const int64_t rows = left.size(0) == 1 ? right.size(0) : left.size(0);
  at::Tensor results = is_wide ? at::empty({rows, 2}, left.options()) : empty_like_rows(left, rows);
  if (rows == 0) return results;
  const DeviceErrorFlag errors(call.stream(), CheckTime::Deferrable);
  const auto side = [&](const at::Tensor& numbers) -> ArithmeticSide {
    return {numbers.const_data_ptr(), numbers.size(0) == 1, is_wide && numbers.dim() == 1};
  };
  compute_rows(static_cast<ArithmeticOperation>(operation), value_kind_of(results), side(left), side(right), mask_of(valid), rows,
               results.mutable_data_ptr(), errors, call.stream());
  if (const std::optional<RowFailure> failure = errors.wait_for_failure()) {
    throw UserError(failure->reason == division_by_zero ? "division by zero" : "number out of range");
  }
  return results;
}

at::Tensor checked_arithmetic(const at::Tensor& left, int64_t operation, const at::Tensor& right, const std::optional<at::Tensor>& valid) {
  return compute(left, operation, right, valid, false);
}

at::Tensor wide_arithmetic(const at::Tensor& left, int64_t operation, const at::Tensor& right, const std::optional<at::Tensor>& valid) {
  return compute(left, operation, right, valid, true);
}

}  // namespace

REGISTER_BODY(Cuda, "checked_arithmetic", checked_arithmetic);
REGISTER_BODY(Cuda, "wide_arithmetic", wide_arithmetic);

}  // namespace pistachio::kernels::cuda
