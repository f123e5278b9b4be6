// A table as plans see it: named columns, and rows in Parquet files opened by storage, in files of rows (CSV, JSON) or in memory.
// Immutable; shared by the plans that read it, so that a replaced table stays alive while a query uses it.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/chunk.h"
#include "memory/reservation.h"
#include "readers/row_file_table.h"
#include "storage/parquet_table.h"

namespace pistachio {

struct TableColumnInfo {
  std::string name;
  LogicalType type;
  std::string unsupported;  // why it cannot be read; else empty
  bool not_null = false;    // INSERT must reject NULLs
};

// Files opened later have other columns than those that the query was bound to: it must be bound again, with all files of the table open.
struct SchemaMismatch : std::exception {
  explicit SchemaMismatch(std::vector<std::string> of) : patterns(std::move(of)) {}
  std::vector<std::string> patterns;  // of the table
};

class Table {
 public:
  // Opens files at these places of a listing.
  using FileOpener = std::function<ParquetTable(std::vector<size_t> places)>;

  static std::shared_ptr<const Table> of_files(std::string name, ParquetTable files);
  // A table with many partitions. Only its first file is open until the optimizer knows which ones a query needs.
  static std::shared_ptr<const Table> of_partitions(std::string name, ParquetTable first, FileOpener open);
  static std::shared_ptr<const Table> of_row_files(std::string name, RowFileTable files);
  static std::shared_ptr<const Table> of_chunks(std::string name, std::vector<TableColumnInfo> columns, std::vector<Chunk> chunks,
                                                std::vector<std::shared_ptr<const Reservation>> memory);

  const std::string& name() const { return name_; }
  const std::vector<TableColumnInfo>& columns() const { return columns_; }
  int64_t rows() const { return rows_; }  // of row files: an estimate

  bool is_in_memory() const { return !files_ && row_files_ == nullptr; }
  // Whether there are footers: storage can prune and filter, and counts are known.
  bool has_footers() const { return files_.has_value(); }
  const ParquetTable& files() const { return *files_; }
  // Null for tables of other kinds.
  const std::shared_ptr<const RowFileTable>& row_files() const { return row_files_; }
  // Made by of_partitions: all files are to be found in the listing of `files()`.
  bool has_unopened_files() const { return open_ != nullptr; }
  // The table with the files at these places open, and the first one, which has the schema. Throws SchemaMismatch.
  std::shared_ptr<const Table> open_partitions(std::vector<size_t> places) const;
  // Estimated number of distinct values of a text column in files; nullopt if unknown, and for other columns.
  std::optional<double> distinct_texts(size_t column) const { return distinct_texts_.empty() ? std::nullopt : distinct_texts_[column]; }
  const std::vector<Chunk>& chunks() const { return chunks_; }
  // The reservations of the chunks.
  const std::vector<std::shared_ptr<const Reservation>>& memory() const { return memory_; }

 private:
  std::string name_;
  std::vector<TableColumnInfo> columns_;
  int64_t rows_ = 0;
  std::optional<ParquetTable> files_;
  FileOpener open_;
  std::shared_ptr<const RowFileTable> row_files_;
  std::vector<std::optional<double>> distinct_texts_;
  std::vector<Chunk> chunks_;
  std::vector<std::shared_ptr<const Reservation>> memory_;
};

using TablePtr = std::shared_ptr<const Table>;

}  // namespace pistachio
