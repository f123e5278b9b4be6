// Reassembles messages of one peer from pieces that arrive in any order: allocates the payload, places each piece, returns the message when it is
// complete. Single-threaded. Memory: incomplete messages.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>

#include "network/frame.h"
#include "network/transport.h"

namespace pistachio {

struct IncomingMessage {
  uint64_t number = 0;
  Message message;
  int64_t length = 0;       // of the payload
  bool is_refused = false;  // out of memory: its pieces are dropped
  int64_t missing = 0;      // bytes of payload
  int64_t unclaimed = 0;    // of those, bytes without a piece in flight
  bool has_head = false;
};

class MessageAssembly {
 public:
  // Allocates a payload of this many bytes; throws if it cannot.
  using NewPayload = std::function<at::Tensor(int64_t)>;
  MessageAssembly() : MessageAssembly(ordinary_memory) {}
  explicit MessageAssembly(NewPayload new_payload) : new_payload_(std::move(new_payload)) {}

  // The message that a piece belongs to, with memory for the whole payload unless refused. Throws PeerError if pieces of a message
  // contradict each other.
  std::shared_ptr<IncomingMessage> begin_piece(Frame& frame);
  // Call when the bytes of the piece are in place. A refused message is returned as kUnreceivedKind after its last piece.
  std::optional<Message> finish_piece(IncomingMessage& incoming, const FrameHeader& piece);

  // Null for a piece without bytes, and if the message is refused.
  static uint8_t* place_of(IncomingMessage& incoming, const FrameHeader& piece);

 private:
  static at::Tensor ordinary_memory(int64_t bytes);
  std::shared_ptr<IncomingMessage> new_message(const FrameHeader& header) const;

  NewPayload new_payload_;
  std::unordered_map<uint64_t, std::shared_ptr<IncomingMessage>> incomplete_;
};

}  // namespace pistachio
