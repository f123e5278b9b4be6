// Reference body of plain_text_decode: stock ATen calls or scalar loops, slow and simple, on any device.

#include <vector>

#include "base/error.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

namespace {

std::tuple<at::Tensor, at::Tensor> plain_text_decode(const at::Tensor& bytes, const at::Tensor& pages) {
  const at::Tensor host_bytes = bytes.cpu();
  const uint8_t* data = host_bytes.const_data_ptr<uint8_t>();
  std::vector<int64_t> begins, ends;
  auto rows = pages.accessor<int64_t, 2>();
  for (int64_t page = 0; page < rows.size(0); ++page) {
    int64_t position = rows[page][0];
    const int64_t end = rows[page][1], skip = rows[page][2], take = rows[page][3];
    for (int64_t i = 0; i < skip + take; ++i) {
      if (end - position < 4) throw DataError("the page ends inside a length", {.offset = position});
      int64_t length = 0;
      for (int byte = 0; byte < 4; ++byte) length += int64_t{data[position + byte]} << (8 * byte);
      position += 4;
      if (length > end - position) throw DataError("a value crosses the end of the page", {.offset = position});
      if (i >= skip) {
        begins.push_back(position);
        ends.push_back(position + length);
      }
      position += length;
    }
  }
  return {at::tensor(begins, at::kLong).to(bytes.device()), at::tensor(ends, at::kLong).to(bytes.device())};
}

}  // namespace

REGISTER_BODY(Composite, "plain_text_decode", plain_text_decode);

}  // namespace pistachio::kernels::composite
