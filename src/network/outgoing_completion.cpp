#include "network/outgoing_completion.h"

#include <utility>

#include "network/message_limits.h"

namespace pistachio {

void OutgoingCompletion::finish(OutgoingMessage& message, TimePoint now) {
  if (message.error != nullptr) return call_back(message);
  int64_t bytes = message_bytes(message.message);
  messages_.fetch_add(1, std::memory_order_relaxed);
  bytes_.fetch_add(bytes, std::memory_order_relaxed);
  trace_.record(MessageDirection::Sent, message.peer, message.message.kind, bytes, now);
  call_back(message);
  message.message.payload.reset();
}

void OutgoingCompletion::fail(OutgoingMessage& message, const std::exception_ptr& error) {
  if (message.error == nullptr) message.error = error;
  call_back(message);
}

void OutgoingCompletion::call_back(OutgoingMessage& message) {
  Transport::SentCallback on_sent = std::exchange(message.on_sent, nullptr);
  if (on_sent) on_sent(message.error);
}

}  // namespace pistachio
