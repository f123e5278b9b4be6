// Rebalances a skewed join while it runs, for keys that became frequent after BucketSpread had decided. The ranks periodically exchange how much
// they have sent. If one rank is overloaded, the others take over its heaviest buckets: it sends them its build rows of these buckets, and they
// keep their own probe rows from then on. A rank without memory for the build rows keeps sending; since the owner of a bucket always has all of its
// build rows, every probe row finds the same matches wherever it is probed.
// One instance per spread join and rank. Thread-safe as described.
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
  // How often the ranks look, each time after four times as many rows as before.
  static constexpr int kRounds = 3;
  // What the ranks tell each other of a round: loads, then build rows.
  static constexpr uint32_t kTopics = kRounds * 2;

  using Buckets = std::vector<bool>;

  // The join on this rank. Calls come one at a time.
  class Join {
   public:
    virtual ~Join() = default;
    // Build rows of these buckets; nothing if they are too many to be told. Throws OutOfMemory.
    virtual std::optional<Chunk> build_rows(const Buckets& buckets, int64_t most_bytes) = 0;
    // From now on probe rows of these buckets may come that were sent to the bucket's owner until now, to be joined with these build rows.
    virtual void take_over(const Buckets& buckets, std::vector<Chunk> build_rows) = 0;
  };

  // Ranks look for the first time after `first_rows` rows; 0: never. The same on all ranks.
  BucketHelp(int rank, int ranks, int64_t first_rows);

  // By the sender of probe rows, once BucketSpread has decided: buckets that belong to all already.
  void begin(const Buckets& of_all);
  // int64 [kBuckets] in host memory: the rank of each bucket as of now.
  at::Tensor owners();
  // int64 [rows]: buckets of rows that are about to be sent.
  void count(const at::Tensor& buckets);
  void end_of_rows();

  // By the join, when its build side is complete, and when it will use no more rows. On a rank where it does not run at all, only the latter.
  // Returns when no call of the join is running.
  void join_begins(Join& join);
  void join_ends();

  // Beside both, on every rank.
  Task<void> run(BucketSpread& spread, ControlExchange& notes, uint32_t first_topic);

  // What the ranks decide from their notes of a round: of buckets that are not `settled`, the heaviest of ranks that have too much.
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
  std::vector<int64_t> loads_;  // since the last note
  int64_t rows_ = 0;            // in all
  int rounds_reached_ = 0;
  bool has_ended_ = false;
  at::Tensor owners_;
  Buckets settled_;  // belong to all, or were chosen in a round

  std::vector<std::unique_ptr<Channel<int>>> reached_;  // for each round; closed when there were enough rows
  Channel<int> join_known_{0};                          // closed when the join has begun or ended
  std::mutex join_mutex_;                               // held during its calls
  Join* join_ = nullptr;                                // guarded by join_mutex_
};

// Which ranks work on the buckets of a join whose frequent keys are spread, on one rank: decided first, and corrected later.
struct SharedBuckets {
  SharedBuckets(int rank, int ranks, int64_t rows_before_help) : help(rank, ranks, rows_before_help) {}
  BucketSpread spread;
  BucketHelp help;
};

}  // namespace pistachio
