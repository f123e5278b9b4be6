#include "network/message_limits.h"

#include "base/check.h"

namespace pistachio {

void check_message(const Message& message, int peer, int ranks) {
  ENSURE(peer >= 0 && peer < ranks, "a message to rank {} of {}", peer, ranks);
  ENSURE_LE(message.head.size(), kLargestHead);
  if (!message.payload.defined()) return;
  ENSURE(message.payload.scalar_type() == at::kByte && message.payload.dim() == 1 && message.payload.is_contiguous() &&
             message.payload.is_cpu(),
         "a payload must be a contiguous uint8 [bytes] on the host");
  ENSURE_LE(message.payload.numel(), kLargestPayload);
}

int64_t payload_bytes(const Message& message) {
  return message.payload.defined() ? message.payload.numel() : 0;
}

int64_t message_bytes(const Message& message) {
  return static_cast<int64_t>(message.head.size()) + payload_bytes(message);
}

}  // namespace pistachio
