// Active-message ids of our frames in UCX. Part of the protocol.
#pragma once

namespace pistachio {

constexpr unsigned kMessageHandler = 1;
constexpr unsigned kHeartbeatHandler = 2;  // only signals that the sender is alive
constexpr unsigned kGoodbyeHandler = 3;    // the sender leaves the job

}  // namespace pistachio
