// Reference body of delta_text_expand: stock ATen calls or scalar loops, slow and simple, on any device.

#include <fmt/format.h>
#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

namespace {

std::tuple<at::Tensor, at::Tensor, at::Tensor> delta_text_expand(const at::Tensor& bytes, const at::Tensor& prefix_lengths,
                                                                 const at::Tensor& suffix_begins, const at::Tensor& suffix_ends,
                                                                 int64_t max_output_bytes) {
  const at::Tensor host_bytes = bytes.cpu(), host_prefixes = prefix_lengths.cpu(), host_begins = suffix_begins.cpu(),
                   host_ends = suffix_ends.cpu();
  const char* data = reinterpret_cast<const char*>(host_bytes.const_data_ptr<uint8_t>());
  const int64_t* prefixes = host_prefixes.const_data_ptr<int64_t>();
  const int64_t* from = host_begins.const_data_ptr<int64_t>();
  const int64_t* to = host_ends.const_data_ptr<int64_t>();
  std::string all, previous;
  std::vector<int64_t> begins, ends;
  for (int64_t i = 0; i < prefix_lengths.numel(); ++i) {
    if (from[i] < 0 || to[i] < from[i] || to[i] > bytes.numel()) throw DataError("a suffix outside the page", {.offset = from[i]});
    if (prefixes[i] < 0 || prefixes[i] > static_cast<int64_t>(previous.size())) {
      throw DataError(fmt::format("a prefix of {} bytes of a value of {}", prefixes[i], previous.size()), {.offset = from[i]});
    }
    std::string value = previous.substr(0, static_cast<size_t>(prefixes[i])) + std::string(data + from[i], data + to[i]);
    if (static_cast<int64_t>(all.size() + value.size()) > max_output_bytes) {
      throw DataError(fmt::format("text expands to more than {} bytes", max_output_bytes), {.offset = from[i]});
    }
    begins.push_back(static_cast<int64_t>(all.size()));
    all += value;
    ends.push_back(static_cast<int64_t>(all.size()));
    previous = std::move(value);
  }
  at::Tensor bytes_out = at::empty({static_cast<int64_t>(all.size())}, at::kByte);
  std::copy(all.begin(), all.end(), bytes_out.mutable_data_ptr<uint8_t>());
  const at::Device device = bytes.device();
  return {bytes_out.to(device), at::tensor(begins, at::kLong).to(device), at::tensor(ends, at::kLong).to(device)};
}

}  // namespace

REGISTER_BODY(Composite, "delta_text_expand", delta_text_expand);

}  // namespace pistachio::kernels::composite
