#include "memory/reservation.h"

#include <utility>

#include "base/check.h"
#include "memory/account_node.h"
#include "memory/memory_governor.h"

namespace pistachio {

Reservation::Reservation(Reservation&& other) noexcept
    : account_(std::move(other.account_)), bytes_(std::exchange(other.bytes_, 0)), kind_(other.kind_) {}

Reservation& Reservation::operator=(Reservation&& other) noexcept {
  if (this != &other) {
    release();
    account_ = std::move(other.account_);
    bytes_ = std::exchange(other.bytes_, 0);
    kind_ = other.kind_;
  }
  return *this;
}

void Reservation::shrink_to(int64_t bytes) {
  ENSURE_GE(bytes, 0);
  ENSURE_LE(bytes, bytes_);
  const int64_t given_back = bytes_ - bytes;
  bytes_ = bytes;
  if (given_back > 0) account_->governor.give_back(*account_, given_back, kind_);
}

void Reservation::release() noexcept {
  const int64_t given_back = std::exchange(bytes_, 0);
  if (given_back > 0) account_->governor.give_back(*account_, given_back, kind_);
}

}  // namespace pistachio
