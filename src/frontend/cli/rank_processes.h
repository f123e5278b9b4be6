// The processes of a local cluster: one for each rank but the first, which is this process. They are out of reach of the terminal's Ctrl-C
// (the first rank tells them what to cancel) and end when the first rank is gone.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace pistachio {

class RankProcesses {
 public:
  // Starts this program again with the arguments for ranks 1 .. ranks - 1, each with the variables of its rank. Throws UserError.
  RankProcesses(int ranks, int master_port, std::vector<std::string> arguments, std::vector<std::vector<std::string>> variables);
  // Waits for them for a while; those that do not end by themselves are killed.
  ~RankProcesses();
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;

 private:
  std::vector<pid_t> processes_;
};

}  // namespace pistachio
