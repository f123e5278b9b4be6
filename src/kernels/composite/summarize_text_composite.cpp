// Reference body of summarize_text and summarize_text_dictionary: stock ATen calls or scalar loops, slow and simple, on any device.
#include <ATen/TensorIndexing.h>

#include <string_view>

#include "kernels/ops/tensor_functions.h"

#include "kernels/ops/body_table.h"

namespace pistachio::kernels::composite {

namespace {

at::Tensor summarize_text(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends,
                          const std::optional<at::Tensor>& validity) {
  const at::Tensor host_bytes = bytes.cpu(), host_begins = begins.cpu(), host_ends = ends.cpu();
  const at::Tensor host_validity = validity ? validity->cpu() : at::ones({begins.size(0)}, at::kBool);
  const char* data = reinterpret_cast<const char*>(host_bytes.const_data_ptr<uint8_t>());
  const int64_t* from = host_begins.const_data_ptr<int64_t>();
  const int64_t* to = host_ends.const_data_ptr<int64_t>();
  const bool* valid = host_validity.const_data_ptr<bool>();
  int64_t count = 0, characters = 0, total = 0, min_index = -1, max_index = -1;
  auto text = [&](int64_t i) { return std::string_view(data + from[i], static_cast<size_t>(to[i] - from[i])); };
  for (int64_t i = 0; i < begins.size(0); ++i) {
    if (!valid[i]) continue;
    ++count;
    total += to[i] - from[i];
    for (char byte : text(i)) characters += (static_cast<uint8_t>(byte) & 0xc0) != 0x80;
    if (min_index < 0 || text(i) < text(min_index)) min_index = i;
    if (max_index < 0 || text(i) > text(max_index)) max_index = i;
  }
  return at::tensor({count, characters, total, min_index, max_index}, at::kLong);
}

at::Tensor summarize_text_dictionary(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, const at::Tensor& codes,
                                     const std::optional<at::Tensor>& validity) {
  const at::Tensor valid_codes = validity ? codes.index({*validity}) : codes;
  const at::Tensor sums =
      summarize_text(bytes, begins.index_select(0, valid_codes), ends.index_select(0, valid_codes), std::nullopt);
  at::Tensor used = at::zeros({begins.size(0)}, begins.options().dtype(at::kBool));
  used.index_fill_(0, valid_codes.to(at::kLong), true);
  const at::Tensor entries = summarize_text(bytes, begins, ends, used);
  return concatenate_tensors({sums.slice(0, 0, 3), entries.slice(0, 3, 5)});
}

}  // namespace

REGISTER_BODY(Composite, "summarize_text", summarize_text);
REGISTER_BODY(Composite, "summarize_text_dictionary", summarize_text_dictionary);

}  // namespace pistachio::kernels::composite
