// Whether the partial results of this rank are merged on its host before they leave it (on_path = auto), for one exchange. Merging saves time
// on the link and costs time of the cores; it pays if a large enough share of the rows is merged. The share is
// 1. estimated before the first row is sent: every rank samples the keys of its first rows and shares the sample, so that each knows how many
//    keys its host has more than once;
// 2. observed while the query runs, by the tables in which this rank merges rows of its host. Even when merging is off, the rows of some
//    buckets are merged, so that it is noticed when merging starts to pay.
// Ranks may choose differently: the final aggregation is right whichever way a row takes.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace pistachio {

// Keys of a rank's first rows, chosen by their hash: the same key is chosen on every rank.
class KeySample {
 public:
  // int64 [rows]
  void add(const at::Tensor& hashes);
  int64_t rows() const { return rows_; }
  std::string note() const;

  // The share of a host's rows that merging would remove, by the notes of its ranks; 0 if they have no rows. Ranks send their rows in the
  // order of hashes, so that the first rows of different ranks have the same keys, if the ranks do.
  static double mergeable_share(const std::vector<std::string>& notes);

 private:
  void thin();

  int64_t rows_ = 0;
  int bits_ = 0;                 // a key is chosen if so many low bits of its hash are 0
  std::vector<int64_t> chosen_;  // one for each row with a chosen key
};

class OnPathChoice {
 public:
  // `link_seconds`: a row's time on the link. `lanes`: that merge the rows of this rank (combining_lanes); more lanes than cores need no
  // correction, since the time that is observed includes waiting for a core. Without `may_be_off` merging is always on.
  OnPathChoice(double link_seconds, double lanes, bool may_be_off);

  bool may_be_off() const { return may_be_off_; }
  bool is_on() const { return is_on_; }
  // The share of the rows that must be merged for merging to pay.
  double least_share() const;

  void estimate(double share);
  // What the tables did so far, and the time that it took on all lanes. Any number of lanes.
  void observe(int64_t added, int64_t merged, int64_t evicted, int64_t nanoseconds);

  // For EXPLAIN ANALYZE.
  double estimated_share() const { return estimated_share_; }
  int64_t changes() const { return changes_; }

 private:
  void set(bool on);

  const double link_seconds_;
  const double lanes_;
  const bool may_be_off_;
  std::atomic<bool> is_on_ = true;
  std::atomic<double> row_seconds_;  // of merging, on one core
  std::atomic<double> estimated_share_ = -1;
  std::atomic<int64_t> changes_ = 0;
  std::atomic<bool> is_observing_ = false;
  // Of the observation before; used by the lane that observes.
  int64_t added_ = 0;
  int64_t merged_ = 0;
  int64_t evicted_ = 0;
};

}  // namespace pistachio
