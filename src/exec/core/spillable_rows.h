// Rows that an operator retains: in memory as long as they fit, else on disk, in a form that the operator chooses. Lanes add rows;
// meanwhile any task of the query may cause them to be spilled (spill/query_spill.h).
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "exec/core/held_chunks.h"
#include "exec/core/operator.h"
#include "spill/query_spill.h"

namespace pistachio {

class SpillableRows : public SpillableStore {
 public:
  SpillableRows(RunContext& context, MemoryAccount account, std::vector<LogicalType> types, OperatorMetrics& metrics);

  // Copies the rows. Throws OutOfMemory if there is no room even after everything that can be spilled was.
  Task<void> add(Chunk chunk);

  int64_t spillable_bytes() const override { return is_closed_ ? 0 : reserved_bytes_.load(); }
  Task<void> spill() override;

  // Ends the input. If some rows were spilled, the rest are spilled too; otherwise none will be any more.
  Task<void> close();
  // The same, but spills all rows even if they fit into memory.
  Task<void> close_on_disk();
  bool has_spilled() const { return has_spilled_; }
  // Of the rows in memory.
  int64_t bytes() const { return held_bytes_; }
  int64_t rows() const { return held_rows_; }

  const MemoryAccount& account() const { return account_; }

  // After close(), if nothing was spilled: all rows as one chunk, with its reservations. Leaves the store empty and frees what was reserved
  // to finish. Nullopt if there is no memory for that; the rows are still in the store then, and can be spilled.
  struct Rows {
    Chunk chunk;
    std::vector<Reservation> memory;
  };
  Task<std::optional<Rows>> take_all();
  // For rows that fit, but left too little memory to work on them: spills those in the store, or those that take_all() returned, as if
  // there had been no room before.
  Task<void> spill_unconditionally(Rows rows = {});

 protected:
  // The same, in the pieces that were added.
  struct Pieces {
    std::vector<Chunk> chunks;
    std::vector<Reservation> memory;
  };
  Pieces take_pieces();

  // Additional bytes needed to process this many retained rows in memory. They are reserved together with the rows, so that rows are
  // spilled in time.
  virtual int64_t bytes_to_finish(int64_t bytes, int64_t rows) const = 0;
  // Writes rows to disk, about bytes_per_write() at a time; one call at a time, by a task that has the turn to spill. Returns the bytes
  // written. Divides the rows if memory is short.
  virtual Task<int64_t> write(Chunk rows) = 0;
  virtual int64_t bytes_per_write() const { return context_.spill.batch_bytes(); }

  // If more than `most` rows are in memory, keeps only those that `choose` returns (int64), which are fewer. Any lane, while rows are
  // added.
  Task<void> reduce(int64_t most, std::function<at::Tensor(const Chunk& rows)> choose);

  const std::vector<LogicalType>& types() const { return types_; }

  RunContext& context_;

 private:
  struct Held {
    Chunk rows;
    Reservation memory;
    int64_t bytes = 0;
  };
  Task<void> add_part(Chunk rows);
  std::vector<Held> take_held();
  std::vector<Held> take_held_locked();
  Task<void> write_all(std::vector<Held> held);
  Task<void> write_in_steps(Chunk rows, int64_t most);
  void release_finish_reserve();
  Task<Chunk> take_on_lanes();
  Task<Chunk> concatenate_held();

  const MemoryAccount account_;
  const std::vector<LogicalType> types_;
  OperatorMetrics& metrics_;
  std::atomic<int64_t> held_bytes_ = 0;      // of rows
  std::atomic<int64_t> held_rows_ = 0;
  std::atomic<int64_t> reserved_bytes_ = 0;  // including what is reserved to finish
  std::atomic<bool> has_spilled_ = false;
  std::atomic<bool> is_closed_ = false;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<Held> held_;
  CountedDictionaries dictionaries_;
};

// A sink that retains rows.
class RetainingSink final : public ChunkSink {
 public:
  explicit RetainingSink(SpillableRows& rows) : rows_(rows) {}
  Task<void> consume(int, Chunk chunk) override { return rows_.add(std::move(chunk)); }

 private:
  SpillableRows& rows_;
};

}  // namespace pistachio
