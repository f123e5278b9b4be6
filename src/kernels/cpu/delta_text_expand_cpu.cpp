// CPU body of delta_text_expand: the first pass checks and sums the lengths, the second copies into memory of the right size.
#include <fmt/format.h>

#include <cstring>

#include "base/error.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

std::tuple<at::Tensor, at::Tensor, at::Tensor> delta_text_expand(const at::Tensor& bytes, const at::Tensor& prefix_lengths,
                                                                 const at::Tensor& suffix_begins, const at::Tensor& suffix_ends,
                                                                 int64_t max_output_bytes) {
  const int64_t count = prefix_lengths.numel(), size = bytes.numel();
  const int64_t* prefixes = prefix_lengths.const_data_ptr<int64_t>();
  const int64_t* from = suffix_begins.const_data_ptr<int64_t>();
  const int64_t* to = suffix_ends.const_data_ptr<int64_t>();
  at::Tensor begins = at::empty({count}, at::kLong), ends = at::empty({count}, at::kLong);
  int64_t* begin_out = begins.mutable_data_ptr<int64_t>();
  int64_t* end_out = ends.mutable_data_ptr<int64_t>();
  int64_t total = 0, previous_length = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (from[i] < 0 || to[i] < from[i] || to[i] > size) throw DataError("a suffix outside the page", {.offset = from[i]});
    if (prefixes[i] < 0 || prefixes[i] > previous_length) {
      throw DataError(fmt::format("a prefix of {} bytes of a value of {}", prefixes[i], previous_length), {.offset = from[i]});
    }
    previous_length = prefixes[i] + (to[i] - from[i]);
    begin_out[i] = total;
    total += previous_length;  // grows by at most max_output_bytes + size between checks: no overflow
    end_out[i] = total;
    if (total > max_output_bytes) {
      throw DataError(fmt::format("text expands to more than {} bytes", max_output_bytes), {.offset = from[i]});
    }
  }

  at::Tensor expanded = at::empty({total}, at::kByte);
  uint8_t* out = expanded.mutable_data_ptr<uint8_t>();
  const uint8_t* data = bytes.const_data_ptr<uint8_t>();
  for (int64_t i = 0; i < count; ++i) {
    uint8_t* value = out + begin_out[i];
    if (prefixes[i] > 0) std::memcpy(value, out + begin_out[i - 1], static_cast<size_t>(prefixes[i]));
    if (to[i] > from[i]) std::memcpy(value + prefixes[i], data + from[i], static_cast<size_t>(to[i] - from[i]));
  }
  return {expanded, begins, ends};
}

}  // namespace

REGISTER_BODY(Cpu, "delta_text_expand", delta_text_expand);

}  // namespace pistachio::kernels::cpu
