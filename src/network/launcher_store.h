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
};

// Both throw UserError if torchrun's store cannot be reached.
void publish_meeting_port(const JobIdentity& identity, const JobSecret& secret, int port, const LauncherStoreOptions& options);
// Waits for the port; ignores values without a valid signature. Throws UserError on timeout.
int find_meeting_port(const JobIdentity& identity, const JobSecret& secret, const LauncherStoreOptions& options);

}  // namespace pistachio
