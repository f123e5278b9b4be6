// Reservation: the right to hold a number of bytes, taken from a MemoryAccount and released by the destructor. Move-only; owned by the
// object that holds the memory (a chunk in flight, a hash table). May be released on any thread, but is not thread-safe. Keeps its account
// alive. Memory: counts only.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

namespace pistachio {

struct AccountNode;

enum class ReservationKind {
  // Released as other work progresses: chunks in flight, read buffers. Waiting for these bytes makes sense.
  Transient,
  // Released only when its holder decides or ends: hash tables, sort runs, caches. Requests do not wait for these bytes.
  Held,
};

class [[nodiscard]] Reservation {
 public:
  // Zero bytes, no account.
  Reservation() = default;
  Reservation(Reservation&& other) noexcept;
  Reservation& operator=(Reservation&& other) noexcept;
  ~Reservation() { release(); }

  int64_t bytes() const { return bytes_; }
  ReservationKind kind() const { return kind_; }

  // Releases all but `bytes`, which must be at most bytes().
  void shrink_to(int64_t bytes);
  void release() noexcept;

 private:
  friend class MemoryAccount;
  friend class MemoryGovernor;
  Reservation(std::shared_ptr<AccountNode> account, int64_t bytes, ReservationKind kind)
      : account_(std::move(account)), bytes_(bytes), kind_(kind) {}

  std::shared_ptr<AccountNode> account_;
  int64_t bytes_ = 0;
  ReservationKind kind_ = ReservationKind::Transient;
};

}  // namespace pistachio
