// Reference body of rle_decode: stock ATen calls or scalar loops, slow and simple, on any device.

#include <fmt/format.h>
#include <vector>

#include "base/error.h"
#include "kernels/composite/rle_reader.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

namespace {

at::Tensor rle_decode(const at::Tensor& bytes, const at::Tensor& pages) {
  const at::Tensor host_bytes = bytes.cpu();
  std::vector<int32_t> values;  // grows with the decoded values, not with the claimed count
  auto rows = pages.accessor<int64_t, 2>();
  for (int64_t page = 0; page < rows.size(0); ++page) {
    const int64_t limit = rows[page][3];
    RleReader reader(host_bytes.const_data_ptr<uint8_t>(), rows[page][0], rows[page][1], rows[page][2]);
    for (int64_t i = 0; i < rows[page][5]; ++i) reader.next();
    for (int64_t i = 0; i < rows[page][6]; ++i) {
      const uint32_t value = reader.next();
      if (limit > 0 && value >= limit) {
        throw DataError(fmt::format("code {} where {} is the limit", value, limit), {.offset = reader.position()});
      }
      values.push_back(static_cast<int32_t>(value + static_cast<uint32_t>(rows[page][4])));
    }
    if (reader.has_surplus()) throw DataError("the page holds more values than its levels", {.offset = reader.position()});
  }
  return at::tensor(values, at::kInt).to(bytes.device());
}

}  // namespace

REGISTER_BODY(Composite, "rle_decode", rle_decode);

}  // namespace pistachio::kernels::composite
