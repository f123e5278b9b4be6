// One unit of a scan on its way through: fetched (page indexes, filter columns, filters evaluated, the other columns' pages that still
// have rows), then decoded strip by strip into chunks. One task at a time uses it. Memory: covered by the reservation it owns, which
// the chunks share: it is given back when the last chunk is gone.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/task.h"
#include "data/chunk.h"
#include "memory/reservation.h"
#include "storage/column_reader.h"
#include "storage/row_ranges.h"
#include "storage/scan_plan.h"
#include "storage/scan_statistics.h"

namespace pistachio {

// What a unit brings to where many units are decoded together: rows in pages that were not pruned, filters not looked at yet.
struct UnitPages {
  struct UnitColumn {
    size_t column = 0;  // of the table
    // One of the two: pages, or what the host has decoded.
    std::optional<ColumnPages> pages;
    std::optional<Column> decoded;
  };
  int64_t rows = 0;
  std::vector<UnitColumn> columns;  // of filters and output, each once
  std::shared_ptr<const Reservation> memory;
};

// Where the pages of a scan become columns.
enum class DecodePlace { Host, Device };

class UnitReader {
 public:
  // `memory` is for the whole unit; fetch() gives back what the pages turn out not to need.
  UnitReader(StorageContext& storage, const ScanPlan& plan, const ScanUnit& unit, Reservation memory, ScanCounters& counters,
             DecodePlace place = DecodePlace::Host);

  // Reads what the unit needs and, if it is decoded on the host, evaluates the filters. Throws DataError.
  Task<void> fetch();
  // The next chunk, after fetch(); nothing at the end. Throws DataError.
  std::optional<Chunk> next();

  // Decoding on a device: the whole unit, instead of next(), its pages in `staging`. Nothing if it has no rows. Throws DataError.
  std::optional<UnitPages> take_pages(StagingArea& staging);

  std::shared_ptr<const Reservation> memory() const { return memory_; }

 private:
  // A part of the unit's rows that becomes one chunk, or with filters and very short chunks a few of them.
  struct Strip {
    int64_t begin = 0;
    int64_t rows = 0;
    int64_t selected = 0;
    at::Tensor candidates;             // rows in pages that were not pruned, the only ones that were read; undefined: all
    at::Tensor mask;                   // the selected rows, all of them candidates; undefined: all rows
    std::map<size_t, Column> decoded;  // filter columns, by table column, selected rows only
  };

  Task<void> read_and_filter();
  Task<void> reload_metadata();
  Task<bool> bloom_filters_may_match();
  Task<RowRanges> prune_pages();
  Task<void> load_columns(std::vector<size_t> columns, const RowRanges& wanted);
  Task<PageDirectory> page_directory(int leaf);
  Task<PageDirectory> walk_file_pages(int leaf);
  std::vector<size_t> filter_columns() const;
  std::vector<size_t> other_columns() const;
  int64_t strip_rows() const;
  Strip cut_strip(const RowRanges& candidates);
  Strip take_filtered_strip();
  void evaluate_filters(Strip& strip);
  RowRanges selected_ranges() const;
  Column partition_column(size_t column, int64_t rows) const;
  Column read_output_column(size_t column, Strip& strip);
  bool is_at_end() const;
  void count_needs(size_t column, const PageDirectory& directory, const RowRanges& wanted);
  void give_back_memory();
  void finish();
  // Which file and column there is too little memory for; without a column, for the columns read together.
  [[noreturn]] void rethrow_with_place(const OutOfMemory& error, std::optional<size_t> column) const;

  const TableFile& file() const { return plan_.table->files[unit_.file]; }
  const RowGroupInfo& group() const { return file().footer().row_groups[static_cast<size_t>(unit_.row_group)]; }
  DataLocation where(int leaf) const;

  StorageContext& storage_;
  const ScanPlan& plan_;
  const ScanUnit unit_;
  std::shared_ptr<Reservation> memory_;  // changed by fetch() only, before anybody shares it
  ScanCounters& counters_;
  const DecodePlace place_;
  RowRanges candidates_;  // rows in pages that were not pruned
  std::map<size_t, std::unique_ptr<ColumnReader>> readers_;  // by table column
  // With filters: the strips that have rows left, all cut and looked at by fetch(). Without: cut one by one, since a file can claim
  // more rows than there is memory for their strips.
  std::vector<Strip> strips_;
  size_t next_strip_ = 0;
  double needed_bytes_ = 0;  // by the pages loaded so far: their bytes, and decoding them
  int64_t next_row_;         // where the next strip is cut
  bool finished_ = false;
};

}  // namespace pistachio
