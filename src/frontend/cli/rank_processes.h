// The processes of a local cluster: one for each rank but the first, which is this process. They are out of reach of the terminal's Ctrl-C
// (the first rank tells them what to cancel) and end when the first rank is gone, whatever ended it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace pistachio {

class RankProcesses {
 public:
  // Starts this program again with the arguments for ranks 1 .. ranks - 1. Throws UserError.
  RankProcesses(int ranks, int master_port, std::vector<std::string> arguments);
  // Those that have met the first rank are given time to end by themselves; the others are killed.
  ~RankProcesses();
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;

  // Throws UserError that names a process which has ended.
  void require_all() const;
  void have_met() { patience_ = std::chrono::seconds(5); }

  // Tells of each process that ends, once, on a thread of its own: its rank, and how it ended.
  class Watch {
   public:
    using Callback = std::function<void(int rank, const std::string& how)>;
    Watch(const RankProcesses& processes, Callback on_end);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

   private:
    void run();

    const RankProcesses& processes_;
    const Callback on_end_;
    std::mutex mutex_;
    std::condition_variable stopping_changed_;
    bool is_stopping_ = false;  // guarded by mutex_
    std::thread thread_;
  };

 private:
  // How the process of a rank ended; empty while it runs.
  std::string how_it_ended(int rank) const;
  void end_all();

  std::vector<pid_t> processes_;  // of rank 1 and up
  std::chrono::milliseconds patience_{0};
};

// In a process that RankProcesses has started: it is killed when its parent is gone, also while it is stopped.
void end_with_parent(pid_t parent);

}  // namespace pistachio
