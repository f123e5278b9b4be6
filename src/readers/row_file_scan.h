// Scans CSV, JSON and Arrow files. One task reads the files in order, decompresses and cuts them into blocks of whole records; lanes parse
// and convert blocks concurrently, in no order. Over several ranks every rank cuts all large files, since only that tells where records
// begin, and parses its share of the blocks; small and compressed files go to one rank as a whole. Memory: a block reserves its text,
// fields and columns before it is read; its chunks share the reservation. A few blocks are in flight.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/task.h"
#include "data/chunk.h"
#include "memory/channel.h"
#include "readers/bad_records.h"
#include "readers/row_file_table.h"
#include "storage/scan_statistics.h"
#include "storage/storage_context.h"

namespace arrow {
class RecordBatch;
}

namespace pistachio {

class TaskGroup;

// The part of a table that one rank reads.
struct RowFileShare {
  int64_t rank = 0;
  int64_t ranks = 1;
};

// Whole records of a file: text, or a record batch.
struct RecordBlock {
  const RowFile* file = nullptr;
  int64_t first_line = 1;
  at::Tensor bytes;
  std::shared_ptr<const arrow::RecordBatch> batch = nullptr;
  std::shared_ptr<const Reservation> memory;
};

class RowFileScan {
 public:
  // `columns`: of the table, in the order of the chunks. References must outlive the scan. `need`: priority of its reads.
  RowFileScan(StorageContext& storage, const RowFileTable& table, std::vector<size_t> columns, RowFileShare share, int64_t need,
              ScanCounters& counters);

  // Passes all chunks, each of at least one row, to `consume`, on several lanes concurrently. The first error stops all.
  Task<void> run(int lanes, std::function<Task<void>(int lane, Chunk chunk)> consume);

  // Reads no more; lanes end soon. Any lane may call it.
  void stop() { stopped_ = true; }
  // Bad records that were skipped.
  int64_t skipped_records() const { return policy_.skipped; }

 private:
  Task<void> read_files();
  Task<void> read_file(size_t number);
  Task<void> read_arrow_file(size_t number);
  // The fields that the columns need, ascending; one if they need none.
  std::vector<int> arrow_fields(const RowFile& file) const;
  Chunk batch_columns(const RecordBlock& block) const;
  Task<void> decode_batch(int lane, const RecordBlock& block, const std::function<Task<void>(int lane, Chunk chunk)>& consume);
  Task<void> decode_blocks(int lane, const std::function<Task<void>(int lane, Chunk chunk)>& consume);
  bool is_own_file(size_t number) const;
  bool is_dealt_by_blocks(const RowFile& file) const;
  int64_t block_memory() const;

  StorageContext& storage_;
  const RowFileTable& table_;
  const std::vector<size_t> columns_;
  const RowFileShare share_;
  const int64_t need_;
  ScanCounters& counters_;
  int64_t block_bytes_;
  int64_t table_rows_;  // of a field table
  BadRecordPolicy policy_;
  std::atomic<bool> stopped_ = false;
  std::unique_ptr<Channel<RecordBlock>> blocks_;
};

}  // namespace pistachio
