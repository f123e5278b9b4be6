// A message from send() to the end of its last piece. Belongs to the progress thread once it has left the ProgressInbox.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>

#include "network/transport.h"

namespace pistachio {

struct OutgoingMessage {
  int peer = 0;
  Message message;
  Transport::SentCallback on_sent;
  uint64_t number = 0;
  std::chrono::steady_clock::time_point accepted;  // under a bandwidth limit
  int64_t begun = 0;                               // bytes of payload handed to UCX
  bool first_begun = false;
  int pieces_under_way = 0;
  std::exception_ptr error;
  // If set, this is not a message: the peer was restarted, and messages queued behind it go to the new process.
  std::optional<RankInfo> replacement;

  bool all_begun() const;
};

}  // namespace pistachio
