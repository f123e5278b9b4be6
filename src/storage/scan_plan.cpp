#include "storage/scan_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "storage/page_decompressor.h"

namespace pistachio {

namespace {

size_t find_readable_column(const ParquetTable& table, std::string_view name) {
  const TableColumn& column = table.column(name);
  if (!column.unsupported.empty()) throw UserError(fmt::format("column {} cannot be read: {}", column.name, column.unsupported));
  return static_cast<size_t>(&column - table.columns.data());
}

// Every file must be able to give the column: one file's odd variant is told by file name.
void check_files(const ParquetTable& table, size_t column) {
  for (const TableFile& file : table.files) {
    int leaf = file.leaf_of_column[column];
    if (leaf < 0) continue;
    const ParquetColumn& own = file.footer().columns[static_cast<size_t>(leaf)];
    if (!own.is_supported())
      throw UserError(fmt::format("column {} of {} cannot be read: {}", own.name, file.file->path(), own.unsupported));
  }
}

bool row_group_may_match(const RowGroupInfo& group, const TableFile& file, const std::vector<ScanFilter>& filters) {
  for (const ScanFilter& filter : filters) {
    if (filter.filter.kind == ColumnFilter::Kind::Never) return false;
    const ColumnChunkInfo& chunk = group.columns[static_cast<size_t>(file.leaf_of_column[filter.column])];
    if (chunk.nulls && *chunk.nulls == chunk.values) return false;
    if (chunk.minimum && chunk.maximum && !may_match(filter.filter, *chunk.minimum, *chunk.maximum)) return false;
  }
  return true;
}

struct UnitSize {
  int64_t read_bytes = 0;
  int64_t encoded_bytes = 0;  // after decompression
  int64_t decoded_row_bytes = 0;
};

int64_t add_saturated(int64_t left, int64_t right) {
  int64_t sum = 0;
  return __builtin_add_overflow(left, right, &sum) ? INT64_MAX : sum;
}

// What the chunk takes when decompressed, as far as it can be believed: no more than its codec makes of its bytes.
int64_t decompressed_bytes(const ColumnChunkInfo& chunk) {
  constexpr int64_t kMostOfAnyCodec = 64 << 10;
  int64_t expansion = std::min(largest_expansion(chunk.codec), kMostOfAnyCodec);
  int64_t most = 0;
  if (__builtin_mul_overflow(chunk.pages.length, expansion, &most)) most = INT64_MAX;
  return std::min(chunk.uncompressed_bytes, most);
}

UnitSize size_of_row_group(const RowGroupInfo& group, const TableFile& file, const ScanPlan& plan) {
  UnitSize size;
  std::vector<size_t> columns = plan.output_columns;
  for (const ScanFilter& filter : plan.filters) columns.push_back(filter.column);
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  for (size_t column : columns) {
    int leaf = file.leaf_of_column[column];
    if (leaf < 0) {
      size.decoded_row_bytes += 4;
      continue;
    }
    const ColumnChunkInfo& chunk = group.columns[static_cast<size_t>(leaf)];
    LogicalType type = plan.table->columns[column].type;
    size.read_bytes = add_saturated(size.read_bytes, chunk.pages.length);
    if (chunk.codec != PageCodec::Uncompressed) size.encoded_bytes = add_saturated(size.encoded_bytes, decompressed_bytes(chunk));
    // Values (or begin and end of text) and validity; dictionary codes are smaller.
    size.decoded_row_bytes += (type.is_text() ? 16 : type.value_bytes()) + 1;
  }
  return size;
}

// A part reads the dictionaries again and the pages at its edges: smaller ones would cost more than another thread gives.
constexpr int64_t kSmallestPart = 4 << 20;
// No row group that a writer can make needs more; one that seems to has counts that lie.
constexpr int64_t kMostParts = 4'096;

// Row groups that are too large for the memory limit, or too few for the threads of the scan, are cut into parts.
int64_t parts_of(const UnitSize& size, int64_t rows, size_t row_groups, const Settings& settings) {
  int64_t bytes = add_saturated(size.read_bytes, size.encoded_bytes);
  int64_t most = std::clamp<int64_t>(settings.memory_limit / 4, 4 << 20, 64 << 20);
  int64_t for_memory = bytes / most + (bytes % most != 0);
  // Twice as many as threads, so that the last ones end together.
  int64_t wanted = (2 * settings.threads + static_cast<int64_t>(row_groups) - 1) / static_cast<int64_t>(row_groups);
  int64_t for_threads = std::min({wanted, bytes / kSmallestPart, rows / settings.chunk_rows});
  return std::clamp<int64_t>(std::max(for_memory, for_threads), 1, std::clamp<int64_t>(rows, 1, kMostParts));
}

int64_t memory_of(const UnitSize& size, int64_t rows, int64_t row_group_rows, const Settings& settings) {
  int64_t strip_rows = std::min(rows, settings.chunk_rows);
  double share = row_group_rows == 0 ? 1.0 : static_cast<double>(rows) / static_cast<double>(row_group_rows);
  // Decoding needs its output and, while NULLs are spread or pieces joined, half of it again.
  double decoded = static_cast<double>(strip_rows) * static_cast<double>(size.decoded_row_bytes) * 1.5;
  double bytes = static_cast<double>(add_saturated(size.read_bytes, size.encoded_bytes)) * share + decoded + (64 << 10);
  return static_cast<int64_t>(std::min(bytes, 1e18));
}

struct RowGroupPlace {
  size_t file = 0;
  int row_group = 0;
};

void add_units(ScanPlan& plan, RowGroupPlace place, size_t row_groups, int64_t first_need, const Settings& settings) {
  const TableFile& file = plan.table->files[place.file];
  const RowGroupInfo& group = file.footer().row_groups[static_cast<size_t>(place.row_group)];
  UnitSize size = size_of_row_group(group, file, plan);
  int64_t parts = parts_of(size, group.rows, row_groups, settings);
  for (int64_t part = 0; part < parts; ++part) {
    ScanUnit unit;
    unit.file = place.file;
    unit.row_group = place.row_group;
    unit.first_row = static_cast<int64_t>(Int128{group.rows} * part / parts);
    unit.rows = static_cast<int64_t>(Int128{group.rows} * (part + 1) / parts) - unit.first_row;
    unit.is_whole_row_group = parts == 1;
    unit.memory_bytes = memory_of(size, unit.rows, group.rows, settings);
    unit.need = first_need + static_cast<int64_t>(plan.units.size());
    plan.units.push_back(unit);
  }
}

}  // namespace

ScanPlan plan_scan(const ParquetTable& table, const ScanRequest& request, const Settings& settings) {
  ScanPlan plan;
  plan.table = &table;
  for (const std::string& name : request.columns) plan.output_columns.push_back(find_readable_column(table, name));
  if (request.columns.empty()) {
    for (size_t i = 0; i < table.columns.size(); ++i) {
      if (table.columns[i].unsupported.empty()) plan.output_columns.push_back(i);
    }
    if (plan.output_columns.empty() && !table.columns.empty()) {
      throw UserError(fmt::format("no column can be read; column {}: {}", table.columns[0].name, table.columns[0].unsupported));
    }
  }
  std::vector<ScanFilter> partition_filters;
  for (const RangeFilter& filter : request.filters) {
    size_t column = find_readable_column(table, filter.column);
    ScanFilter bound{column, bind_filter(filter, table.columns[column].type)};
    (table.columns[column].partition >= 0 ? partition_filters : plan.filters).push_back(std::move(bound));
  }
  for (size_t column : plan.output_columns) check_files(table, column);
  for (const ScanFilter& filter : plan.filters) check_files(table, filter.column);

  std::vector<RowGroupPlace> left;
  for (size_t index = 0; index < table.files.size(); ++index) {
    const TableFile& file = table.files[index];
    bool file_matches = std::all_of(partition_filters.begin(), partition_filters.end(), [&](const ScanFilter& filter) {
      return matches(filter.filter, file.partition_values[static_cast<size_t>(table.columns[filter.column].partition)]);
    });
    const std::vector<RowGroupInfo>& groups = file.footer().row_groups;
    for (size_t group = 0; group < groups.size(); ++group) {
      ++plan.row_groups;
      if (groups[group].rows == 0) continue;
      if (!file_matches || !row_group_may_match(groups[group], file, plan.filters)) {
        ++plan.pruned_row_groups;
        continue;
      }
      left.push_back({index, static_cast<int>(group)});
    }
  }
  for (const RowGroupPlace& place : left) add_units(plan, place, left.size(), request.first_need, settings);
  return plan;
}

}  // namespace pistachio
