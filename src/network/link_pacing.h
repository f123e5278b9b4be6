// Time on a link with a bandwidth limit, for the progress thread of a transport. Pure.
#pragma once

#include <algorithm>
#include <chrono>

namespace pistachio {

// The time at which bytes that have been waiting since `waiting_since` count as handed to the link. A real link keeps working while this
// thread oversleeps, so the bytes count from when they began to wait, but from at most 50 ms ago.
inline std::chrono::steady_clock::time_point given_to_link(std::chrono::steady_clock::time_point waiting_since) {
  constexpr std::chrono::milliseconds kMaxLateness{50};
  return std::max<std::chrono::steady_clock::time_point>(waiting_since, std::chrono::steady_clock::now() - kMaxLateness);
}

}  // namespace pistachio
