// State of the event loop (UcxProgress) that sending and receiving read. Owned by UcxProgress.
#pragma once

#include <atomic>
#include <chrono>

namespace pistachio {

struct UcxLoopState {
  // When the current iteration began: the time of everything that happens in it. Belongs to the progress thread.
  std::chrono::steady_clock::time_point began;
  // Nothing is sent or received any more (Transport::cut()). Any thread may set it.
  std::atomic<bool> is_cut = false;
};

}  // namespace pistachio
