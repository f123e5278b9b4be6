// Waits until a TCP address accepts connections. Blocking; thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace pistachio {

// Empty once a connection succeeded (it is closed again), else the error of the last attempt. `after_attempt` gets the error of each
// attempt; an exception it throws ends the wait.
std::string reach_address(const std::string& host, int port, std::chrono::steady_clock::time_point deadline,
                          const std::function<void(const std::string&)>& after_attempt);

}  // namespace pistachio
