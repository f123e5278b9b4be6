// Reference body of text_substring: a scalar loop over the characters of each text, on any device.

#include <algorithm>
#include <vector>

#include "kernels/ops/tensor_functions.h"

#include "kernels/ops/body_table.h"

namespace pistachio::kernels::composite {

namespace {

std::tuple<at::Tensor, at::Tensor> text_substring(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, int64_t skipped,
                                                  int64_t count) {
  const at::Tensor all = bytes.cpu(), first = begins.cpu(), last = ends.cpu();
  at::Tensor new_begins = at::empty_like(first), new_ends = at::empty_like(last);
  for (int64_t row = 0; row < first.numel(); ++row) {
    const int64_t begin = first.const_data_ptr<int64_t>()[row], end = last.const_data_ptr<int64_t>()[row];
    std::vector<int64_t> boundaries;  // start of every character, and the end of the text
    for (int64_t place = begin; place < end; ++place) {
      if (place == begin || (all.const_data_ptr<uint8_t>()[place] & 0xC0U) != 0x80U) boundaries.push_back(place);
    }
    boundaries.push_back(end);
    const int64_t characters = static_cast<int64_t>(boundaries.size()) - 1;
    const int64_t from = std::min(skipped, characters);
    const int64_t to = from + std::min(count, characters - from);
    new_begins.mutable_data_ptr<int64_t>()[row] = boundaries[static_cast<size_t>(from)];
    new_ends.mutable_data_ptr<int64_t>()[row] = boundaries[static_cast<size_t>(to)];
  }
  return {new_begins.to(bytes.device()), new_ends.to(bytes.device())};
}

}  // namespace

REGISTER_BODY(Composite, "text_substring", text_substring);

}  // namespace pistachio::kernels::composite
