#include "expr/function.h"

#include "base/check.h"
#include "columns/device_copy.h"
#include "columns/row_selection.h"
#include "columns/scalar_access.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

Column Argument::expanded(int64_t rows) const {
  if (!is_constant || rows == 1) return column;
  return take_rows(column, at::zeros({rows}, at::TensorOptions(at::kLong).device(column.device())));
}

ScalarValue Argument::constant() const {
  ENSURE(is_constant);
  return value != nullptr ? *value : value_at(column, 0);
}

Column Argument::on_host() const {
  return value != nullptr ? repeat_value(*value, 1) : to_device(column, at::kCPU);
}

Column call_function(const Function& function, const FunctionCall& call) {
  at::Device device = call.arguments.empty() ? at::Device(at::kCPU) : call.arguments[0].column.device();
  if (device.is_cpu() || function.place == FunctionPlace::AnyDevice) return function.evaluate(call);
  if (function.evaluate_on_device != nullptr) {
    if (std::optional<Column> result = function.evaluate_on_device(call)) return *result;
  }
  std::vector<Argument> arguments;
  for (const Argument& argument : call.arguments) arguments.push_back({argument.on_host(), argument.is_constant, argument.value});
  FunctionCall on_host{arguments, call.rows, call.result, copied_to(call.valid, at::kCPU), call.token};
  return to_device(function.evaluate(on_host), device);
}

}  // namespace pistachio
