// One unit of a scan. fetch() reads page indexes and filter columns, evaluates the filters and tests and reads the pages of the other columns that
// still have rows; next() then decodes strip by strip into chunks. With a threshold, complete() reads the other columns, when the unit's turn has
// come: by then few rows still pass, often none. Used by one task at a time. Memory: covered by the reservation it owns
// and shares with its chunks; released with the last chunk.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/task.h"
#include "data/chunk.h"
#include "memory/reservation.h"
#include "storage/column_filter.h"
#include "storage/column_reader.h"
#include "storage/row_ranges.h"
#include "storage/scan_plan.h"
#include "storage/scan_statistics.h"

namespace pistachio {

// A unit for batched decoding: its rows in pages that were not pruned. Filters are not evaluated yet.
struct UnitPages {
  struct UnitColumn {
    size_t column = 0;  // index in the table
    // Exactly one is set: encoded pages, or a column that the host decoded.
    std::optional<ColumnPages> pages;
    std::optional<Column> decoded;
  };
  int64_t rows = 0;
  std::vector<UnitColumn> columns;  // filter and output columns, each once
  std::shared_ptr<const Reservation> memory;
};

class UnitReader {
 public:
  // `memory` covers the whole unit; fetch() returns what the pages turn out not to need. With `staging`, the pages are decoded on a device
  // and read into it.
  UnitReader(StorageContext& storage, const ScanPlan& plan, const ScanUnit& unit, Reservation memory, ScanCounters& counters,
             StagingArea* staging = nullptr);

  // Reads the unit's pages and, for decoding on the host, evaluates the filters. Throws DataError.
  Task<void> fetch();
  // After fetch(), once before next(): with a threshold, reads the other columns of the rows that pass now. Throws DataError.
  Task<void> complete();
  // The next chunk, after complete(); nullopt at the end. Throws DataError.
  std::optional<Chunk> next();

  // For decoding on a device, instead of next(): the whole unit. Nullopt if it has no rows. Throws DataError.
  std::optional<UnitPages> take_pages();

  std::shared_ptr<const Reservation> memory() const { return memory_; }

 private:
  // Rows of the unit that become one chunk, or several if there are filters and chunk_rows is very small.
  struct Strip {
    int64_t begin = 0;
    int64_t rows = 0;
    int64_t selected = 0;
    at::Tensor candidates;             // rows in pages that were not pruned; no others are read; undefined: all
    at::Tensor mask;                   // selected rows, a subset of the candidates; undefined: all rows
    std::map<size_t, Column> decoded;  // filter columns by table column, selected rows only
  };

  Task<void> read_and_filter();
  Task<void> reload_metadata();
  Task<bool> bloom_filters_may_match();
  Task<RowRanges> prune_pages();
  using PageTest = std::function<bool(const PageRange&)>;
  Task<RowRanges> passing_pages(size_t column, const PageTest& passes);
  Task<void> load_columns(std::vector<size_t> columns, const RowRanges& wanted);
  bool may_be_mapped(const std::vector<size_t>& columns) const;
  Task<at::Tensor> map_columns(const std::vector<size_t>& columns);
  Task<PageDirectory> page_directory(int leaf);
  Task<PageDirectory> walk_file_pages(int leaf);
  std::vector<size_t> filter_columns() const;
  std::vector<size_t> other_columns() const;
  int64_t strip_rows() const;
  Strip cut_strip(const RowRanges& candidates);
  Strip take_filtered_strip();
  void evaluate_filters(Strip& strip);
  std::shared_ptr<const ScanThreshold> threshold() const;
  bool row_group_may_pass_threshold() const;
  void apply_threshold(Strip& strip);
  void drop_strips_below_threshold();
  const Column& decoded_rows(Strip& strip, size_t column);
  void keep_rows(Strip& strip, const at::Tensor& mask);
  RowRanges selected_ranges() const;
  Column partition_column(size_t column, int64_t rows) const;
  Column read_output_column(size_t column, Strip& strip);
  bool is_at_end() const;
  void count_needs(size_t column, const PageDirectory& directory, const RowRanges& wanted);
  void give_back_memory();
  void finish();
  // Adds the file and the column to the error; without a column, the memory was for columns that are read together.
  [[noreturn]] void rethrow_with_place(const OutOfMemory& error, std::optional<size_t> column) const;

  const TableFile& file() const { return plan_.table->files[unit_.file]; }
  const RowGroupInfo& group() const { return file().footer().row_groups[static_cast<size_t>(unit_.row_group)]; }
  DataLocation where(int leaf) const;

  StorageContext& storage_;
  const ScanPlan& plan_;
  const ScanUnit unit_;
  std::shared_ptr<Reservation> memory_;  // only fetch() changes it, before it is shared
  ScanCounters& counters_;
  StagingArea* const staging_;  // null: decoded on the host
  RowRanges candidates_;  // rows in pages that were not pruned
  std::map<size_t, std::unique_ptr<ColumnReader>> readers_;  // by table column
  // With filters: the strips with selected rows, cut and filtered by fetch(). Without: cut on demand, since a damaged file may claim more
  // rows than there is memory for strips.
  std::vector<Strip> strips_;
  size_t next_strip_ = 0;
  std::vector<EntryOutcome> entry_outcomes_;  // one per filter of the plan
  std::vector<size_t> deferred_;  // columns that complete() reads
  double needed_bytes_ = 0;  // by the pages loaded so far: their bytes and decoding them
  int64_t next_row_;         // first row of the next strip
  bool finished_ = false;
};

}  // namespace pistachio
