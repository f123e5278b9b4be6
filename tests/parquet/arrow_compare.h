// The judge of the Parquet reader: what Arrow's own reader gives for a file, turned into the engine's types, compared with the
// engine's columns. Slow and plain on purpose; shares no decoding code with the engine.
#pragma once

#include <arrow/buffer.h>
#include <arrow/type_fwd.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/column.h"

namespace pistachio::test {

// The values that a column must have: one entry a row.
class ExpectedColumn {
 public:
  // Throws std::runtime_error when Arrow's type is none that `type` can come from.
  ExpectedColumn(const arrow::ChunkedArray& values, LogicalType type);

  LogicalType type() const { return type_; }
  int64_t rows() const { return static_cast<int64_t>(valid_.size()); }
  bool is_null(int64_t row) const { return !valid_[static_cast<size_t>(row)]; }
  // The values as the engine holds them: integers, decimals by their scaled value, dates and times; wide ones with both words.
  // Floating values as their bits (of float for REAL, of double for DOUBLE).
  __int128 number(int64_t row) const { return numbers_[static_cast<size_t>(row)]; }
  double floating(int64_t row) const;
  const std::string& text(int64_t row) const { return texts_[static_cast<size_t>(row)]; }

  // Compares rows [first_row, first_row + column.rows()) with `column`; says where and how they differ first, or nothing.
  std::optional<std::string> first_difference(const Column& column, int64_t first_row) const;
  // The same for chosen rows: row i of `column` must be row rows[i] here. For filtered scans.
  std::optional<std::string> first_difference(const Column& column, const std::vector<int64_t>& rows) const;

 private:
  std::string show(int64_t row) const;
  void append(const arrow::Array& values);
  void append_value(const arrow::Array& values, int64_t row);

  LogicalType type_;
  std::vector<uint8_t> valid_;
  std::vector<__int128> numbers_;
  std::vector<std::string> texts_;
};

// Reads a file with Arrow's reader (INT96 in microseconds, so that it never overflows). Throws std::runtime_error.
std::shared_ptr<arrow::Table> read_with_arrow(const std::shared_ptr<arrow::Buffer>& file);

// A leaf of a struct column as a flat column, NULL where any struct above it is; `path` is `a.b.c`.
std::shared_ptr<arrow::ChunkedArray> flat_leaf(const arrow::Table& table, const std::string& path);

}  // namespace pistachio::test
