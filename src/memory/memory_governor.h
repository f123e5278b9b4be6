// The memory budget of the process, or of a GPU. Memory that outlives a chunk is reserved, in an account of a tree (process -> query ->
// operator): before it is allocated where its size is known, else when a chunk has been added (retained rows, group tables). A reservation
// that does not fit suspends the task until others release memory, or is refused with OutOfMemory, which names the largest holders. The
// governor counts reservations, the tensor allocator counts actual allocations and has the same limit, so that unreserved memory cannot
// exceed it either. Owned by the process, outlives its accounts.
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
  // What error texts call the memory, and the setting that limits it.
  struct Names {
    std::string memory = "process";
    std::string setting = "memory_limit";
  };
  // `tensor_bytes`: returns the bytes mapped by the tensor allocator; called from any thread.
  explicit MemoryGovernor(int64_t limit_bytes, std::function<int64_t()> tensor_bytes, Names names);
  explicit MemoryGovernor(int64_t limit_bytes, std::function<int64_t()> tensor_bytes = {})
      : MemoryGovernor(limit_bytes, std::move(tensor_bytes), Names()) {}
  MemoryGovernor(const MemoryGovernor&) = delete;
  MemoryGovernor& operator=(const MemoryGovernor&) = delete;

  // The root of the tree. Queries create their accounts below it.
  const MemoryAccount& process_account() const { return process_account_; }
  int64_t limit() const { return *process_account_.limit(); }
  int64_t used() const { return process_account_.used(); }
  int64_t peak() const { return process_account_.peak(); }
  // Bytes mapped for tensors, live or cached; 0 without an allocator that reports them.
  int64_t tensor_bytes() const { return tensor_bytes_ ? tensor_bytes_() : 0; }
  // Tasks waiting for a reservation.
  int64_t waiting() const;

  // Callbacks run in order of registration, until enough memory is free, when a reservation would be refused; not if waiting suffices.
  PressureRegistration add_pressure_callback(PressureCallback callback) { return pressure_callbacks_.add(std::move(callback)); }

 private:
  friend class MemoryAccount;
  friend class Reservation;
  friend class ReservationWait;

  // Ticket of requests that overtake all waiting ones.
  static constexpr uint64_t kFirst = 0;
  static constexpr uint64_t kLast = UINT64_MAX;

  std::shared_ptr<AccountNode> add_account(std::shared_ptr<AccountNode> parent, std::string name, std::optional<int64_t> limit);
  Task<Reservation> reserve(std::shared_ptr<AccountNode> account, int64_t bytes, ReservationKind kind);
  bool take(AccountNode& account, int64_t bytes, ReservationKind kind, uint64_t ticket);
  // If take fails, runs pressure callbacks and tries again.
  bool take_under_pressure(AccountNode& account, int64_t bytes, ReservationKind kind, uint64_t ticket);
  void give_back(AccountNode& account, int64_t bytes, ReservationKind kind) noexcept;
  int64_t missing_bytes(const AccountNode& account, int64_t bytes) const;
  OutOfMemory make_refusal(const AccountNode& account, int64_t bytes) const;

  const std::string setting_;
  const std::function<int64_t()> tensor_bytes_;
  mutable std::mutex mutex_;
  // Guarded by mutex_, with the counts of all accounts.
  ReservationQueue queue_;
  std::vector<std::weak_ptr<AccountNode>> accounts_;

  PressureCallbacks pressure_callbacks_;
  MemoryAccount process_account_;
};

}  // namespace pistachio
