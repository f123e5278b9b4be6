// CPU body of text_prefixes.
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <limits>

#include "kernels/cpu/text_key.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

// One more than the bytes in a word: a value that the word may not decide.
constexpr int64_t undecided_length = 9;

std::tuple<at::Tensor, at::Tensor> text_prefixes(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends,
                                                 const at::Tensor& prefix) {
  using Limits = std::numeric_limits<int64_t>;
  const uint8_t* data = bytes.const_data_ptr<uint8_t>();
  const uint8_t* data_end = data + bytes.numel();
  const int64_t* from = begins.const_data_ptr<int64_t>();
  const int64_t* to = ends.const_data_ptr<int64_t>();
  const TextSpan common{prefix.const_data_ptr<uint8_t>(), prefix.numel()};
  at::Tensor words = at::empty({begins.numel()}, at::kLong), lengths = at::empty({begins.numel()}, at::kLong);
  int64_t* word = words.mutable_data_ptr<int64_t>();
  int64_t* length = lengths.mutable_data_ptr<int64_t>();
  for (int64_t row = 0; row < begins.numel(); ++row) {
    const TextSpan value{data + from[row], to[row] - from[row]};
    if (value.length >= common.length && equal_bytes(value.data, common.data, common.length)) {
      word[row] = static_cast<int64_t>(text_key(value, data_end, common.length) ^ uint64_t{1} << 63);
      length[row] = std::min(value.length - common.length, undecided_length);
    } else {
      const bool is_less = compare_text(value, common) < 0;
      word[row] = is_less ? Limits::min() : Limits::max();
      length[row] = is_less ? -1 : undecided_length;
    }
  }
  return {words, lengths};
}

}  // namespace

REGISTER_BODY(Cpu, "text_prefixes", text_prefixes);

}  // namespace pistachio::kernels::cpu
