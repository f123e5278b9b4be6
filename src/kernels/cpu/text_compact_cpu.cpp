// CPU body of text_compact. Most values are short and copied with one 16-byte store, which may overrun into bytes that the next value
// fills.

#include <cstring>

#include "kernels/ops/tensor_functions.h"

#include "kernels/ops/body_table.h"

namespace pistachio::kernels::cpu {

namespace {

std::tuple<at::Tensor, at::Tensor> text_compact(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends,
                                                int64_t /*room*/) {
  const int64_t count = begins.numel(), size = bytes.numel();
  const int64_t* from = begins.const_data_ptr<int64_t>();
  const int64_t* to = ends.const_data_ptr<int64_t>();
  at::Tensor offsets = at::empty({count + 1}, at::kLong);
  int64_t* offset = offsets.mutable_data_ptr<int64_t>();
  int64_t total = 0;
  for (int64_t i = 0; i < count; ++i) {
    offset[i] = total;
    total += to[i] - from[i];
  }
  offset[count] = total;

  at::Tensor compacted = at::empty({total}, at::kByte);
  uint8_t* out = compacted.mutable_data_ptr<uint8_t>();
  const uint8_t* data = bytes.const_data_ptr<uint8_t>();
  constexpr int64_t fetch_distance = 16;
  for (int64_t i = 0; i < count; ++i) {
    if (i + fetch_distance < count) __builtin_prefetch(data + from[i + fetch_distance]);
    const int64_t length = to[i] - from[i];
    if (length <= 16 && from[i] + 16 <= size && offset[i] + 16 <= total) {
      std::memcpy(out + offset[i], data + from[i], 16);
    } else if (length > 0) {
      std::memcpy(out + offset[i], data + from[i], static_cast<size_t>(length));
    }
  }
  return {compacted, offsets};
}

}  // namespace

REGISTER_BODY(Cpu, "text_compact", text_compact);

}  // namespace pistachio::kernels::cpu
