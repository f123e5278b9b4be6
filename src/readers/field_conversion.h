// Fields of records to columns of their types. Values that are not of the column's type make their record bad. One task at a time.
// Memory: the columns, within the block's reservation.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/chunk.h"
#include "data/column.h"
#include "readers/bad_records.h"
#include "readers/field_table.h"
#include "readers/text_dialect.h"

namespace pistachio {

enum class FieldEscapes { Csv, Json };

// The records of a table that turned out to be bad, for queries that skip them.
class BadRows {
 public:
  BadRows(BadRecordPolicy& policy, const BlockPlace& place, std::string_view text, const FieldTable& table)
      : policy_(policy), place_(place), text_(text), table_(table) {}

  void report(int64_t row, std::string_view column, const std::string& problem);
  // Drops the bad rows.
  Chunk without_bad(Chunk chunk) const;

 private:
  BadRecordPolicy& policy_;
  const BlockPlace& place_;
  const std::string_view text_;
  const FieldTable& table_;
  std::vector<bool> marks_;  // empty: no row is bad
};

struct FieldSource {
  const TextDialect& dialect;
  FieldEscapes escapes = FieldEscapes::Csv;
  std::string_view text;  // the block
  bool is_ascii = false;  // all of it
  const FieldTable& table;
};

Column convert_fields(const FieldSource& source, size_t slot, const std::string& name, LogicalType type, BadRows& bad);

}  // namespace pistachio
