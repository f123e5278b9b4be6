// The devices on which tests decode row groups together: the CPU, and a GPU if there is one.
#pragma once

#include <ATen/Context.h>
#include <c10/core/Device.h>

#include <vector>

namespace pistachio::test {

inline std::vector<at::Device> scan_devices() {
  std::vector<at::Device> all = {at::kCPU};
  if (at::globalContext().hasCUDA()) all.emplace_back(at::kCUDA);
  return all;
}

}  // namespace pistachio::test
