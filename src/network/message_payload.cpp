#include "network/message_payload.h"

#include <cstring>

#include "kernels/ops/tensor_functions.h"

namespace pistachio {

at::Tensor payload_of(const std::string& text) {
  at::Tensor payload = at::empty({static_cast<int64_t>(text.size())}, at::kByte);
  if (!text.empty()) std::memcpy(payload.mutable_data_ptr<uint8_t>(), text.data(), text.size());
  return payload;
}

std::string text_of(const at::Tensor& payload) {
  if (!payload.defined()) return {};
  return {reinterpret_cast<const char*>(payload.const_data_ptr<uint8_t>()), static_cast<size_t>(payload.numel())};
}

}  // namespace pistachio
