#include "memory/reservation_queue.h"

#include <algorithm>

namespace pistachio {

bool ReservationQueue::take_in_turn(AccountNode& account, int64_t bytes, ReservationKind kind, uint64_t ticket) {
  if (!account.fits(bytes)) return false;
  ++pass_;
  for (ReservationWait* wait = waits_.first(); wait != nullptr && wait->ticket_ < ticket; wait = waits_.after(*wait)) {
    mark_blocked_accounts(*wait);
    if (is_everything_blocked(*wait)) return false;
  }
  if (is_blocked(account)) return false;
  account.add(bytes, kind);
  return true;
}

bool ReservationQueue::join(ReservationWait& wait) {
  if (take_in_turn(wait.account_, wait.bytes_, wait.kind_, wait.ticket_)) {
    wait.outcome_ = ReservationOutcome::Granted;
    return false;
  }
  if (!wait.account_.fits_without_transient(wait.bytes_)) {
    wait.outcome_ = ReservationOutcome::Refused;
    return false;
  }
  ReservationWait* successor = waits_.first();
  while (successor != nullptr && successor->ticket_ < wait.ticket_) successor = waits_.after(*successor);
  waits_.insert_before(successor, wait);
  waiting_bytes_ += wait.bytes_;
  return true;
}

void ReservationQueue::cancel(ReservationWait& wait, WakeList& woken) {
  if (!waits_.cancel(wait, woken)) return;
  waiting_bytes_ -= wait.bytes_;
  serve(HeldBytes::DidNotGrow, woken);
}

void ReservationQueue::serve(HeldBytes held_bytes, WakeList& woken) {
  do {
    held_bytes = serve_once(held_bytes, woken);
  } while (held_bytes == HeldBytes::Grew);
}

ReservationQueue::HeldBytes ReservationQueue::serve_once(HeldBytes held_bytes, WakeList& woken) {
  HeldBytes granted = HeldBytes::DidNotGrow;
  ++pass_;
  ReservationWait* next = nullptr;
  for (ReservationWait* wait = waits_.first(); wait != nullptr; wait = next) {
    next = waits_.after(*wait);
    if (!wait->account_.fits_without_transient(wait->bytes_)) {
      wake(*wait, ReservationOutcome::Outrun, woken);
    } else if (wait->account_.fits(wait->bytes_) && !is_blocked(wait->account_)) {
      wait->account_.add(wait->bytes_, wait->kind_);
      if (wait->kind_ == ReservationKind::Held) granted = HeldBytes::Grew;
      wake(*wait, ReservationOutcome::Granted, woken);
    } else {
      mark_blocked_accounts(*wait);
      // No later request can be granted; whether one has become hopeless changes only with Held bytes.
      if (held_bytes == HeldBytes::DidNotGrow && is_everything_blocked(*wait)) break;
    }
  }
  return granted;
}

void ReservationQueue::wake(ReservationWait& wait, ReservationOutcome outcome, WakeList& woken) {
  wait.outcome_ = outcome;
  waiting_bytes_ -= wait.bytes_;
  waits_.wake(wait, woken);
}

void ReservationQueue::mark_blocked_accounts(const ReservationWait& wait) {
  for (AccountNode* node = &wait.account_; node != nullptr; node = node->parent.get()) {
    if (wait.bytes_ > node->room()) node->blocked_in_pass = pass_;
  }
}

bool ReservationQueue::is_blocked(const AccountNode& account) const {
  for (const AccountNode* node = &account; node != nullptr; node = node->parent.get()) {
    if (node->blocked_in_pass == pass_) return true;
  }
  return false;
}

bool ReservationQueue::is_everything_blocked(const ReservationWait& wait) const {
  const AccountNode* root = &wait.account_;
  while (root->parent) root = root->parent.get();
  return root->blocked_in_pass == pass_;
}

}  // namespace pistachio
