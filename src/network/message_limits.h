// Size limits of messages, checked by every transport on send: a violation is a bug of the caller. Pure, thread-safe.
#pragma once

#include <cstdint>

#include "network/transport.h"

namespace pistachio {

// Also the most that a receiver allocates for a length received over the wire.
constexpr int64_t kLargestPayload = int64_t{1} << 30;

// Replaces a message that did not fit into memory: no payload, and a head that starts with its original kind.
constexpr uint16_t kUnreceivedKind = 0xFFFF;

// Throws InternalError: unknown rank, head too long, or a payload that is not a flat, contiguous uint8 tensor on the host.
void check_message(const Message& message, int peer, int ranks);

int64_t payload_bytes(const Message& message);
int64_t message_bytes(const Message& message);  // head and payload

}  // namespace pistachio
