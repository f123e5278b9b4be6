// Conversion between text and message payloads.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace pistachio {

at::Tensor payload_of(const std::string& text);
// Empty if there is no payload.
std::string text_of(const at::Tensor& payload);

}  // namespace pistachio
