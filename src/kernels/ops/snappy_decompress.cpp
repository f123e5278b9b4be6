// Entry point of snappy_decompress.
#include "kernels/ops/snappy_decompress.h"

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels {

std::tuple<at::Tensor, at::Tensor> snappy_decompress(const at::Tensor& bytes, const at::Tensor& pages) {
  if (is_empty_table(pages)) return {at::empty({0}, output_options(bytes, at::kByte)), at::zeros({1}, output_options(bytes, at::kLong))};
  check_page_table(bytes, pages, 4);
  auto rows = pages.accessor<int64_t, 2>();
  for (int64_t page = 0; page < rows.size(0); ++page) {
    ENSURE_LE(rows[page][2], rows[page][3]);
    ENSURE_LE(rows[page][2], rows[page][1] - rows[page][0]);
    ENSURE_LE(rows[page][1] - rows[page][0], INT32_MAX);  // as in page headers
    ENSURE_LE(rows[page][3], INT32_MAX);
  }
  static const Operation<std::tuple<at::Tensor, at::Tensor>(const at::Tensor&, const at::Tensor&)> operation("snappy_decompress");
  return operation.on(bytes)(bytes.contiguous(), pages);
}

}  // namespace pistachio::kernels
