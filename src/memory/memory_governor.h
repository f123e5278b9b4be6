// The memory budget of the process. Whoever is about to hold a large amount of memory reserves it first, in an account of a tree
// (process -> query -> operator); a reservation that does not fit suspends the task until others release, or is refused with OutOfMemory
// that names the largest holders. The governor counts promises; what became of them the allocator of tensors reports, which is held to the
// same limit, so that what nobody promised cannot grow past it either. Owned by the process, outlives its accounts.
// Thread-safe: one lock guards all counts (a reservation covers a chunk or a table, not a row); no callback runs under it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/task.h"
#include "memory/memory_account.h"
#include "memory/pressure_callbacks.h"
#include "memory/reservation.h"
#include "memory/reservation_queue.h"

namespace pistachio {

class MemoryGovernor {
 public:
  // `tensor_bytes`: what the allocator of tensors has mapped; asked from any thread.
  explicit MemoryGovernor(int64_t limit_bytes, std::function<int64_t()> tensor_bytes = {});
  MemoryGovernor(const MemoryGovernor&) = delete;
  MemoryGovernor& operator=(const MemoryGovernor&) = delete;

  // The root of the tree. Queries make their accounts below it.
  const MemoryAccount& process_account() const { return process_account_; }
  int64_t limit() const { return *process_account_.limit(); }
  int64_t used() const { return process_account_.used(); }
  int64_t peak() const { return process_account_.peak(); }
  // What tensors take in memory now, live or kept for the next ones; 0 without an allocator that reports.
  int64_t tensor_bytes() const { return tensor_bytes_ ? tensor_bytes_() : 0; }
  // Tasks that wait for a reservation now.
  int64_t waiting() const;

  // Called, in the order of registration and until it is enough, when a reservation would be refused; not when waiting will do.
  PressureRegistration add_pressure_callback(PressureCallback callback) { return pressure_callbacks_.add(std::move(callback)); }

 private:
  friend class MemoryAccount;
  friend class Reservation;
  friend class ReservationWait;

  // Those that overtake the waiting requests take this as their place in the order.
  static constexpr uint64_t kFirst = 0;
  static constexpr uint64_t kLast = UINT64_MAX;

  std::shared_ptr<AccountNode> add_account(std::shared_ptr<AccountNode> parent, std::string name, std::optional<int64_t> limit);
  Task<Reservation> reserve(std::shared_ptr<AccountNode> account, int64_t bytes, ReservationKind kind);
  bool take(AccountNode& account, int64_t bytes, ReservationKind kind, uint64_t ticket);
  // Asks for memory back where take fails.
  bool take_under_pressure(AccountNode& account, int64_t bytes, ReservationKind kind, uint64_t ticket);
  void give_back(AccountNode& account, int64_t bytes, ReservationKind kind) noexcept;
  int64_t missing_bytes(const AccountNode& account, int64_t bytes) const;
  OutOfMemory make_refusal(const AccountNode& account, int64_t bytes) const;

  const std::function<int64_t()> tensor_bytes_;
  mutable std::mutex mutex_;
  // Guarded by mutex_, with the counts of all accounts.
  ReservationQueue queue_;
  std::vector<std::weak_ptr<AccountNode>> accounts_;

  PressureCallbacks pressure_callbacks_;
  MemoryAccount process_account_;
};

}  // namespace pistachio
