// Serialized form of an error: its class and message.
#pragma once

#include <cstdint>
#include <exception>
#include <string>

namespace pistachio {

struct RemoteError {
  enum class Kind : uint8_t { User, Data, OutOfMemory, Cancelled, Peer, Internal };
  Kind kind = Kind::Internal;
  std::string message;
  int64_t position = -1;
  int rank = 0;       // where it happened
  int lost_rank = -1;  // Peer: the lost rank, if known

  // If there is no memory for the message, the error becomes a short OutOfMemory.
  static RemoteError of(std::exception_ptr error, int rank) noexcept;
  std::string to_bytes() const;
  static RemoteError of_bytes(const std::string& bytes, int rank);
  // Throws it as its original class, with the rank in its message.
  [[noreturn]] void raise() const;
};

}  // namespace pistachio
