// The processes of a local cluster: one per rank except the first, which is this process. The terminal's Ctrl-C does not reach them (the
// first rank forwards cancellations), and they end with the first rank, however it ends. One thread at a time.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "network/job_secret.h"

namespace pistachio {

class RankProcesses {
 public:
  // Starts this program with these arguments for ranks 1 .. ranks - 1. Throws UserError.
  RankProcesses(int ranks, int master_port, JobSecret secret, std::vector<std::string> arguments);
  // Gives ranks that have met the first one time to exit by themselves; kills the others.
  ~RankProcesses();
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;

  // Throws UserError naming a process that has ended.
  void require_all() const;
  void note_connected() { timeout_ = std::chrono::seconds(5); }

  // How the process of a rank ended; empty while it runs.
  std::string exit_description(int rank) const;
  pid_t process(int rank) const { return processes_[static_cast<size_t>(rank) - 1]; }
  // Kills the rank's process if it still runs and starts a new one, which dies with the calling thread. Throws UserError.
  void restart(int rank);

 private:
  pid_t start(int rank);
  void end_all();

  const int ranks_;
  const int master_port_;
  const JobSecret secret_;
  std::vector<std::string> arguments_;
  std::vector<pid_t> processes_;  // of rank 1 and up
  std::chrono::milliseconds timeout_{0};
};

// Called in a process that RankProcesses started: it is killed when its parent dies, even while it is stopped.
void end_with_parent(pid_t parent);

}  // namespace pistachio
