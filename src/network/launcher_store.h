// torchrun occupies MASTER_PORT with its own store, which is open to everyone. Ranks use it only to pass on the port of rank 0's meeting store,
// signed with the job secret. Blocking calls.
#pragma once

#include <chrono>
#include <functional>

#include "network/job_identity.h"
#include "network/job_secret.h"

namespace pistachio {

struct LauncherStoreOptions {
  std::chrono::milliseconds timeout;
  std::function<void()> while_waiting;  // polled; an exception ends the wait
  // How long a port with a wrong signature may stay in the store: rank 0 replaces what strangers wrote before it started.
  std::chrono::milliseconds wrong_signature_patience{5'000};
};

// Both throw UserError if torchrun's store cannot be reached.
void publish_meeting_port(const JobIdentity& identity, const JobSecret& secret, int port, const LauncherStoreOptions& options);
// Waits for the port. Throws UserError on timeout, and if a port without a valid signature stays: rank 0 has another secret then. Strangers
// gain nothing by that: they can replace rank 0's port, too.
int find_meeting_port(const JobIdentity& identity, const JobSecret& secret, const LauncherStoreOptions& options);

}  // namespace pistachio
