// The tables in which the lanes of a rank merge partial results of equal groups on their way to another host (combine_operator.h). They are
// bounded: what they cannot keep leaves them unmerged or partly merged. Lanes share them; a row's table is chosen by the hash of its key, so
// that equal keys meet whichever lane brings them.
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
  size_t columns = 0;  // of a chunk
  std::vector<size_t> keys;
  std::vector<LogicalType> key_types;
  std::vector<AggregateCall> calls;         // each has a state of its own
  std::vector<std::vector<size_t>> states;  // of each call
};

struct CombineLimits {
  int lanes = 1;
  int64_t bytes = 0;  // of all tables together
  at::Device device = at::kCPU;
};

class CombineTables {
 public:
  virtual ~CombineTables() = default;

  // Merges the rows into the tables; returns those that leave them. Any number of lanes. UserError: a sum overflows.
  virtual std::vector<Chunk> add(const Chunk& chunk, const CancelToken& token) = 0;
  // Empties the tables.
  std::vector<Chunk> flush() { return take_idle(SteadyTime::max()); }
  // Empties the tables that got no rows since then, while lanes may add some.
  std::vector<Chunk> flush_idle(SteadyTime since);
  virtual int64_t bytes() const = 0;

  int64_t added() const { return added_; }
  int64_t merged() const { return merged_; }
  int64_t evicted() const { return evicted_; }
  // Rows in the tables, about.
  int64_t held() const { return added_ - merged_ - evicted_; }

 protected:
  virtual std::vector<Chunk> take_idle(SteadyTime since) = 0;

  // Rows so far: that came, that were merged into others, that left before flush().
  std::atomic<int64_t> added_ = 0;
  std::atomic<int64_t> merged_ = 0;
  std::atomic<int64_t> evicted_ = 0;
};

// `columns` must outlive the tables. Rows of words in direct-mapped tables where keys and states have such a form and are in host memory;
// else tables of groups.
std::unique_ptr<CombineTables> make_combine_tables(const CombinedColumns& columns, const CombineLimits& limits,
                                                   const MemoryAccount& account);

std::unique_ptr<CombineTables> make_group_combine_tables(const CombinedColumns& columns, const CombineLimits& limits,
                                                         const MemoryAccount& account);
// Null: keys or states have no form of words.
std::unique_ptr<CombineTables> make_word_combine_tables(const CombinedColumns& columns, const CombineLimits& limits,
                                                        const MemoryAccount& account);

// Two to this power is the number of tables: enough that lanes seldom want the same one.
int64_t combine_table_bits(int lanes);

}  // namespace pistachio
