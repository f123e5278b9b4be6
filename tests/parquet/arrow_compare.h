// The reference of the Parquet reader: the result of Arrow's own reader, converted to the engine's types and compared with the engine's
// columns. Deliberately slow and simple; shares no decoding code with the engine.
#pragma once

#include <arrow/buffer.h>
#include <arrow/type_fwd.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/column.h"

namespace pistachio::test {

// The expected values of a column: one entry per row.
class ExpectedColumn {
 public:
  // Throws std::runtime_error if `type` cannot result from Arrow's type.
  ExpectedColumn(const arrow::ChunkedArray& values, LogicalType type);

  LogicalType type() const { return type_; }
  int64_t rows() const { return static_cast<int64_t>(valid_.size()); }
  bool is_null(int64_t row) const { return !valid_[static_cast<size_t>(row)]; }
  // Values as the engine represents them: integers, decimals by their scaled value, dates and times; wide ones with both words.
  // Floating-point values as their bits (of float for REAL, of double for DOUBLE).
  __int128 number(int64_t row) const { return numbers_[static_cast<size_t>(row)]; }
  double floating(int64_t row) const;
  const std::string& text(int64_t row) const { return texts_[static_cast<size_t>(row)]; }

  // Compares rows [first_row, first_row + column.rows()) with `column`; describes the first difference, or nullopt.
  std::optional<std::string> first_difference(const Column& column, int64_t first_row) const;
  // The same for selected rows: row i of `column` must be row rows[i] here. For filtered scans.
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
