#include "memory/memory_account.h"

#include <utility>

#include "base/check.h"
#include "memory/account_node.h"
#include "memory/memory_governor.h"

namespace pistachio {

MemoryAccount MemoryAccount::make_child(std::string name, std::optional<int64_t> limit_bytes) const {
  return MemoryAccount(node_->governor.add_account(node_, std::move(name), limit_bytes));
}

Task<Reservation> MemoryAccount::reserve(int64_t bytes, ReservationKind kind) const {
  return node_->governor.reserve(node_, bytes, kind);
}

std::optional<Reservation> MemoryAccount::try_reserve(int64_t bytes, ReservationKind kind) const {
  ENSURE_GE(bytes, 0);
  if (!node_->governor.take_under_pressure(*node_, bytes, kind, MemoryGovernor::kLast)) return std::nullopt;
  return Reservation(node_, bytes, kind);
}

std::optional<Reservation> MemoryAccount::try_reserve_now(int64_t bytes, ReservationKind kind) const {
  ENSURE_GE(bytes, 0);
  if (!node_->governor.take_under_pressure(*node_, bytes, kind, MemoryGovernor::kFirst)) return std::nullopt;
  return Reservation(node_, bytes, kind);
}

Reservation MemoryAccount::reserve_now(int64_t bytes, ReservationKind kind) const {
  if (std::optional<Reservation> made = try_reserve_now(bytes, kind)) return std::move(*made);
  throw node_->governor.make_refusal(*node_, bytes);
}

const std::string& MemoryAccount::name() const {
  return node_->name;
}

std::string MemoryAccount::path() const {
  return node_->path();
}

std::optional<int64_t> MemoryAccount::limit() const {
  return node_->limit;
}

int64_t MemoryAccount::used() const {
  std::lock_guard lock(node_->governor.mutex_);
  return node_->used;
}

int64_t MemoryAccount::peak() const {
  std::lock_guard lock(node_->governor.mutex_);
  return node_->peak;
}

}  // namespace pistachio
