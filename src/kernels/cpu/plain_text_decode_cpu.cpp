// CPU body of plain_text_decode. The position of a length depends on the previous length, so the loop runs at the latency of a load plus an
// add; bounds checks and stores are off that critical path.

#include <cstring>

#include "base/error.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

// Walks `count` values from `position` and calls `note(begin, end)` for each. One check per value: that its length can be read. A
// value that crosses the end leaves the position past it, which the next check, or the last one, catches. The prefetch helps with values so
// long that the hardware prefetcher does not see a stream.
template <typename Note>
int64_t walk(const uint8_t* data, int64_t position, int64_t end, int64_t count, const Note& note) {
  if (count == 0) return position;
  if (end - position < 4) throw DataError("the page ends before its values", {.offset = position});
  const uint8_t* next = data + position;
  const uint8_t* const last_length = data + end - 4;
  for (int64_t i = 0; i < count; ++i) {
    if (next > last_length) [[unlikely]]
      throw DataError("the page ends before its values", {.offset = next - data});
    uint32_t length;
    std::memcpy(&length, next, 4);
    __builtin_prefetch(next + 1024);
    const int64_t begin = next - data + 4;
    next += 4 + static_cast<int64_t>(length);
    note(i, begin, next - data);
  }
  if (next > data + end) throw DataError("a value crosses the end of the page", {.offset = next - data});
  return next - data;
}

// Every value has a length prefix of four bytes, so bogus counts are rejected before anything is allocated for them.
void check_lengths(const at::Tensor& pages) {
  auto rows = pages.accessor<int64_t, 2>();
  for (int64_t page = 0; page < rows.size(0); ++page) {
    if (rows[page][2] + rows[page][3] > (rows[page][1] - rows[page][0]) / 4)
      throw DataError("the page ends before its values", {.offset = rows[page][1]});
  }
}

std::tuple<at::Tensor, at::Tensor> plain_text_decode(const at::Tensor& bytes, const at::Tensor& pages) {
  check_lengths(pages);
  const int64_t total = total_take(pages);
  at::Tensor begins = at::empty({total}, at::kLong), ends = at::empty({total}, at::kLong);
  int64_t* begin_out = begins.mutable_data_ptr<int64_t>();
  int64_t* end_out = ends.mutable_data_ptr<int64_t>();
  const uint8_t* data = bytes.const_data_ptr<uint8_t>();
  auto rows = pages.accessor<int64_t, 2>();
  for (int64_t page = 0; page < rows.size(0); ++page) {
    const int64_t end = rows[page][1], take = rows[page][3];
    const int64_t first = walk(data, rows[page][0], end, rows[page][2], [](int64_t, int64_t, int64_t) {});
    walk(data, first, end, take, [begin_out, end_out](int64_t i, int64_t value_begin, int64_t value_end) {
      begin_out[i] = value_begin;
      end_out[i] = value_end;
    });
    begin_out += take;
    end_out += take;
  }
  return {begins, ends};
}

}  // namespace

REGISTER_BODY(Cpu, "plain_text_decode", plain_text_decode);

}  // namespace pistachio::kernels::cpu
