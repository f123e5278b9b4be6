// Two queues, of small and of large messages, that take turns: a small message need not wait for large ones, and neither kind starves.
// Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>

namespace pistachio {

template <typename T>
class FairQueues {
 public:
  // Up to this size, in bytes of payload, a message is small.
  static constexpr int64_t kSmallMessage = 64 << 10;

  bool empty() const { return small_.empty() && large_.empty(); }
  // The queue that messages of this size wait in.
  std::deque<T>& queue_for(int64_t bytes) { return bytes <= kSmallMessage ? small_ : large_; }
  // The first of the queue whose turn it is. There must be one.
  T& front() { return turn().front(); }
  // Ends the turn of that queue; its first message is done, or keeps its place.
  void end_turn(bool is_done) {
    bool large = serves_large();
    if (is_done) turn().pop_front();
    large_has_turn_ = !large;
  }

  template <typename Predicate>
  void erase_if(const Predicate& predicate) {
    std::erase_if(small_, predicate);
    std::erase_if(large_, predicate);
  }
  // Everything, small ones first.
  std::deque<T> take_all() {
    std::deque<T> all = std::exchange(small_, {});
    for (T& item : std::exchange(large_, {})) all.push_back(std::move(item));
    return all;
  }
  void reset_turn() { large_has_turn_ = false; }

 private:
  bool serves_large() const { return small_.empty() || (large_has_turn_ && !large_.empty()); }
  std::deque<T>& turn() { return serves_large() ? large_ : small_; }

  std::deque<T> small_;
  std::deque<T> large_;
  bool large_has_turn_ = false;
};

}  // namespace pistachio
