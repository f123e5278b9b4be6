// Run-time join filter: the set of a join's build keys and their min/max, used by scans of the probe side to skip row groups and drop rows
// that cannot match. The set is a bitmap if the key is an integer of a limited range, which is exact and needs no hashing, else a Bloom
// filter. Every rank builds it from its own build rows; merged over all ranks it is valid for every row. It stays on the device of the
// keys; only ranks that exchange it serialize it. One instance per filter of a plan and rank, alive for one run. Thread-safe as described.
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
  // `words`: size of the Bloom filter in 64-bit words, the same on all ranks that exchange it. If they do not, it grows with the keys.
  explicit JoinFilter(int64_t words, bool is_exchanged = true) : words_count_(words), is_exchanged_(is_exchanged) {}

  // Builds the local filter from the keys of all build rows of this rank. Only the first call has an effect.
  void publish_local(const std::vector<Column>& keys, const CancelToken& token = {});
  // Publishes that this rank has no filter: it has no build rows (`has_no_rows`), or its build side was not executed.
  void publish_nothing(bool has_no_rows);
  // Waits for either of the above.
  Task<void> local();

  // Once the local filter is published, one of these makes it, or all ranks' filters, valid for every row.
  // For a single rank: its filter is the filter of all rows.
  void use_local();
  // The local filter for other ranks, with or without its set of keys.
  std::string note() const;
  std::string note_of_bounds() const;
  // Merges the notes of all ranks; the set is copied to `device`, where test() uses it.
  void merge(const std::vector<std::string>& notes, at::Device device);
  // For replicated build sides: every rank has all keys, so ranks exchange only the bounds. Scans are planned from the bounds, which must
  // therefore be the same on all ranks, including those whose join was not executed.
  void merge_bounds_only(const std::vector<std::string>& notes);

  // Waits for the merge. Everything below requires it.
  Task<void> wait();
  bool is_empty() const { return is_empty_; }
  // Bounds of a key, as filters on `column` of the given type. If test() checks rows anyway, they only prune row groups.
  std::vector<RangeFilter> bounds(size_t key, const std::string& column, LogicalType type) const;
  // bool [rows]: whether rows with these keys may match. Undefined: all may, or the filter drops too few rows to be worth testing.
  at::Tensor test(const std::vector<Column>& keys);
  // Drops rows that cannot match; the key columns are at `places`.
  Chunk passing(const Chunk& chunk, const std::vector<size_t>& places);

 private:
  struct Bounds {
    int64_t least = 0;
    int64_t greatest = 0;
  };
  struct Keys {
    at::Tensor words;             // undefined: every key may match
    std::optional<int64_t> base;  // value of a bitmap's first bit; nullopt: a Bloom filter
  };
  enum class Published : uint8_t { NoRows, Anything, Keys };  // the first byte of a note
  struct Local {
    Published published = Published::Anything;
    std::vector<std::optional<Bounds>> bounds;  // of each key; empty without keys
    Keys keys;
  };
  void publish(Local local);
  ByteWriter begin_note() const;
  // Reads what begin_note() wrote.
  static Local read_note(ByteReader& reader);
  Keys read_keys(ByteReader& reader, const std::string& note, const std::vector<std::optional<Bounds>>& bounds) const;
  void add_bounds(const std::vector<std::optional<Bounds>>& bounds);
  // Returns the filters whose keys have to be merged.
  std::vector<Keys> merge_bounds(const std::vector<std::string>& notes, bool with_keys);
  Keys unite(std::vector<Keys> parts) const;
  int64_t most_bitmap_words() const;

  const int64_t words_count_;
  const bool is_exchanged_;
  std::mutex mutex_;
  std::optional<Local> local_;    // set once, under mutex_
  Channel<int> is_published_{0};  // closed once local_ is set
  Channel<int> is_merged_{0};     // closed once the members below are set

  Keys keys_;
  std::vector<std::optional<Bounds>> bounds_;
  bool is_empty_ = false;  // no rank has build rows
  // Rows tested and passed so far: a filter that passes nearly all rows is switched off.
  std::atomic<int64_t> tested_ = 0;
  std::atomic<int64_t> passed_ = 0;
};

using JoinFilters = std::map<size_t, std::unique_ptr<JoinFilter>>;

}  // namespace pistachio
