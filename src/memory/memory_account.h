// MemoryAccount: a node in the tree of memory use (process -> query -> operator), with a name for error texts and profiles and an optional
// limit below the process limit. A cheap handle: copies refer to the same account, which lives as long as a handle, a child or a
// reservation of it. Thread-safe. The governor (memory_governor.h) outlives all of its accounts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/task.h"
#include "memory/reservation.h"

namespace pistachio {

class MemoryAccount {
 public:
  MemoryAccount make_child(std::string name, std::optional<int64_t> limit_bytes = std::nullopt) const;

  // Waits until the bytes fit. Throws OutOfMemory as soon as waiting cannot help, that is, if they would not fit even after all Transient
  // reservations were released. Requests are served in order, so large ones do not starve; a later one overtakes only if its path does not
  // include the account whose limit blocks the earlier one. A task that holds Transient bytes should not reserve more: two such tasks
  // can deadlock.
  Task<Reservation> reserve(int64_t bytes, ReservationKind kind) const;
  // Nullopt if it does not fit now, or if others wait for the same limits. Never waits.
  std::optional<Reservation> try_reserve(int64_t bytes, ReservationKind kind) const;
  // The same, but overtakes waiting requests.
  std::optional<Reservation> try_reserve_now(int64_t bytes, ReservationKind kind) const;
  // For callers that can neither wait nor fall back (allocation hooks): overtakes waiting requests; throws OutOfMemory if it does not fit.
  Reservation reserve_now(int64_t bytes, ReservationKind kind) const;

  const std::string& name() const;
  // `process/query 7/hash join`.
  std::string path() const;
  std::optional<int64_t> limit() const;
  // Including all descendants.
  int64_t used() const;
  int64_t peak() const;

 private:
  friend class MemoryGovernor;
  explicit MemoryAccount(std::shared_ptr<AccountNode> node) : node_(std::move(node)) {}
  std::shared_ptr<AccountNode> node_;
};

}  // namespace pistachio
