// UCX's own benchmark, ucx_perftest, as a baseline: the same library and messages without this engine. Starts two processes and waits for
// them; blocks the caller.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/cancel_token.h"

namespace pistachio {

// The one that belongs to the UCX library this process uses; nullopt if there is none.
std::optional<std::string> find_perftest();

// Bandwidth in bytes per second of active messages between two processes of this machine, over the transports that UCX's environment
// variables select. Throws UserError, Cancelled.
double perftest_bandwidth(const std::string& program, int64_t message_bytes, int64_t messages, const CancelToken& token);

}  // namespace pistachio
