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
  text += refusal.is_process_limit ? fmt::format("memory_limit is {}", format_bytes(refusal.limit))
                                   : fmt::format("the limit of {} is {}", refusal.limited_account, format_bytes(refusal.limit));
  text += fmt::format(" and {} is in use", format_bytes(refusal.used));
  if (refusal.tensor_bytes > 0) text += fmt::format(", tensors take {} in memory", format_bytes(refusal.tensor_bytes));
  std::sort(refusal.holders.begin(), refusal.holders.end(),
            [](const MemoryHolder& left, const MemoryHolder& right) { return left.bytes > right.bytes; });
  if (refusal.holders.size() > kHoldersNamed) refusal.holders.resize(kHoldersNamed);
  for (size_t i = 0; i < refusal.holders.size(); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "; largest holders: " : ", ", refusal.holders[i].path, format_bytes(refusal.holders[i].bytes));
  }
  return text + "; raise memory_limit";
}

std::string failed_allocation_text() {
  rlimit address_space{};
  if (getrlimit(RLIMIT_AS, &address_space) == 0 && address_space.rlim_cur != RLIM_INFINITY) {
    return fmt::format("out of memory: this process may use addresses of {} only (ulimit -v); raise that limit",
                       format_bytes(static_cast<int64_t>(address_space.rlim_cur)));
  }
  return "out of memory: the operating system gives no more; lower memory_limit or run less beside it";
}

}  // namespace pistachio
