// Recodes columns with different dictionaries (of several row groups) to one merged dictionary: codes are smaller than values, and one
// dictionary is sent to another rank only once.
// A merger belongs to one column of an exchange and remembers what it has merged: dictionaries of later row groups mostly have the same
// values, so that the merged one soon stops growing. Thread-safe; new dictionaries are merged under a lock.
// Memory: three copies of the merged dictionary's values, a hash table of them, and the code mappings of dictionaries that are still
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
  // Limits of the merged dictionary; beyond them, merging stops for good and pieces are returned unchanged.
  static constexpr int64_t kMaxEntries = 1 << 16;
  static constexpr int64_t kMaxBytes = 1 << 20;

  // Recodes the pieces, which have one type, to the merged dictionary if all are dictionary-coded, in host memory, with values larger than
  // codes and within the limits; else returns them unchanged. Starts merging when it first sees two dictionaries in one call.
  std::vector<Column> merge(std::vector<Column> pieces);

 private:
  struct Merged {
    std::weak_ptr<const Column> source;  // detects an address that was reused
    at::Tensor codes;                    // int32 [entries of the source]: codes in the merged dictionary
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
  std::string values_;                               // concatenated, in code order
  std::vector<int64_t> ends_;                        // in values_
  std::shared_ptr<const Column> dictionary_;         // of all values so far
  bool gave_up_ = false;
};

// The mergers of all columns of a chunk. Thread-safe.
class ChunkDictionaryMerger {
 public:
  explicit ChunkDictionaryMerger(size_t columns) : columns_(columns) {}
  // Chunks must have that many columns.
  std::vector<Chunk> merge(const std::vector<Chunk>& pieces);

 private:
  std::vector<DictionaryMerger> columns_;
};

}  // namespace pistachio
