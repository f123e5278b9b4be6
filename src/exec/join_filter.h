// What scans know of the build side of a join before they read its probe side: a Bloom filter of the keys, and the least and the greatest
// one. Every rank makes it of its own build rows; united over all ranks it holds for every row. Rows that cannot find a partner are dropped
// where they are read, and row groups that hold none are not read at all.
// One for each filter of a plan on each rank; lives as long as the run. Thread-safe as described.
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

  // The keys of all build rows of this rank. The first call counts.
  void tell_own(const std::vector<Column>& keys);
  // Nothing is known of them: the step was not needed, or is not on this rank (then it has no rows).
  void tell_nothing(bool has_no_rows);
  // Waits for one of those; what to tell the other ranks.
  Task<std::string> own();
  // What all ranks have told.
  void unite(const std::vector<std::string>& notes, at::Device device) { unite(notes, nullptr, device); }
  // The same where each rank has all build rows: the others tell everything but the Bloom filter, which is as good from this rank alone. Bounds
  // must be the same on all ranks, as they plan their scans with them, and a rank whose join is not needed knows none.
  void unite_all_but_words(const std::vector<std::string>& notes, const std::string& own, at::Device device) { unite(notes, &own, device); }
  static std::string without_words(const std::string& note);

  // Waits until it is united. The rest is for afterwards.
  Task<void> wait();
  bool is_empty() const { return is_empty_; }
  // Bounds of the first key, for a column of its type.
  std::vector<RangeFilter> bounds(const std::string& column, LogicalType type) const;
  // The rows of the chunk that may find a partner, by these columns of it.
  Chunk passing(const Chunk& chunk, const std::vector<size_t>& places);

 private:
  struct Bounds {
    int64_t least = 0;
    int64_t greatest = 0;
  };
  void put_own(std::string note);
  at::Tensor words_in(const std::string& note, size_t left) const;
  void unite(const std::vector<std::string>& notes, const std::string* own_words, at::Device device);

  const int64_t words_count_;
  std::mutex mutex_;
  std::optional<std::string> own_;  // guarded by mutex_
  Channel<int> is_told_{0};         // closed when own_ is there
  Channel<int> is_united_{0};       // closed when the following are there

  at::Tensor words_;  // undefined: any key may be there
  std::optional<Bounds> bounds_;
  bool is_empty_ = false;  // no rank has build rows
  // A filter that lets nearly everything pass is not worth its time.
  std::atomic<int64_t> tested_ = 0;
  std::atomic<int64_t> passed_ = 0;
};

using JoinFilters = std::map<size_t, std::unique_ptr<JoinFilter>>;

}  // namespace pistachio
