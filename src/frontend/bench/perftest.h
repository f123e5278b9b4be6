// UCX's own benchmark, ucx_perftest, to be set beside ours: what the same library gives the same messages without anything of this engine.
// Starts two processes of it and waits for their end; blocks the caller.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/cancel_token.h"

namespace pistachio {

// The one that came with the UCX library this process uses; nothing if there is none.
std::optional<std::string> find_perftest();

// Bytes a second of active messages from one process of this machine to another, over the transports that UCX chooses by its variables.
// Throws UserError, Cancelled.
double perftest_bandwidth(const std::string& program, int64_t message_bytes, int64_t messages, const CancelToken& token);

}  // namespace pistachio
