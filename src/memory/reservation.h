// Reservation: the right to hold a number of bytes, taken from a MemoryAccount and given back when the object dies. Move-only; owned by
// what holds the memory (a chunk in flight, a hash table). May be released on any thread, but one object is used by one thread at a time.
// It keeps its account alive. Memory: counts only.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

namespace pistachio {

struct AccountNode;

enum class ReservationKind {
  // Released by the progress of other work: chunks in flight, read buffers. Waiting for these bytes makes sense.
  Transient,
  // Released when its holder decides or ends: hash tables, sort runs, caches. Nobody waits for these bytes.
  Held,
};

class [[nodiscard]] Reservation {
 public:
  // Zero bytes of no account.
  Reservation() = default;
  Reservation(Reservation&& other) noexcept;
  Reservation& operator=(Reservation&& other) noexcept;
  ~Reservation() { release(); }

  int64_t bytes() const { return bytes_; }
  ReservationKind kind() const { return kind_; }

  // Gives back all but `bytes`, which must not be more than bytes().
  void shrink_to(int64_t bytes);
  // Takes `more` bytes on top, or false if they do not fit now (or others wait for memory). Never waits; asks the caches for memory first.
  [[nodiscard]] bool try_grow(int64_t more);
  // Gives back everything; the account stays, so that it may grow again.
  void release() noexcept;
  // Moves `bytes` of these into a reservation of their own.
  Reservation split(int64_t bytes);

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
