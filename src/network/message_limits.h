// Size limits of messages, checked by every transport on send: a violation is a bug of the caller. Pure, thread-safe.
#pragma once

#include <cstdint>

#include "network/transport.h"

namespace pistachio {

// Also what a receiver is willing to allocate because of a length that came over the wire.
constexpr int64_t kLargestPayload = int64_t{1} << 30;

// What a receiver gets in place of a message that there was no memory for: no payload, and a head that begins with the kind it had.
constexpr uint16_t kUnreceivedKind = 0xFFFF;

// Throws InternalError: no such rank, a head that is too long, a payload that is not a flat, contiguous uint8 tensor on the host.
void check_message(const Message& message, int peer, int ranks);

int64_t payload_bytes(const Message& message);
int64_t message_bytes(const Message& message);  // head and payload

}  // namespace pistachio
