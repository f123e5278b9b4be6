// The text of an OutOfMemory: what was asked, which limit stood in the way, who holds the most, and what to do about it.
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
  std::string account;
  int64_t asked = 0;
  int64_t tensor_bytes = 0;  // in memory, whoever promised them
  // The account whose limit stands in the way: the process, or one below with a limit of its own.
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
