// Time on a link with a bandwidth limit, for the progress thread of a transport. Pure.
#pragma once

#include <algorithm>
#include <chrono>

namespace pistachio {

// When bytes that wait since then count as given to the link. A link works while the thread sleeps a little too long: bytes that waited all
// the time are counted from when the link was free, but no longer ago than 50 ms.
inline std::chrono::steady_clock::time_point given_to_link(std::chrono::steady_clock::time_point waiting_since) {
  constexpr std::chrono::milliseconds kMostLateness{50};
  return std::max<std::chrono::steady_clock::time_point>(waiting_since, std::chrono::steady_clock::now() - kMostLateness);
}

}  // namespace pistachio
