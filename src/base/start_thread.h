// Starts threads so that a machine's refusal (a limit on processes, no address space left) becomes an error that says what to lower.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <thread>

namespace pistachio {

// Enough for work that recurses down the longest chain of operators or joins that a statement may have, a sanitizer's frames included.
// Pages that are not touched cost nothing.
constexpr int64_t kDeepStackBytes = int64_t{64} << 20;

// `purpose` says what the thread is for, `remedy` what to do when there is none ("lower the setting threads"). `stack_bytes`: 0 for what
// the system gives. Throws UserError.
std::thread start_thread(std::string_view purpose, std::string_view remedy, std::function<void()> body, int64_t stack_bytes = 0);

}  // namespace pistachio
