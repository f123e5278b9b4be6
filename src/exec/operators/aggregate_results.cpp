#include "exec/operators/aggregate_results.h"

#include <cmath>

#include "base/error.h"
#include "columns/column_compare.h"
#include "expr/cast.h"
#include "expr/wide_numbers.h"
#include "kernels/ops/compress.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

void check_digits(const Column& sums) {
  Int128 most = power_of_ten(38) - 1;
  if (kernels::count_true(is_outside(sums, -most, most)) > 0) throw UserError("sum out of range");
}

}  // namespace

Column exact_sum_result(AggregateKind kind, LogicalType argument, LogicalType type, const at::Tensor& sums, const at::Tensor& counts) {
  at::Tensor valid = counts.gt(0);
  int scale = argument.kind() == TypeKind::Decimal ? argument.scale() : 0;
  if (kind == AggregateKind::Average) {
    at::Tensor means = wide_to_double(sums) / (counts.to(at::kDouble) * std::pow(10.0, scale));
    return Column::fixed(type, means.masked_fill(valid.logical_not(), 0.0), valid);
  }
  Column exact = Column::fixed(LogicalType::decimal(38, scale), sums, valid);
  try {
    if (type.is_wide()) {
      check_digits(exact);
      return Column::fixed(type, exact.values(), valid);
    }
    return cast_column(exact, type, {});
  } catch (const UserError&) {
    throw UserError("a sum is out of range; cast the argument to DOUBLE for an approximate one");
  }
}

Column floating_sum_result(AggregateKind kind, const at::Tensor& sums, const at::Tensor& counts) {
  at::Tensor valid = counts.gt(0);
  at::Tensor values = kind == AggregateKind::Average ? sums / counts.to(at::kDouble) : sums;
  return Column::fixed(TypeKind::Double, values.masked_fill(valid.logical_not(), 0.0), valid);
}

Column moment_result(AggregateKind kind, const at::Tensor& moments) {
  bool sample = kind == AggregateKind::VarianceSample || kind == AggregateKind::StddevSample;
  bool root = kind == AggregateKind::StddevSample || kind == AggregateKind::StddevPopulation;
  at::Tensor counts = moments.select(1, 0) - (sample ? 1.0 : 0.0);
  at::Tensor valid = counts.gt(0);
  at::Tensor values = (moments.select(1, 2) / counts).masked_fill(valid.logical_not(), 0.0);
  return Column::fixed(TypeKind::Double, root ? values.sqrt() : values, valid);
}

}  // namespace pistachio
