// Waits until a TCP address accepts connections. Blocking; thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace pistachio {

// Empty when a connection could be made (it is closed again), else what was wrong at the last attempt. `after_attempt` is told what was wrong
// at each one; what it throws ends the waiting.
std::string reach_address(const std::string& host, int port, std::chrono::steady_clock::time_point deadline,
                          const std::function<void(const std::string&)>& after_attempt);

}  // namespace pistachio
