#include "optimizer/footer_facts.h"

namespace pistachio {

namespace {

bool has_all_footers(const Table& table) {
  return table.has_footers() && !table.has_unopened_files();
}

// Calls `take(column, chunk)` for the column in each row group with rows, until it returns false. False: it did, or a file lacks the column.
template <typename Take>
bool for_each_chunk(const Table& table, size_t column, const Take& take) {
  for (const TableFile& file : table.files().files) {
    const int leaf = file.leaf_of_column[column];
    if (leaf < 0) return false;
    for (const RowGroupInfo& group : file.footer().row_groups) {
      if (group.rows > 0 && !take(file.footer().columns[static_cast<size_t>(leaf)], group.columns[static_cast<size_t>(leaf)])) return false;
    }
  }
  return true;
}

std::optional<int64_t> nulls_of(const ParquetColumn& column, const ColumnChunkInfo& chunk) {
  if (column.max_definition == 0) return 0;
  return chunk.nulls;
}

}  // namespace

std::optional<FooterBounds> exact_bounds(const Table& table, size_t column) {
  const LogicalType type = table.columns()[column].type;
  if (!has_all_footers(table) || type.is_floating() || type.kind() == TypeKind::Interval) return std::nullopt;
  FooterBounds bounds;
  const bool is_known = for_each_chunk(table, column, [&](const ParquetColumn& stored, const ColumnChunkInfo& chunk) {
    if (!stored.is_supported() || !(stored.type == type)) return false;
    if (nulls_of(stored, chunk) == chunk.values) return true;
    if (!chunk.minimum || !chunk.maximum || !chunk.exact_bounds) return false;
    if (!bounds.least || compare(*chunk.minimum, *bounds.least) < 0) bounds.least = chunk.minimum;
    if (!bounds.greatest || compare(*chunk.maximum, *bounds.greatest) > 0) bounds.greatest = chunk.maximum;
    return true;
  });
  return is_known ? std::optional(std::move(bounds)) : std::nullopt;
}

std::optional<int64_t> exact_value_count(const Table& table, size_t column) {
  if (!has_all_footers(table)) return std::nullopt;
  int64_t count = 0;
  const bool is_known = for_each_chunk(table, column, [&](const ParquetColumn& stored, const ColumnChunkInfo& chunk) {
    const std::optional<int64_t> nulls = nulls_of(stored, chunk);
    if (!stored.is_supported() || stored.only_nulls || !nulls) return false;
    count += chunk.values - *nulls;
    return true;
  });
  return is_known ? std::optional(count) : std::nullopt;
}

}  // namespace pistachio
