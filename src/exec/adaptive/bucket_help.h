// Rebalances a skewed join while it runs, for keys that become frequent only after BucketSpread has decided. The ranks periodically
// exchange how many probe rows they have sent per bucket. If one rank is overloaded, the others take over its heaviest buckets: it
// broadcasts its build rows of these buckets, and the others probe their own probe rows locally from then on. A rank without memory for the
// build rows keeps sending its probe rows. The owner of a bucket keeps all of its build rows, so a probe row finds the same matches
// wherever it is probed. One instance per spread join and rank. Thread-safe as described.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/task.h"
#include "data/chunk.h"
#include "exec/adaptive/bucket_spread.h"
#include "memory/channel.h"

namespace pistachio {

class ControlExchange;

class BucketHelp {
 public:
  // Rounds in which the ranks compare loads, each after four times as many rows as the one before.
  static constexpr int kRounds = 3;
  // Control topics: two per round, one for loads and one for build rows.
  static constexpr uint32_t kTopics = kRounds * 2;

  using Buckets = std::vector<bool>;

  // The join on this rank. Calls come one at a time.
  class Join {
   public:
    virtual ~Join() = default;
    // The build rows of these buckets; nullopt if they exceed `most_bytes`. Throws OutOfMemory.
    virtual std::optional<Chunk> build_rows(const Buckets& buckets, int64_t most_bytes) = 0;
    // Probe rows of these buckets, which went to their owner until now, may arrive here from now on and are joined with these build rows.
    virtual void take_over(const Buckets& buckets, std::vector<Chunk> build_rows) = 0;
  };

  // `first_rows`: probe rows sent before the first round; 0 disables help. The same on all ranks.
  BucketHelp(int rank, int ranks, int64_t first_rows);

  // The next four are called by the sender of probe rows; begin() once BucketSpread has decided, with the buckets that it spreads.
  void begin(const Buckets& of_all);
  // int64 [kBuckets] in host memory: the rank that currently probes each bucket's rows.
  at::Tensor owners();
  // int64 [rows]: buckets of rows that are about to be sent.
  void count(const at::Tensor& buckets);
  void end_of_rows();

  // Called by the join when its build side is complete, and when it takes no more probe rows. On a rank that does not run the join, only
  // join_ends() is called. Once join_ends() has returned, the join is not called any more.
  void join_begins(Join& join);
  void join_ends();

  // Runs the rounds, concurrently with the sender and the join, on every rank.
  Task<void> run(BucketSpread& spread, ControlExchange& notes, uint32_t first_topic);

  // The buckets to take over, given the loads of all ranks in a round: the heavy ones of overloaded ranks, except `settled` ones.
  static Buckets choose(const std::vector<std::string>& notes, const Buckets& settled, int ranks);
  static std::string note_of(const std::vector<int64_t>& loads, bool is_last);
  static bool is_last(const std::string& note);

 private:
  Task<void> wait_for_rows(int round);
  std::string take_note();
  std::string build_rows_of(const Buckets& buckets);
  void take_over(const Buckets& chosen, const std::vector<std::string>& notes);

  const int rank_;
  const int ranks_;
  const int64_t first_rows_;
  std::atomic<bool> is_counting_;

  std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<int64_t> loads_;  // rows per bucket since the last round
  int64_t rows_ = 0;            // since the start
  int rounds_reached_ = 0;
  bool has_ended_ = false;
  at::Tensor owners_;
  Buckets settled_;  // spread from the start, or taken over in a round

  std::vector<std::unique_ptr<Channel<int>>> reached_;  // per round; closed once enough rows were sent for it
  Channel<int> join_known_{0};                          // closed when the join has begun or ended
  std::mutex join_mutex_;                               // held while the join is called
  Join* join_ = nullptr;                                // guarded by join_mutex_
};

// Which ranks probe the buckets of a spread join, as seen by one rank: the first decision (spread) and its later corrections (help).
struct SharedBuckets {
  SharedBuckets(int rank, int ranks, int64_t rows_before_help) : help(rank, ranks, rows_before_help) {}
  BucketSpread spread;
  BucketHelp help;
};

}  // namespace pistachio
