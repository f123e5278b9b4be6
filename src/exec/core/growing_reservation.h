// Memory of tables that grow. How many groups of a chunk are new is not known before, so either the most that it can take is reserved in
// advance and trimmed afterwards, or what it took is reserved afterwards.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "memory/memory_account.h"

namespace pistachio {

class GrowingReservation {
 public:
  explicit GrowingReservation(MemoryAccount account) : account_(std::move(account)) {}
  void cover(int64_t bytes) {
    if (bytes <= covered_) return;
    // A quarter ahead, so that growing by a chunk does not mean a reservation each time.
    int64_t more = bytes - covered_;
    if (std::optional<Reservation> ahead = account_.try_reserve(more + bytes / 4, ReservationKind::Held)) {
      parts_.push_back(std::move(*ahead));
      covered_ += more + bytes / 4;
      return;
    }
    parts_.push_back(account_.reserve_now(more, ReservationKind::Held));
    covered_ += more;
  }
  int64_t covered() const { return covered_; }

  // Bytes that were reserved in advance; trim_to() returns what turned out not to be needed.
  void add(Reservation more) {
    covered_ += more.bytes();
    parts_.push_back(std::move(more));
  }
  void trim_to(int64_t bytes) {
    while (covered_ > bytes && !parts_.empty()) {
      const int64_t kept = std::max<int64_t>(0, parts_.back().bytes() - (covered_ - bytes));
      covered_ -= parts_.back().bytes() - kept;
      parts_.back().shrink_to(kept);
      if (kept == 0) parts_.pop_back();
    }
  }

 private:
  MemoryAccount account_;
  std::vector<Reservation> parts_;
  int64_t covered_ = 0;
};

}  // namespace pistachio
