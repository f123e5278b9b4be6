// The counts of one memory account. Private to the memory governor, whose lock guards them; shared by the handles (MemoryAccount), the
// reservations and the children of the account.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "memory/reservation.h"

namespace pistachio {

class MemoryGovernor;

struct AccountNode {
  AccountNode(MemoryGovernor& owner, std::shared_ptr<AccountNode> above, std::string account_name, std::optional<int64_t> limit_bytes)
      : governor(owner), parent(std::move(above)), name(std::move(account_name)), limit(limit_bytes) {}

  MemoryGovernor& governor;
  const std::shared_ptr<AccountNode> parent;
  const std::string name;
  const std::optional<int64_t> limit;

  // Including all descendants.
  int64_t used = 0;
  int64_t transient = 0;
  int64_t peak = 0;
  // Reserved from this account itself.
  int64_t own = 0;
  // The last pass over the waiting requests (ReservationQueue) in which one was blocked by this account's limit.
  uint64_t blocked_in_pass = 0;

  std::string path() const { return parent ? parent->path() + "/" + name : name; }
  int64_t room() const { return limit ? *limit - used : INT64_MAX; }
  int64_t room_without_transient() const { return limit ? *limit - (used - transient) : INT64_MAX; }

  // Checks this account and all its ancestors.
  bool fits(int64_t bytes) const { return bytes <= room() && (!parent || parent->fits(bytes)); }
  bool fits_without_transient(int64_t bytes) const {
    return bytes <= room_without_transient() && (!parent || parent->fits_without_transient(bytes));
  }

  // Negative: releases.
  void add(int64_t bytes, ReservationKind kind) {
    own += bytes;
    for (AccountNode* node = this; node != nullptr; node = node->parent.get()) {
      node->used += bytes;
      if (kind == ReservationKind::Transient) node->transient += bytes;
      node->peak = std::max(node->peak, node->used);
    }
  }
};

}  // namespace pistachio
