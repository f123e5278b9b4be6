// Reference body of delta_binary_decode: stock ATen calls or scalar loops, slow and simple, on any device.

#include <fmt/format.h>
#include <algorithm>
#include <vector>

#include "base/error.h"
#include "kernels/composite/rle_reader.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

namespace {

uint64_t zigzag(uint64_t value) {
  return (value >> 1) ^ (0 - (value & 1));
}

int64_t wrap(uint64_t value, bool is_32_bit) {
  return is_32_bit ? static_cast<int32_t>(static_cast<uint32_t>(value)) : static_cast<int64_t>(value);
}

// Appends values [skip, skip + take) of the stream at data[begin, end) to `out`; returns the offset of the end of the stream.
int64_t decode_page(const uint8_t* data, int64_t begin, int64_t end, int64_t skip, int64_t take, bool is_32_bit,
                    std::vector<int64_t>& out) {
  int64_t position = begin;
  if (begin == end && skip + take == 0) return begin;
  const uint64_t block_size = read_varint(data, position, end);
  const uint64_t miniblocks = read_varint(data, position, end);
  const uint64_t total = read_varint(data, position, end);
  uint64_t value = zigzag(read_varint(data, position, end));
  if (block_size == 0 || block_size % 128 != 0 || block_size > (1 << 20) || miniblocks == 0 || miniblocks > 1024 ||
      block_size % miniblocks != 0 || block_size / miniblocks % 32 != 0) {
    throw DataError(fmt::format("a delta block of {} values in {} miniblocks", block_size, miniblocks), {.offset = begin});
  }
  const uint64_t miniblock_size = block_size / miniblocks;
  const uint64_t needed = static_cast<uint64_t>(skip + take);
  if (total < needed) throw DataError(fmt::format("{} values stored, {} needed", total, needed), {.offset = begin});
  uint64_t index = 0;
  auto emit = [&] {
    if (index >= static_cast<uint64_t>(skip) && index < needed) out.push_back(wrap(value, is_32_bit));
    ++index;
  };
  if (total > 0) emit();
  while (index < total) {
    const uint64_t min_delta = zigzag(read_varint(data, position, end));
    if (end - position < static_cast<int64_t>(miniblocks)) throw DataError("the page ends inside a block header", {.offset = end});
    const uint8_t* bit_widths = data + position;
    position += static_cast<int64_t>(miniblocks);
    for (uint64_t miniblock = 0; miniblock < miniblocks && index < total; ++miniblock) {
      const int64_t bit_width = bit_widths[miniblock];
      if (bit_width > 64) throw DataError(fmt::format("bit width {}", bit_width), {.offset = position});
      for (uint64_t i = 0; i < miniblock_size && index < total; ++i) {
        value += min_delta + read_bits(data, position, i * static_cast<uint64_t>(bit_width), bit_width, end);
        emit();
      }
      position = std::min(end, position + static_cast<int64_t>(miniblock_size / 8) * bit_width);
    }
  }
  return position;
}

std::tuple<at::Tensor, at::Tensor> delta_binary_decode(const at::Tensor& bytes, const at::Tensor& pages, bool is_32_bit) {
  const at::Tensor host_bytes = bytes.cpu();
  std::vector<int64_t> values, ends;
  auto rows = pages.accessor<int64_t, 2>();
  for (int64_t page = 0; page < rows.size(0); ++page) {
    ends.push_back(decode_page(host_bytes.const_data_ptr<uint8_t>(), rows[page][0], rows[page][1], rows[page][3], rows[page][4], is_32_bit,
                               values));
  }
  return {at::tensor(values, at::kLong).to(bytes.device()), at::tensor(ends, at::kLong)};
}

}  // namespace

REGISTER_BODY(Composite, "delta_binary_decode", delta_binary_decode);

}  // namespace pistachio::kernels::composite
