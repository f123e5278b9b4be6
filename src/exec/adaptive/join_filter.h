// Run-time join filter: a Bloom filter and the min/max of a join's build keys, used by scans of the probe side to skip row groups and drop rows
// that cannot match. Every rank builds it from its own build rows; merged over all ranks it is valid for every row.
// One instance per filter of a plan and rank, alive for one run. Thread-safe as described.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/task.h"
#include "data/chunk.h"
#include "memory/channel.h"
#include "storage/range_filter.h"

namespace pistachio {

class JoinFilter {
 public:
  // `words` is the same on all ranks.
  explicit JoinFilter(int64_t words) : words_count_(words) {}

  // Builds the local filter from the keys of all build rows of this rank. Only the first call has an effect.
  void publish_local(const std::vector<Column>& keys, const CancelToken& token = {});
  // There is no local filter: the build side was not run, or is not on this rank (then it has no rows).
  void publish_nothing(bool has_no_rows);
  // Waits for either of the above; returns the serialized local filter.
  Task<std::string> own();
  // Merges the filters of all ranks.
  void merge(const std::vector<std::string>& notes, at::Device device) { merge(notes, nullptr, device); }
  // For build sides that every rank has in full: the local Bloom filter suffices, so ranks only exchange the bounds. Those must agree on all ranks,
  // since scans are planned with them, and a rank whose join was not run has none.
  void merge_bounds_only(const std::vector<std::string>& notes, const std::string& own, at::Device device) { merge(notes, &own, device); }
  static std::string without_words(const std::string& note);

  // Waits for the merge. Everything below requires it.
  Task<void> wait();
  bool is_empty() const { return is_empty_; }
  // Bounds of the first key, for a column of its type.
  std::vector<RangeFilter> bounds(const std::string& column, LogicalType type) const;
  // Drops rows of the chunk that cannot match, judging by the key columns at `places`.
  Chunk passing(const Chunk& chunk, const std::vector<size_t>& places);

 private:
  struct Bounds {
    int64_t least = 0;
    int64_t greatest = 0;
  };
  void put_own(std::string note);
  at::Tensor words_in(const std::string& note, size_t left) const;
  void merge(const std::vector<std::string>& notes, const std::string* own_words, at::Device device);

  const int64_t words_count_;
  std::mutex mutex_;
  std::optional<std::string> own_;  // guarded by mutex_
  Channel<int> is_published_{0};    // closed once own_ is set
  Channel<int> is_merged_{0};       // closed once the members below are set

  at::Tensor words_;  // of the Bloom filter; undefined: passes everything
  std::optional<Bounds> bounds_;
  bool is_empty_ = false;  // no rank has build rows
  // A filter that passes nearly everything is switched off.
  std::atomic<int64_t> tested_ = 0;
  std::atomic<int64_t> passed_ = 0;
};

using JoinFilters = std::map<size_t, std::unique_ptr<JoinFilter>>;

}  // namespace pistachio
