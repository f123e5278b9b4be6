// Decides for one exchange whether this rank's partial results are merged on its host before they are sent (on_path = auto). Merging trades
// CPU time for link time, and both pass at once: it pays if a row is merged in less time than the link needs for it, and if a large enough
// share of the rows disappears. That share is
// 1. estimated: every rank samples the keys of its first rows and shares the sample, so that each knows how many keys occur more than once
//    on its host. Until all samples are there, rows are merged if merging is cheap compared with the link;
// 2. measured while the query runs, in the tables in which this rank merges rows of its host. When merging is off, the rows of a few
//    buckets are merged nevertheless, to notice when merging starts to pay.
// Ranks may decide differently: the final aggregation is correct whichever way a row takes.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace pistachio {

// A sample of the keys of a rank's first rows. Keys are selected by their hash, so every rank selects the same ones.
class KeySample {
 public:
  // int64 [rows]
  void add(const at::Tensor& hashes);
  int64_t rows() const { return rows_; }
  std::string note() const;

  // The share of a host's rows that merging would remove, given the notes of its ranks; 0 without rows. Ranks send their rows in hash
  // order, so the first rows of different ranks cover the same part of the key space.
  static double mergeable_share(const std::vector<std::string>& notes);
  // Likewise for the rows that leave the hosts, if each of them has merged its own and all meet on arrival. `hosts`: host of each note.
  static double arrival_share(const std::vector<std::string>& notes, const std::vector<int64_t>& hosts);

 private:
  void thin();

  int64_t rows_ = 0;
  int bits_ = 0;                 // a key is selected if this many low bits of its hash are 0
  std::vector<int64_t> chosen_;  // hashes, one for each row with a selected key
};

class OnPathChoice {
 public:
  // `link_seconds`: time of a row on the link. `lanes`: number of lanes that merge this rank's rows (combining_lanes); if they outnumber
  // the cores, the measured time already includes the wait for a core. Without `may_be_off` merging is always on.
  OnPathChoice(double link_seconds, double lanes, bool may_be_off);

  bool may_be_off() const { return may_be_off_; }
  bool is_on() const { return is_on_; }
  // The share of the rows that must be merged for merging to pay, 0 to 1; 1: it cannot pay.
  double least_share() const;

  // Of this rank's host, and of the rows that arrive (only for EXPLAIN ANALYZE).
  void estimate(double share, double arrival_share);
  // Totals of the tables since the start, and the time spent on all lanes. Called by any lane.
  void observe(int64_t added, int64_t merged, int64_t evicted, int64_t nanoseconds);

  // For EXPLAIN ANALYZE.
  double estimated_share() const { return estimated_share_; }
  double arrival_share() const { return arrival_share_; }
  int64_t changes() const { return changes_; }
  // Time of a row on the way to its merging rank and in its tables, when all lanes share the work; and on the link.
  double path_seconds() const;
  double link_seconds() const { return link_seconds_; }

 private:
  void set(bool on);

  const double link_seconds_;
  const double lanes_;
  const bool may_be_off_;
  std::atomic<bool> is_on_ = true;
  std::atomic<double> row_seconds_;  // time of a lane to merge a row
  std::atomic<double> estimated_share_ = -1;
  std::atomic<double> arrival_share_ = -1;
  std::atomic<int64_t> changes_ = 0;
  std::atomic<bool> is_observing_ = false;
  // Totals at the previous observation; only touched by the lane that holds is_observing_.
  int64_t added_ = 0;
  int64_t merged_ = 0;
  int64_t evicted_ = 0;
};

}  // namespace pistachio
