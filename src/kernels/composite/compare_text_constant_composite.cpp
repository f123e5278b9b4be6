// Reference body of compare_text_constant: stock ATen calls or scalar loops, slow and simple, on any device.

#include <string_view>

#include "base/error.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/comparison.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

namespace {

bool holds(int order, Comparison comparison) {
  switch (comparison) {
    case Comparison::Equal: return order == 0;
    case Comparison::NotEqual: return order != 0;
    case Comparison::Less: return order < 0;
    case Comparison::LessEqual: return order <= 0;
    case Comparison::Greater: return order > 0;
    case Comparison::GreaterEqual: return order >= 0;
  }
  throw InternalError("no such comparison");
}

at::Tensor compare_text_constant(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, int64_t comparison,
                                 std::string_view constant) {
  const at::Tensor host_bytes = bytes.cpu(), host_begins = begins.cpu(), host_ends = ends.cpu();
  const char* data = reinterpret_cast<const char*>(host_bytes.const_data_ptr<uint8_t>());
  const int64_t* from = host_begins.const_data_ptr<int64_t>();
  const int64_t* to = host_ends.const_data_ptr<int64_t>();
  at::Tensor result = at::empty({begins.size(0)}, at::kBool);
  bool* out = result.mutable_data_ptr<bool>();
  for (int64_t i = 0; i < begins.size(0); ++i) {
    const std::string_view value(data + from[i], static_cast<size_t>(to[i] - from[i]));
    out[i] = holds(value.compare(constant), static_cast<Comparison>(comparison));
  }
  return result.to(bytes.device());
}

}  // namespace

REGISTER_BODY(Composite, "compare_text_constant", compare_text_constant);

}  // namespace pistachio::kernels::composite
