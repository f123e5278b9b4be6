// Reference body of byte_stream_split_decode: stock ATen calls or scalar loops, slow and simple, on any device.

#include <vector>

#include "base/error.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

namespace {

at::Tensor byte_stream_split_decode(const at::Tensor& bytes, const at::Tensor& pages, int64_t width) {
  std::vector<at::Tensor> parts;
  auto rows = pages.accessor<int64_t, 2>();
  for (int64_t page = 0; page < rows.size(0); ++page) {
    const int64_t begin = rows[page][0], end = rows[page][1], values = rows[page][2], skip = rows[page][3], take = rows[page][4];
    if (values < 0 || values > (end - begin) / width) throw DataError("the page is shorter than its streams", {.offset = end});
    if (skip + take > values) throw DataError("the page has too few values", {.offset = end});
    parts.push_back(bytes.slice(0, begin, begin + values * width).view({width, values}).t().slice(0, skip, skip + take));
  }
  return concatenate_tensors(parts).contiguous();
}

}  // namespace

REGISTER_BODY(Composite, "byte_stream_split_decode", byte_stream_split_decode);

}  // namespace pistachio::kernels::composite
