// The requests that wait for memory, in order of arrival. A request is blocked at the accounts on its path whose limit it exceeds; no
// later request may pass through such an account before it. Since all paths end at the process account, requests that wait for process
// memory are served strictly in order. Owned by the MemoryGovernor, guarded by its lock. Memory: none, the waits are intrusive.
#pragma once

#include <cstdint>

#include "memory/account_node.h"
#include "memory/queued_wait.h"
#include "memory/reservation.h"

namespace pistachio {

class MemoryGovernor;

enum class ReservationOutcome {
  Granted,
  // Would not fit even without any Transient bytes: waiting does not help.
  Refused,
  // The same, but since the request began to wait: others took Held memory.
  Outrun,
};

// The awaitable: one request. Lives in the frame of MemoryGovernor::reserve.
class ReservationWait final : public QueuedWait {
 public:
  ReservationWait(MemoryGovernor& governor, AccountNode& account, int64_t bytes, ReservationKind kind, uint64_t ticket)
      : governor_(governor), account_(account), bytes_(bytes), kind_(kind), ticket_(ticket) {}

  bool await_ready() const noexcept { return false; }
  ReservationOutcome await_resume() {
    finish_wait();
    return outcome_;
  }

 private:
  friend class ReservationQueue;
  bool join_queue() override;
  void leave_queue() override;

  MemoryGovernor& governor_;
  AccountNode& account_;
  const int64_t bytes_;
  const ReservationKind kind_;
  // Order of arrival; kept when the request is retried after being outrun.
  const uint64_t ticket_;
  ReservationOutcome outcome_ = ReservationOutcome::Refused;
};

class ReservationQueue {
 public:
  uint64_t next_ticket() { return ++last_ticket_; }
  int64_t size() const { return waits_.size(); }
  int64_t waiting_bytes() const { return waiting_bytes_; }

  // Takes the bytes if they fit and no request older than `ticket` is blocked at an account on the path.
  bool take_in_turn(AccountNode& account, int64_t bytes, ReservationKind kind, uint64_t ticket);
  // Grants or refuses at once (false) or queues (true).
  bool join(ReservationWait& wait);
  void cancel(ReservationWait& wait, WakeList& woken);
  // Call after any change of the counts: grants what fits. If Held bytes grew, also refuses requests that can no longer be satisfied.
  enum class HeldBytes { Grew, DidNotGrow };
  void serve(HeldBytes held_bytes, WakeList& woken);

 private:
  // Returns whether Held bytes were granted.
  HeldBytes serve_once(HeldBytes held_bytes, WakeList& woken);
  void wake(ReservationWait& wait, ReservationOutcome outcome, WakeList& woken);
  void mark_blocked_accounts(const ReservationWait& wait);
  bool is_blocked(const AccountNode& account) const;
  bool is_everything_blocked(const ReservationWait& wait) const;

  WaitQueue<ReservationWait> waits_;
  int64_t waiting_bytes_ = 0;
  uint64_t last_ticket_ = 0;
  uint64_t pass_ = 0;
};

}  // namespace pistachio
