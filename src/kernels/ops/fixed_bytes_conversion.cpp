// Entry point of decimal_from_bytes, int96_to_micros and float16_to_float.
#include "kernels/ops/fixed_bytes_conversion.h"

#include <ATen/core/Tensor.h>

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"

namespace pistachio::kernels {

namespace {

void check_rows(const at::Tensor& rows) {
  ENSURE(rows.defined());
  ENSURE(rows.scalar_type() == at::kByte, "rows are {}", c10::toString(rows.scalar_type()));
  ENSURE_EQ(rows.dim(), 2);
}

}  // namespace

at::Tensor decimal_from_bytes(const at::Tensor& rows, bool wide) {
  check_rows(rows);
  ENSURE_GE(rows.size(1), 1);
  static const Operation<at::Tensor(const at::Tensor&, bool)> operation("decimal_from_bytes");
  return operation.on(rows)(rows.contiguous(), wide);
}

at::Tensor int96_to_micros(const at::Tensor& rows) {
  check_rows(rows);
  ENSURE_EQ(rows.size(1), 12);
  static const Operation<at::Tensor(const at::Tensor&)> operation("int96_to_micros");
  return operation.on(rows)(rows.contiguous());
}

at::Tensor float16_to_float(const at::Tensor& rows) {
  check_rows(rows);
  ENSURE_EQ(rows.size(1), 2);
  static const Operation<at::Tensor(const at::Tensor&)> operation("float16_to_float");
  return operation.on(rows)(rows.contiguous());
}

}  // namespace pistachio::kernels
