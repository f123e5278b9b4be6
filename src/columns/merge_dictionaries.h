// Columns that are coded against different dictionaries (those of several row groups), coded against one that has the values of all: codes
// are smaller than what they stand for, and one dictionary travels to another rank once.
// A merger belongs to one column of an exchange and remembers what it has merged: dictionaries of later row groups mostly have the same
// values, so that the merged one soon stays the same. Thread-safe; a dictionary that is new is merged under a lock.
// Memory: the values of the merged dictionary three times, with a table of them, and the new codes of the dictionaries that are still
// alive; a few MiB at most.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "data/chunk.h"

namespace pistachio {

class DictionaryMerger {
 public:
  // Of the merged dictionary; when there are more, pieces stay as they are from then on.
  static constexpr int64_t kMostEntries = 1 << 16;
  static constexpr int64_t kMostBytes = 1 << 20;

  // The pieces, of one type. All are coded against the same dictionary afterwards if all of them are coded, are in host memory and have
  // values that are larger than codes, of which there are not too many; else they are as they were. Begins to merge when it first sees two
  // dictionaries in one call.
  std::vector<Column> merge(std::vector<Column> pieces);

 private:
  struct Merged {
    std::weak_ptr<const Column> source;  // an address may be used again when this is gone
    at::Tensor codes;                    // int32 [entries of the source]: in the merged dictionary
  };

  // All under mutex_.
  bool is_mergeable(const std::vector<Column>& pieces) const;
  bool add(const std::shared_ptr<const Column>& source);
  bool find_places(const Column& source, int32_t* places);
  void give_up();
  std::shared_ptr<const Column> made_dictionary(LogicalType type) const;

  std::mutex mutex_;
  // Guarded by mutex_.
  std::map<const Column*, Merged> merged_;
  std::unordered_map<std::string, int32_t> places_;  // by the bytes of the value
  std::string values_;                               // end to end, in the order of their places
  std::vector<int64_t> ends_;                        // in values_
  std::shared_ptr<const Column> dictionary_;         // of all values so far
  bool gave_up_ = false;
};

// The mergers of all columns of a chunk. Thread-safe.
class ChunkDictionaryMerger {
 public:
  explicit ChunkDictionaryMerger(size_t columns) : columns_(columns) {}
  // Chunks with so many columns.
  std::vector<Chunk> merge(const std::vector<Chunk>& pieces);

 private:
  std::vector<DictionaryMerger> columns_;
};

}  // namespace pistachio
