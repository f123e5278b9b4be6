#include "storage/read_throttle.h"

#include <algorithm>

#include "base/sleep.h"

namespace pistachio {

ReadThrottle::Ticket::Ticket(ReadThrottle& device, Place place) : device_(device), place_(place) {
  std::lock_guard lock(device_.mutex_);
  if (!std::exchange(device_.is_taken_, true)) return;
  turn_ = std::make_shared<Channel<int>>(0);
  device_.waiting_.emplace(place_, turn_);
}

Task<void> ReadThrottle::Ticket::wait() {
  if (turn_ == nullptr) co_return;
  Task<std::optional<int>> waiting = turn_->receive();
  co_await waiting;
}

ReadThrottle::Ticket::~Ticket() {
  Turn next;
  {
    std::lock_guard lock(device_.mutex_);
    if (device_.waiting_.erase(place_) > 0) return;  // cancelled before its turn came
    if (device_.waiting_.empty()) {
      device_.is_taken_ = false;
      return;
    }
    next = std::move(device_.waiting_.begin()->second);
    device_.waiting_.erase(device_.waiting_.begin());
  }
  next->close();
}

int64_t ReadThrottle::most_at_once() const {
  constexpr int64_t kMin = 256 << 10;
  return std::max(kMin, limit_.bytes_per_second() / 200);
}

bool ReadThrottle::is_sooner_needed(Place place) {
  std::lock_guard lock(mutex_);
  return !waiting_.empty() && waiting_.begin()->first < place;
}

Task<void> ReadThrottle::pass(int64_t bytes, int64_t need, TimePoint asked) {
  if (!limit_.is_on()) co_return;
  const Place place{need, reads_++};
  std::optional<Ticket> ticket;
  for (int64_t left = bytes; left > 0;) {
    if (!ticket || is_sooner_needed(place)) {
      ticket.reset();
      ticket.emplace(*this, place);
      Task<void> waiting = ticket->wait();
      co_await waiting;
    }
    int64_t now = std::min(left, most_at_once());
    left -= now;
    // Counted from when the device became free, so that late wake-ups cost no bandwidth.
    Sleep until = sleep_until(limit_.reserve(now, asked));
    co_await until;
  }
}

}  // namespace pistachio
