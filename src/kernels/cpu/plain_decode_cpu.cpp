// CPU bodies of plain_decode, plain_fixed_bytes_decode (both copies) and plain_boolean_decode. All pages are checked before anything is
// allocated: a bogus count is a DataError, not a lack of memory.
#include <fmt/format.h>

#include <cstring>

#include "base/error.h"
#include "kernels/cpu/boolean_decode_simd.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

// Throws if a page is shorter than `bytes_of(values)`.
template <typename BytesOf>
void check_lengths(const at::Tensor& pages, const BytesOf& bytes_of) {
  auto rows = pages.accessor<int64_t, 2>();
  for (int64_t page = 0; page < rows.size(0); ++page) {
    const int64_t begin = rows[page][0], end = rows[page][1], needed = bytes_of(rows[page][2] + rows[page][3]);
    if (needed > end - begin) {
      throw DataError(fmt::format("the page has {} bytes where {} are needed", end - begin, needed), {.offset = end});
    }
  }
}

void copy_values(const at::Tensor& bytes, const at::Tensor& pages, int64_t width, uint8_t* out) {
  const uint8_t* data = bytes.const_data_ptr<uint8_t>();
  auto rows = pages.accessor<int64_t, 2>();
  for (int64_t page = 0; page < rows.size(0); ++page) {
    const int64_t begin = rows[page][0], skip = rows[page][2], take = rows[page][3];
    if (take > 0) std::memcpy(out, data + begin + skip * width, static_cast<size_t>(take * width));
    out += take * width;
  }
}

at::Tensor plain_decode(const at::Tensor& bytes, const at::Tensor& pages, c10::ScalarType type) {
  const int64_t width = static_cast<int64_t>(c10::elementSize(type));
  check_lengths(pages, [width](int64_t values) { return values * width; });
  at::Tensor values = at::empty({total_take(pages)}, at::TensorOptions(type));
  copy_values(bytes, pages, width, static_cast<uint8_t*>(values.mutable_data_ptr()));
  return values;
}

at::Tensor plain_fixed_bytes_decode(const at::Tensor& bytes, const at::Tensor& pages, int64_t width) {
  check_lengths(pages, [width](int64_t values) { return values * width; });
  at::Tensor values = at::empty({total_take(pages), width}, at::kByte);
  copy_values(bytes, pages, width, values.mutable_data_ptr<uint8_t>());
  return values;
}

at::Tensor plain_boolean_decode(const at::Tensor& bytes, const at::Tensor& pages) {
  check_lengths(pages, [](int64_t values) { return (values + 7) / 8; });
  at::Tensor values = at::empty({total_take(pages)}, at::kBool);
  uint8_t* out = reinterpret_cast<uint8_t*>(values.mutable_data_ptr<bool>());
  const uint8_t* data = bytes.const_data_ptr<uint8_t>();
  auto rows = pages.accessor<int64_t, 2>();
  for (int64_t page = 0; page < rows.size(0); ++page) {
    const int64_t begin = rows[page][0], end = rows[page][1], skip = rows[page][2], take = rows[page][3];
    decode_bits(data + begin, data + end, skip, take, out);
    out += take;
  }
  return values;
}

}  // namespace

REGISTER_BODY(Cpu, "plain_decode", plain_decode);
REGISTER_BODY(Cpu, "plain_fixed_bytes_decode", plain_fixed_bytes_decode);
REGISTER_BODY(Cpu, "plain_boolean_decode", plain_boolean_decode);

}  // namespace pistachio::kernels::cpu
