// Reference body of definition_levels_decode: stock ATen calls or scalar loops, slow and simple, on any device.

#include <fmt/format.h>
#include <vector>

#include "base/error.h"
#include "kernels/composite/rle_reader.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

namespace {

int64_t bits_for(int64_t max_level) {
  int64_t bits = 0;
  while ((int64_t{1} << bits) <= max_level) ++bits;
  return bits;
}

std::tuple<at::Tensor, at::Tensor> definition_levels_decode(const at::Tensor& bytes, const at::Tensor& pages) {
  const at::Tensor host_bytes = bytes.cpu();
  std::vector<uint8_t> validity;  // grows with the decoded values, not with the claimed count
  at::Tensor counts = at::zeros({pages.size(0), 2}, at::kLong);
  auto rows = pages.accessor<int64_t, 2>();
  auto count = counts.accessor<int64_t, 2>();
  for (int64_t page = 0; page < rows.size(0); ++page) {
    const int64_t max_level = rows[page][2], skip = rows[page][3], take = rows[page][4];
    RleReader reader(host_bytes.const_data_ptr<uint8_t>(), rows[page][0], rows[page][1], bits_for(max_level));
    for (int64_t i = 0; i < skip + take; ++i) {
      const int64_t level = reader.next();
      if (level > max_level) throw DataError(fmt::format("definition level {} above {}", level, max_level), {.offset = reader.position()});
      const bool valid = level == max_level;
      count[page][i < skip ? 0 : 1] += valid;
      if (i >= skip) validity.push_back(valid);
    }
  }
  return {at::tensor(validity, at::kByte).to(at::kBool).to(bytes.device()), counts};
}

}  // namespace

REGISTER_BODY(Composite, "definition_levels_decode", definition_levels_decode);

}  // namespace pistachio::kernels::composite
