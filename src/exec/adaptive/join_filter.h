// Run-time join filter: the set of a join's build keys and their min/max, used by scans of the probe side to skip row groups and drop rows that
// cannot match. The set is a bitmap if the key is an integer of a limited range, which is exact and needs no hashing, else a Bloom filter.
// Every rank builds it from its own build rows; merged over all ranks it is valid for every row.
// One instance per filter of a plan and rank, alive for one run. Thread-safe as described.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/byte_stream.h"
#include "base/task.h"
#include "data/chunk.h"
#include "memory/channel.h"
#include "storage/range_filter.h"

namespace pistachio {

class JoinFilter {
 public:
  // `words`: of the Bloom filter, the same on all ranks.
  explicit JoinFilter(int64_t words) : words_count_(words) {}

  // Builds the local filter from the keys of all build rows of this rank. Only the first call has an effect.
  void publish_local(const std::vector<Column>& keys, const CancelToken& token = {});
  // There is no local filter: the build side was not run, or is not on this rank (then it has no rows).
  void publish_nothing(bool has_no_rows);
  // Waits for either of the above; returns the serialized local filter.
  Task<std::string> own();
  // Merges the filters of all ranks.
  void merge(const std::vector<std::string>& notes, at::Device device) { merge(notes, nullptr, device); }
  // For build sides that every rank has in full: the local set suffices, so ranks only exchange the bounds. Those must agree on all ranks,
  // since scans are planned with them, and a rank whose join was not run has none.
  void merge_bounds_only(const std::vector<std::string>& notes, const std::string& own, at::Device device) { merge(notes, &own, device); }
  static std::string without_words(const std::string& note);

  // Waits for the merge. Everything below requires it.
  Task<void> wait();
  bool is_empty() const { return is_empty_; }
  // Bounds of the first key, for a column of its type. They only prune if test() judges rows.
  std::vector<RangeFilter> bounds(const std::string& column, LogicalType type) const;
  // bool [rows]: whether rows with these keys may match; undefined if all may, or too many for the test to pay.
  at::Tensor test(const std::vector<Column>& keys);
  // Drops rows of the chunk that cannot match, judging by the key columns at `places`.
  Chunk passing(const Chunk& chunk, const std::vector<size_t>& places);

 private:
  struct Bounds {
    int64_t least = 0;
    int64_t greatest = 0;
  };
  // The set of keys in a note.
  struct Keys {
    at::Tensor words;             // undefined: anything
    std::optional<int64_t> base;  // the first value of a bitmap; a Bloom filter has none
  };
  void put_own(std::string note);
  Keys read_keys(ByteReader& reader, const std::string& note, const std::optional<Bounds>& bounds) const;
  Keys unite(std::vector<Keys> parts, at::Device device) const;
  int64_t most_bitmap_words() const;
  void merge(const std::vector<std::string>& notes, const std::string* own_words, at::Device device);

  const int64_t words_count_;
  std::mutex mutex_;
  std::optional<std::string> own_;  // guarded by mutex_
  Channel<int> is_published_{0};    // closed once own_ is set
  Channel<int> is_merged_{0};       // closed once the members below are set

  Keys keys_;
  std::optional<Bounds> bounds_;
  bool is_empty_ = false;  // no rank has build rows
  // A filter that passes nearly everything is switched off.
  std::atomic<int64_t> tested_ = 0;
  std::atomic<int64_t> passed_ = 0;
};

using JoinFilters = std::map<size_t, std::unique_ptr<JoinFilter>>;

}  // namespace pistachio
