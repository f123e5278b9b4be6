#include "memory/refusal_text.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>

#include "base/format_bytes.h"

namespace pistachio {

namespace {

constexpr size_t kHoldersNamed = 5;

}  // namespace

std::string describe_refusal(MemoryRefusal refusal) {
  std::string text = fmt::format("out of memory: {} asked for {}, ", refusal.account, format_bytes(refusal.asked));
  text += refusal.is_process_limit ? fmt::format("{} is {}", refusal.setting, format_bytes(refusal.limit))
                                   : fmt::format("the limit of {} is {}", refusal.limited_account, format_bytes(refusal.limit));
  text += fmt::format(" and {} is in use", format_bytes(refusal.used));
  if (refusal.tensor_bytes > 0) text += fmt::format(", tensors take {} in memory", format_bytes(refusal.tensor_bytes));
  std::sort(refusal.holders.begin(), refusal.holders.end(),
            [](const MemoryHolder& left, const MemoryHolder& right) { return left.bytes > right.bytes; });
  if (refusal.holders.size() > kHoldersNamed) refusal.holders.resize(kHoldersNamed);
  for (size_t i = 0; i < refusal.holders.size(); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "; largest holders: " : ", ", refusal.holders[i].path, format_bytes(refusal.holders[i].bytes));
  }
  return text + "; raise " + refusal.setting;
}

std::optional<int64_t> address_space_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return static_cast<int64_t>(limit.rlim_cur);
}

std::string failed_allocation_text() {
  if (std::optional<int64_t> limit = address_space_limit())
    return fmt::format("out of memory: the address space of this process is limited to {} (ulimit -v); raise that limit", format_bytes(*limit));
  return "out of memory: the operating system gives no more; lower memory_limit or run less beside it";
}

}  // namespace pistachio
