// Decides for one exchange whether this rank's partial results are merged on its host before they are sent (on_path = auto). Merging trades
// CPU time for link time, and both pass at once, but not entirely: the link idles before the first rows and the cores after the last ones.
// So a row that leaves the host takes, by the clock of a rank, max(work, link) + kExposed * min(work, link), with
//   without merging  work = produce, link
//   with merging     work = produce + path, link * (1 - share)
// where `produce` is the time to compute it and the rows for this host in between, `path` the time to hand it over to the merging rank and
// to merge it, `link` its time on the link, and `share` the fraction of these rows that disappears. Merging is on while that is clearly
// less. The link's time follows from the bytes of the first rows on the wire; the others are
// 1. estimated: every rank samples the keys of its first rows and shares the sample, so that each knows how many keys occur more than once
//    on its host;
// 2. measured while the query runs: in the tables in which this rank merges rows of its host, and by the rows that it produces. When
//    merging is off, but a larger share would pay, the rows of a few buckets are merged nevertheless, to notice when it does.
// Merging begins at once if the link is slow enough for a moderate share to pay: rows that pass unmerged before the sample is shared
// are lost to merging, and often that is most of them, while merging in vain costs little for so long. Otherwise it begins once both are
// known. Ranks may decide differently: the final aggregation is correct whichever way a row takes.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
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
  // `link_seconds`: time of a row of `row_bytes` on the link. `lanes`: number of lanes that merge this rank's rows (combining_lanes).
  // Without `may_be_off` merging is always on.
  OnPathChoice(double link_seconds, double row_bytes, double lanes, bool may_be_off);

  bool may_be_off() const { return may_be_off_; }
  bool is_on() const { return is_on_; }
  // The share of the rows that must be merged for merging to pay, 0 to 1; 1: it cannot pay.
  double least_share() const;
  // Merging is off, but would pay if more rows could be merged.
  bool may_begin() const { return has_timed_ && !is_on_ && least_share() < 1; }

  // The time of a row on the link, by the first rows, before any of them is routed.
  void begin(double link_seconds);
  // Of this rank's host, and of the rows that arrive (only for EXPLAIN ANALYZE).
  void estimate(double share, double arrival_share);
  // Totals of the tables since the start: rows added, merged into others, and sent on; and the time spent on all lanes. Called by any lane.
  void observe(int64_t added, int64_t merged, int64_t left, int64_t nanoseconds);
  // Rows for other hosts that this rank has produced since the start, and the seconds since the first of them without those in which it
  // waited for the link. Called by any lane.
  void produce(int64_t rows, double seconds);
  // The time of a row on the link, by the bytes of those that were sent. Called by any lane.
  void set_link_seconds(double seconds) { link_seconds_ = seconds; }

  // For EXPLAIN ANALYZE.
  double estimated_share() const { return estimated_share_; }
  double arrival_share() const { return arrival_share_; }
  int64_t changes() const { return changes_; }
  // Seconds of a row, as above.
  double produce_seconds() const { return produce_seconds_; }
  double path_seconds() const;
  double link_seconds() const { return link_seconds_; }

 private:
  // Seconds of a row.
  double without_merging() const;
  double with_merging(double share) const;
  void decide();

  std::atomic<double> link_seconds_;
  const double lanes_;
  const bool may_be_off_;
  const double hand_over_seconds_;
  std::atomic<bool> is_on_;
  std::atomic<double> merge_seconds_;  // time of a lane to merge a row
  std::atomic<bool> has_timed_ = false;  // produce_seconds_ is measured
  std::atomic<double> produce_seconds_ = 0;
  std::atomic<double> share_ = 0;
  std::atomic<double> estimated_share_ = -1;
  std::atomic<double> arrival_share_ = -1;
  std::atomic<int64_t> changes_ = 0;
  std::mutex mutex_;  // lanes only try to lock it: totals are cumulative, so the next observation covers a skipped one
  int64_t seen_ = 0;  // rows of this rank, or in its tables; guarded by mutex_
  // Guarded by mutex_: totals at the previous observation of the tables, and at the latest change of the decision.
  int64_t added_ = 0;
  int64_t merged_ = 0;
  int64_t left_ = 0;
  // Totals at the last measurement of merge_seconds_, or at the last observation while merging was off.
  int64_t timed_rows_ = 0;
  int64_t timed_nanoseconds_ = 0;
  int64_t produced_ = 0;
  double produced_seconds_ = 0;
};

}  // namespace pistachio
