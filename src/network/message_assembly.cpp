#include "network/message_assembly.h"

#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>
#include <fmt/format.h>

#include "base/byte_stream.h"
#include "base/error.h"
#include "network/message_limits.h"

namespace pistachio {

at::Tensor MessageAssembly::ordinary_memory(int64_t bytes) {
  return at::Tensor(at::detail::empty_cpu({bytes}, at::kByte));  // bypasses the dispatcher, which costs more than a small message
}

std::shared_ptr<IncomingMessage> MessageAssembly::new_message(const FrameHeader& header) const {
  auto incoming = std::make_shared<IncomingMessage>();
  incoming->number = header.message;
  incoming->message.kind = header.kind;
  if (header.payload_length >= 0) {
    incoming->length = incoming->missing = incoming->unclaimed = header.payload_length;
    try {
      incoming->message.payload = new_payload_(header.payload_length);
    } catch (const std::exception&) {
      incoming->is_refused = true;
    }
  }
  return incoming;
}

std::shared_ptr<IncomingMessage> MessageAssembly::begin_piece(Frame& frame) {
  const FrameHeader& header = frame.header;
  int64_t whole = header.payload_length < 0 ? 0 : header.payload_length;
  std::shared_ptr<IncomingMessage> incoming;
  if (header.piece_length == whole) {
    incoming = new_message(header);  // common case: complete at once, never in the map
  } else {
    std::shared_ptr<IncomingMessage>& kept = incomplete_[header.message];
    if (kept == nullptr) kept = new_message(header);
    incoming = kept;
    const Message& message = incoming->message;
    if (message.kind != header.kind || incoming->length != whole || incoming->unclaimed < header.piece_length) {
      throw PeerError(header.source, fmt::format("the pieces of message {} contradict each other", header.message));
    }
  }
  incoming->unclaimed -= header.piece_length;
  if (header.piece_offset == 0) {
    incoming->message.head = std::move(frame.head);
    incoming->has_head = true;
  }
  return incoming;
}

std::optional<Message> MessageAssembly::finish_piece(IncomingMessage& incoming, const FrameHeader& piece) {
  incoming.missing -= piece.piece_length;
  if (incoming.missing > 0 || !incoming.has_head) return std::nullopt;
  Message message = std::move(incoming.message);
  if (incoming.is_refused) {
    ByteWriter kind;
    kind.put(message.kind);
    message = {kUnreceivedKind, kind.take() + message.head, {}};
  }
  incomplete_.erase(incoming.number);
  return message;
}

uint8_t* MessageAssembly::place_of(IncomingMessage& incoming, const FrameHeader& piece) {
  if (piece.piece_length == 0 || incoming.is_refused) return nullptr;
  return incoming.message.payload.mutable_data_ptr<uint8_t>() + piece.piece_offset;
}

}  // namespace pistachio
