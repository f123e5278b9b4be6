#include "memory/memory_governor.h"

#include <algorithm>

#include "base/check.h"
#include "memory/account_node.h"
#include "memory/refusal_text.h"

namespace pistachio {

MemoryGovernor::MemoryGovernor(int64_t limit_bytes, std::function<int64_t()> tensor_bytes, Names names)
    : setting_(std::move(names.setting)),
      tensor_bytes_(std::move(tensor_bytes)),
      process_account_(add_account(nullptr, std::move(names.memory), limit_bytes)) {
  ENSURE_GE(limit_bytes, 0);
}

int64_t MemoryGovernor::waiting() const {
  std::lock_guard lock(mutex_);
  return queue_.size();
}

std::shared_ptr<AccountNode> MemoryGovernor::add_account(std::shared_ptr<AccountNode> parent, std::string name,
                                                         std::optional<int64_t> limit) {
  auto node = std::make_shared<AccountNode>(*this, std::move(parent), std::move(name), limit);
  std::lock_guard lock(mutex_);
  std::erase_if(accounts_, [](const std::weak_ptr<AccountNode>& account) { return account.expired(); });
  accounts_.push_back(node);
  return node;
}

Task<Reservation> MemoryGovernor::reserve(std::shared_ptr<AccountNode> account, int64_t bytes, ReservationKind kind) {
  ENSURE_GE(bytes, 0);
  uint64_t ticket = 0;
  {
    std::lock_guard lock(mutex_);
    ticket = queue_.next_ticket();
  }
  bool was_taken = take(*account, bytes, kind, ticket);
  bool caches_were_asked = false;
  while (!was_taken) {
    ReservationWait wait(*this, *account, bytes, kind, ticket);
    ReservationOutcome outcome = co_await wait;
    if (outcome == ReservationOutcome::Granted) break;
    if (outcome == ReservationOutcome::Refused && caches_were_asked) throw make_refusal(*account, bytes);
    // Waiting will not free the bytes, so the caches must. Requests that only have to wait leave the caches alone, or a scan running at
    // the limit would empty them again and again.
    was_taken = take_under_pressure(*account, bytes, kind, ticket);
    caches_were_asked = true;
  }
  co_return Reservation(std::move(account), bytes, kind);
}

bool MemoryGovernor::take(AccountNode& account, int64_t bytes, ReservationKind kind, uint64_t ticket) {
  WakeList woken;
  std::lock_guard lock(mutex_);
  if (!queue_.take_in_turn(account, bytes, kind, ticket)) return false;
  if (kind == ReservationKind::Held) queue_.serve(ReservationQueue::HeldBytes::Grew, woken);
  return true;
}

bool MemoryGovernor::take_under_pressure(AccountNode& account, int64_t bytes, ReservationKind kind, uint64_t ticket) {
  if (take(account, bytes, kind, ticket)) return true;
  return pressure_callbacks_.call_until(missing_bytes(account, bytes), [&] { return take(account, bytes, kind, ticket); });
}

void MemoryGovernor::give_back(AccountNode& account, int64_t bytes, ReservationKind kind) noexcept {
  WakeList woken;
  std::lock_guard lock(mutex_);
  account.add(-bytes, kind);
  queue_.serve(ReservationQueue::HeldBytes::DidNotGrow, woken);
}

int64_t MemoryGovernor::missing_bytes(const AccountNode& account, int64_t bytes) const {
  std::lock_guard lock(mutex_);
  int64_t least_room = INT64_MAX;
  for (const AccountNode* node = &account; node != nullptr; node = node->parent.get()) least_room = std::min(least_room, node->room());
  return std::max(int64_t{0}, bytes - least_room) + queue_.waiting_bytes();
}

OutOfMemory MemoryGovernor::make_refusal(const AccountNode& account, int64_t bytes) const {
  std::vector<std::shared_ptr<AccountNode>> alive;  // outlives the lock: releasing the last owner of an account frees memory
  MemoryRefusal refusal{.setting = setting_, .account = account.path(), .asked = bytes, .tensor_bytes = tensor_bytes()};
  std::lock_guard lock(mutex_);
  const AccountNode* limited = &account;
  while (limited->parent && bytes <= limited->room()) limited = limited->parent.get();
  refusal.limited_account = limited->path();
  refusal.is_process_limit = limited->parent == nullptr;
  refusal.limit = *limited->limit;
  refusal.used = limited->used;
  for (const std::weak_ptr<AccountNode>& known : accounts_) {
    std::shared_ptr<AccountNode> node = known.lock();
    if (!node) continue;
    if (node->own > 0) refusal.holders.push_back({node->path(), node->own});
    alive.push_back(std::move(node));
  }
  return OutOfMemory(describe_refusal(std::move(refusal)));
}

bool ReservationWait::join_queue() {
  std::lock_guard lock(governor_.mutex_);
  if (was_cancelled()) return false;
  if (governor_.queue_.join(*this)) return true;
  settle();
  return false;
}

void ReservationWait::leave_queue() {
  WakeList woken;
  std::lock_guard lock(governor_.mutex_);
  governor_.queue_.cancel(*this, woken);
}

}  // namespace pistachio
