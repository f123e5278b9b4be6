// Entry point of definition_levels_decode.
#include "kernels/ops/definition_levels_decode.h"

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels {

namespace {

void check_levels(const at::Tensor& pages) {
  auto rows = pages.accessor<int64_t, 2>();
  for (int64_t page = 0; page < rows.size(0); ++page) ENSURE(rows[page][2] >= 0 && rows[page][2] <= 32767, "max_level {}", rows[page][2]);
}

}  // namespace

std::tuple<at::Tensor, at::Tensor> definition_levels_decode(const at::Tensor& bytes, const at::Tensor& pages) {
  if (is_empty_table(pages)) return {at::empty({0}, output_options(bytes, at::kBool)), at::empty({0, 2}, at::kLong)};
  check_page_table(bytes, pages, 5);
  check_levels(pages);
  static const Operation<std::tuple<at::Tensor, at::Tensor>(const at::Tensor&, const at::Tensor&)> operation("definition_levels_decode");
  return operation.on(bytes)(bytes.contiguous(), pages);
}

}  // namespace pistachio::kernels
