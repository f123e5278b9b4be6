// CPU body of byte_stream_split_decode.
#include <fmt/format.h>

#include "base/error.h"
#include "kernels/cpu/byte_stream_split_simd.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

// Rejects bogus counts before anything is allocated for them.
void check_counts(const at::Tensor& pages, int64_t width) {
  auto rows = pages.accessor<int64_t, 2>();
  for (int64_t page = 0; page < rows.size(0); ++page) {
    const int64_t begin = rows[page][0], end = rows[page][1], values = rows[page][2], needed = rows[page][3] + rows[page][4];
    if (values < 0 || values > (end - begin) / width) {
      throw DataError(fmt::format("{} values of {} bytes in a page of {} bytes", values, width, end - begin), {.offset = end});
    }
    if (needed > values) {
      throw DataError(fmt::format("the page has {} values where {} are needed", values, needed), {.offset = end});
    }
  }
}

at::Tensor byte_stream_split_decode(const at::Tensor& bytes, const at::Tensor& pages, int64_t width) {
  check_counts(pages, width);
  at::Tensor joined = at::empty({total_take(pages), width}, at::kByte);
  uint8_t* out = joined.mutable_data_ptr<uint8_t>();
  const uint8_t* data = bytes.const_data_ptr<uint8_t>();
  auto rows = pages.accessor<int64_t, 2>();
  for (int64_t page = 0; page < rows.size(0); ++page) {
    const int64_t begin = rows[page][0], values = rows[page][2], skip = rows[page][3], take = rows[page][4];
    join_byte_streams(data + begin + skip, values, width, take, out);
    out += take * width;
  }
  return joined;
}

}  // namespace

REGISTER_BODY(Cpu, "byte_stream_split_decode", byte_stream_split_decode);

}  // namespace pistachio::kernels::cpu
