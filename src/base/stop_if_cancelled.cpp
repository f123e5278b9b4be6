#include "base/stop_if_cancelled.h"

#include <chrono>

namespace pistachio {

void stop_if_cancelled(const CancelToken& token) {
  std::optional<SteadyTime> deadline = token.deadline();
  if (deadline && std::chrono::steady_clock::now() >= *deadline) token.expire();
  token.throw_if_cancelled();
}

}  // namespace pistachio
