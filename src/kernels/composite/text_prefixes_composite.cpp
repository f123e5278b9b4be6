// Reference body of text_prefixes: scalar loops, slow and simple, on any device.

#include <algorithm>
#include <limits>
#include <string_view>

#include "kernels/ops/tensor_functions.h"

#include "kernels/ops/body_table.h"

namespace pistachio::kernels::composite {

namespace {

std::tuple<at::Tensor, at::Tensor> text_prefixes(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends,
                                                 const at::Tensor& prefix) {
  const at::Tensor host_bytes = bytes.cpu(), from = begins.cpu(), to = ends.cpu();
  const auto text_of = [](const at::Tensor& all, int64_t begin, int64_t end) {
    return std::string_view(reinterpret_cast<const char*>(all.const_data_ptr<uint8_t>()) + begin, static_cast<size_t>(end - begin));
  };
  const std::string_view common = text_of(prefix, 0, prefix.numel());
  at::Tensor words = at::empty({begins.size(0)}, at::kLong), lengths = at::empty({begins.size(0)}, at::kLong);
  for (int64_t row = 0; row < begins.size(0); ++row) {
    const std::string_view value = text_of(host_bytes, from.const_data_ptr<int64_t>()[row], to.const_data_ptr<int64_t>()[row]);
    uint64_t word = 0;
    int64_t length = -1;
    if (value.starts_with(common)) {
      const std::string_view rest = value.substr(common.size());
      for (size_t i = 0; i < 8; ++i) word = word << 8 | (i < rest.size() ? static_cast<uint8_t>(rest[i]) : 0);
      length = std::min<int64_t>(static_cast<int64_t>(rest.size()), 9);
    } else if (value > common) {
      word = std::numeric_limits<uint64_t>::max();
      length = 9;
    }
    words.mutable_data_ptr<int64_t>()[row] = static_cast<int64_t>(word ^ uint64_t{1} << 63);
    lengths.mutable_data_ptr<int64_t>()[row] = length;
  }
  return {words.to(bytes.device()), lengths.to(bytes.device())};
}

}  // namespace

REGISTER_BODY(Composite, "text_prefixes", text_prefixes);

}  // namespace pistachio::kernels::composite
