// The reservation of a growing table. How many groups of a chunk are new is not known in advance. So either the upper bound is reserved
// before the chunk is added and trimmed afterwards (add, trim_to), or the actual size is reserved afterwards (cover).
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
    // Reserves a quarter ahead, so that not every chunk needs a reservation.
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

  // Takes over bytes that were reserved in advance; trim_to() gives back those that were not needed.
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
