// Memory of tables that grow. Reserved after a chunk was added: how many groups are new is not known before.
#pragma once

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

 private:
  MemoryAccount account_;
  std::vector<Reservation> parts_;
  int64_t covered_ = 0;
};

}  // namespace pistachio
