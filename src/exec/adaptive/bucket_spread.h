// Maps the rows of a repartition to ranks: the hash of the keys selects a bucket, and a bucket is owned by a rank. A bucket with far more
// rows than others (a frequent key) would make its owner a straggler. In a join such buckets are spread over all ranks: probe rows stay
// where they are, build rows are broadcast. The decision is made from a sample of every rank's first probe rows, identically on every rank.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/task.h"
#include "data/column.h"
#include "memory/channel.h"

namespace pistachio {

inline constexpr int64_t kBucketBits = 10;
inline constexpr int64_t kBuckets = int64_t{1} << kBucketBits;

// int64 [rows]: hashes whose top bits are the bucket. The key hash is hashed again: within a rank all keys share their bucket bits, and
// joins and groupings there need every bit of the first hash to vary.
at::Tensor routing_hashes(const std::vector<Column>& keys);
// int64 [rows]
at::Tensor buckets_of(const at::Tensor& hashes);
// The rank that owns the bucket.
int owner_of(int64_t bucket, int ranks);

// The decision for one join, on one rank.
class BucketSpread {
 public:
  // The buckets to spread, given every rank's row counts per bucket (note_of). An empty note means no rows.
  static std::vector<bool> choose(const std::vector<std::string>& loads, int ranks);
  static std::string note_of(const std::vector<int64_t>& loads);

  void decide(std::vector<bool> of_all);
  // Waits until decide() was called.
  Task<void> wait();
  // Valid once decided: whether any bucket is spread over all ranks, and which are.
  bool is_needed() const { return is_needed_; }
  const std::vector<bool>& of_all() const { return of_all_; }

 private:
  std::vector<bool> of_all_;
  bool is_needed_ = false;
  Channel<int> decided_{0};  // closed by decide()
};

}  // namespace pistachio
