// The text of an OutOfMemory: what was requested, which limit was exceeded, the largest holders, and what to do about it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pistachio {

struct MemoryHolder {
  std::string path;
  int64_t bytes = 0;
};

struct MemoryRefusal {
  std::string setting = "memory_limit";  // limits the process
  std::string account;
  int64_t asked = 0;
  int64_t tensor_bytes = 0;  // mapped for tensors, reserved or not
  // The account whose limit is exceeded: the process, or a descendant with its own limit.
  std::string limited_account;
  bool is_process_limit = true;
  int64_t limit = 0;
  int64_t used = 0;
  std::vector<MemoryHolder> holders;
};

std::string describe_refusal(MemoryRefusal refusal);

// The limit on the process's address space (ulimit -v), if there is one.
std::optional<int64_t> address_space_limit();

// Error text for std::bad_alloc: an allocation outside the pooled allocator failed, such as that of a long constant.
std::string failed_allocation_text();

}  // namespace pistachio
