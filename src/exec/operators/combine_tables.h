// The tables in which the lanes of a rank merge partial results of equal groups in transit (combine_operator.h). They are bounded and evict
// rows, merged or not, when full. All lanes share them; the hash of the key selects a row's table, so equal keys meet whichever lane adds
// them.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/cancel_token.h"
#include "data/chunk.h"
#include "memory/memory_account.h"
#include "physical/aggregate_stages.h"

namespace pistachio {

// The columns of partial results, by their places in a chunk.
struct CombinedColumns {
  size_t columns = 0;  // number of columns of a chunk
  std::vector<size_t> keys;
  std::vector<LogicalType> key_types;
  std::vector<AggregateCall> calls;         // calls with a state of their own
  std::vector<std::vector<size_t>> states;  // state columns of each call
};

struct CombineLimits {
  int lanes = 1;
  int64_t bytes = 0;  // of all tables together
  at::Device device = at::kCPU;
  // Ranks whose rows are added, if each of them sends its rows in hash order. Rows that none of them can have any more leave the tables
  // early, so that they are sent while later ones are merged.
  std::vector<int> sources = {};
};

class CombineTables {
 public:
  virtual ~CombineTables() = default;

  static constexpr int kAnyLane = -1;

  // The rows that this lane adds next are from the message of this number (0, 1, ...) of this source.
  virtual void begin_message(int /*lane*/, int /*source*/, int64_t /*number*/) {}
  // Merges the rows into the tables; returns the rows that leave these. Called by any lane. Throws UserError if a sum overflows.
  virtual std::vector<Chunk> add(const Chunk& chunk, const CancelToken& token, int lane = kAnyLane) = 0;
  // The tables are emptied in parts; other lanes may empty other parts or add rows meanwhile.
  virtual int64_t parts() const = 0;
  // Empties one part if it got no rows since the given time.
  std::vector<Chunk> flush_part(int64_t part, SteadyTime since);
  // Empties all parts that got no rows since the given time.
  std::vector<Chunk> flush_idle(SteadyTime since);
  std::vector<Chunk> flush() { return flush_idle(SteadyTime::max()); }
  virtual int64_t bytes() const = 0;

  int64_t added() const { return added_; }
  int64_t merged() const { return merged_; }
  int64_t evicted() const { return evicted_; }
  // Approximate number of rows in the tables.
  int64_t held() const { return added_ - merged_ - evicted_; }

 protected:
  virtual std::vector<Chunk> take_part(int64_t part, SteadyTime since) = 0;

  // Rows so far: added, merged into others, evicted before flush().
  std::atomic<int64_t> added_ = 0;
  std::atomic<int64_t> merged_ = 0;
  std::atomic<int64_t> evicted_ = 0;
};

// `columns` must outlive the tables. Uses direct-mapped tables of words if keys and states can be encoded as words and are in host memory,
// else group tables.
std::unique_ptr<CombineTables> make_combine_tables(const CombinedColumns& columns, const CombineLimits& limits,
                                                   const MemoryAccount& account);

std::unique_ptr<CombineTables> make_group_combine_tables(const CombinedColumns& columns, const CombineLimits& limits,
                                                         const MemoryAccount& account);
// Null if keys or states cannot be encoded as words.
std::unique_ptr<CombineTables> make_word_combine_tables(const CombinedColumns& columns, const CombineLimits& limits,
                                                        const MemoryAccount& account);

// Log2 of the number of tables: enough that lanes rarely contend for the same one.
int64_t combine_table_bits(int lanes);

}  // namespace pistachio
