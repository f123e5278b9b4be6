// Starts threads; a failure (process limit, no address space left) becomes an error that says which setting to lower.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <thread>

namespace pistachio {

// Enough to recurse down the longest permitted chain of operators or joins, even with sanitizers. Untouched pages cost nothing.
constexpr int64_t kDeepStackBytes = int64_t{64} << 20;

// `purpose` describes the thread, `remedy` what the user can do if it cannot be started ("lower the setting threads"). `stack_bytes`: 0 for
// the system's default. Throws UserError.
std::thread start_thread(std::string_view purpose, std::string_view remedy, std::function<void()> body, int64_t stack_bytes = 0);

}  // namespace pistachio
