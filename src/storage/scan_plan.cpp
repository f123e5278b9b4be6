#include "storage/scan_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <unordered_map>

#include "storage/unit_memory.h"

namespace pistachio {

namespace {

// The columns of a table by name; a lookup table, since a request may name all columns of a wide table.
class ReadableColumns {
 public:
  explicit ReadableColumns(const ParquetTable& table) : table_(table) {
    for (size_t i = 0; i < table.columns.size(); ++i) by_name_.emplace(table.columns[i].name, i);
  }
  size_t find(std::string_view name) const {
    auto exact = by_name_.find(name);
    const TableColumn& column = exact == by_name_.end() ? table_.column(name) : table_.columns[exact->second];
    if (!column.unsupported.empty()) throw UserError(fmt::format("column {} cannot be read: {}", column.name, column.unsupported));
    return static_cast<size_t>(&column - table_.columns.data());
  }

 private:
  const ParquetTable& table_;
  std::unordered_map<std::string_view, size_t> by_name_;
};

// The column must be readable in every file; the error names the file where it is not.
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
    // NULL counts are not used: a chunk of only NULLs is a few bytes long, and a wrong count would lose rows.
    if (chunk.minimum && chunk.maximum && !may_match(filter.filter, *chunk.minimum, *chunk.maximum, chunk.exact_bounds)) return false;
  }
  return true;
}

// Memory that a scan needs for a row group.
struct UnitSize {
  int64_t read_bytes = 0;
  int64_t encoded_bytes = 0;     // after decompression
  int64_t kept_bytes = 0;        // filter columns that are also output: decoded for the filters and kept until delivery
  double decoded_row_bytes = 0;  // while decoding
};

int64_t add_saturated(int64_t left, int64_t right) {
  int64_t sum = 0;
  return __builtin_add_overflow(left, right, &sum) ? INT64_MAX : sum;
}

int64_t multiply_saturated(int64_t left, int64_t right) {
  int64_t product = 0;
  return __builtin_mul_overflow(left, right, &product) ? INT64_MAX : product;
}

UnitSize size_of_row_group(const RowGroupInfo& group, const TableFile& file, const ScanPlan& plan) {
  UnitSize size;
  std::set<size_t> outputs(plan.output_columns.begin(), plan.output_columns.end());
  std::set<size_t> filters;
  for (const ScanFilter& filter : plan.filters) filters.insert(filter.column);
  for (const ScanTest& test : plan.tests) filters.insert(test.columns.begin(), test.columns.end());
  if (plan.threshold) filters.insert(plan.threshold->column);
  std::set<size_t> columns = outputs;
  columns.insert(filters.begin(), filters.end());
  for (size_t column : columns) {
    int leaf = file.leaf_of_column[column];
    if (leaf < 0) {
      size.decoded_row_bytes += 5;  // codes and validity of a partition column
      continue;
    }
    const ColumnChunkInfo& chunk = group.columns[static_cast<size_t>(leaf)];
    const ParquetColumn& described = file.footer().columns[static_cast<size_t>(leaf)];
    size.read_bytes = add_saturated(size.read_bytes, chunk.pages.length);
    if (chunk.codec != PageCodec::Uncompressed) size.encoded_bytes = add_saturated(size.encoded_bytes, decompressed_bytes(chunk));
    size.decoded_row_bytes += decoding_bytes(described, chunk, 1);
    if (filters.contains(column) && outputs.contains(column))
      size.kept_bytes = add_saturated(size.kept_bytes, multiply_saturated(group.rows, decoded_row_bytes(described)));
  }
  if (!filters.empty()) size.kept_bytes = add_saturated(size.kept_bytes, group.rows);  // the masks
  return size;
}

// Every part reads the dictionaries and the pages at its edges again: below this size that costs more than another thread gains.
constexpr int64_t kSmallestPart = 4 << 20;
// No real row group needs more parts, and no real table more in total; beyond that the counts are wrong.
constexpr int64_t kMaxParts = 4'096;
constexpr int64_t kMaxPartsOfAll = 1 << 20;

// Row groups are cut into parts if they are too large for the memory limit or too few to occupy all threads.
int64_t parts_of(const UnitSize& size, int64_t rows, size_t row_groups, const ScanLimits& limits, int64_t threads) {
  int64_t bytes = add_saturated(size.read_bytes, size.encoded_bytes);
  int64_t held = add_saturated(bytes, size.kept_bytes);
  int64_t most = std::clamp<int64_t>(limits.memory_bytes / 4, 256 << 10, 64 << 20);
  int64_t for_memory = held / most + (held % most != 0);
  // Twice the number of threads, so that they finish at about the same time.
  int64_t wanted = (2 * threads + static_cast<int64_t>(row_groups) - 1) / static_cast<int64_t>(row_groups);
  int64_t for_threads = std::min({wanted, bytes / kSmallestPart, rows / limits.chunk_rows});
  int64_t most_parts = std::clamp<int64_t>(kMaxPartsOfAll / static_cast<int64_t>(row_groups), 1, kMaxParts);
  return std::clamp<int64_t>(std::max(for_memory, for_threads), 1, std::min(std::max<int64_t>(rows, 1), most_parts));
}

// Pages are decoded whole, and footers do not say how long they are: one page may hold all rows of its row group. Reserves enough for
// that, but at most half of the memory limit, so that two units fit, and at least enough for one strip. The unit returns what its pages
// do not need.
int64_t memory_of(const UnitSize& size, int64_t rows, int64_t row_group_rows, const ScanLimits& limits) {
  double share = row_group_rows == 0 ? 1.0 : static_cast<double>(rows) / static_cast<double>(row_group_rows);
  int64_t of_rows = add_saturated(add_saturated(size.read_bytes, size.encoded_bytes), size.kept_bytes);
  double fixed = static_cast<double>(of_rows) * share + (64 << 10);
  double least = fixed + static_cast<double>(std::min(rows, limits.chunk_rows)) * size.decoded_row_bytes;
  double most = fixed + static_cast<double>(row_group_rows) * size.decoded_row_bytes;
  double bytes = std::max(least, std::min(most, static_cast<double>(limits.memory_bytes) / 2));
  return static_cast<int64_t>(std::min(bytes, 1e18));
}

struct RowGroupPlace {
  size_t file = 0;
  int row_group = 0;
};

// The row groups that may have the first rows come first; those without statistics last.
void put_best_first(std::vector<RowGroupPlace>& places, const ParquetTable& table, size_t column, const ScanRequest::Threshold& wanted) {
  auto chunk_of = [&](const RowGroupPlace& place) -> const ColumnChunkInfo& {
    const TableFile& file = table.files[place.file];
    return file.footer().row_groups[static_cast<size_t>(place.row_group)].columns[static_cast<size_t>(file.leaf_of_column[column])];
  };
  auto has_first_nulls = [&](const ColumnChunkInfo& chunk) { return wanted.nulls_first && chunk.nulls.value_or(0) > 0; };
  auto comes_before = [&](const RowGroupPlace& left, const RowGroupPlace& right) {
    const ColumnChunkInfo& one = chunk_of(left);
    const ColumnChunkInfo& other = chunk_of(right);
    if (has_first_nulls(one) != has_first_nulls(other)) return has_first_nulls(one);
    const std::optional<ScalarValue>& bound = wanted.descending ? one.maximum : one.minimum;
    const std::optional<ScalarValue>& other_bound = wanted.descending ? other.maximum : other.minimum;
    if (!bound || !other_bound) return bound.has_value() && !other_bound;
    return wanted.descending ? compare(*bound, *other_bound) > 0 : compare(*bound, *other_bound) < 0;
  };
  std::stable_sort(places.begin(), places.end(), comes_before);
}

void add_units(ScanPlan& plan, RowGroupPlace place, size_t row_groups, int64_t first_need, const ScanLimits& limits, int64_t threads) {
  const TableFile& file = plan.table->files[place.file];
  const RowGroupInfo& group = file.footer().row_groups[static_cast<size_t>(place.row_group)];
  UnitSize size = size_of_row_group(group, file, plan);
  int64_t parts = parts_of(size, group.rows, row_groups, limits, threads);
  for (int64_t part = 0; part < parts; ++part) {
    ScanUnit unit;
    unit.file = place.file;
    unit.row_group = place.row_group;
    unit.first_row = static_cast<int64_t>(Int128{group.rows} * part / parts);
    unit.rows = static_cast<int64_t>(Int128{group.rows} * (part + 1) / parts) - unit.first_row;
    unit.is_whole_row_group = parts == 1;
    unit.memory_bytes = memory_of(size, unit.rows, group.rows, limits);
    unit.need = first_need + static_cast<int64_t>(plan.units.size());
    plan.units.push_back(unit);
  }
}

}  // namespace

ScanPlan plan_scan(const ParquetTable& table, const ScanRequest& request, const ScanLimits& limits, int64_t threads) {
  ScanPlan plan;
  plan.table = &table;
  plan.chunk_rows = limits.chunk_rows;
  ReadableColumns readable(table);
  for (const std::string& name : request.columns) plan.output_columns.push_back(readable.find(name));
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
    size_t column = readable.find(filter.column);
    ScanFilter bound{column, bind_filter(filter, table.columns[column].type), filter.only_prunes};
    (table.columns[column].partition >= 0 ? partition_filters : plan.filters).push_back(std::move(bound));
  }
  for (const ScanRequest::Test& test : request.tests) {
    ScanTest& planned = plan.tests.emplace_back(ScanTest{{}, test.passes});
    for (const std::string& name : test.columns) planned.columns.push_back(readable.find(name));
  }
  for (size_t column : plan.output_columns) check_files(table, column);
  for (const ScanFilter& filter : plan.filters) check_files(table, filter.column);
  for (const ScanTest& test : plan.tests) {
    for (size_t column : test.columns) check_files(table, column);
  }
  if (request.threshold) {
    plan.threshold = ThresholdFilter{readable.find(request.threshold->column), request.threshold->current, request.threshold->add};
    check_files(table, plan.threshold->column);
  }

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
  if (plan.threshold) put_best_first(left, table, plan.threshold->column, *request.threshold);
  for (const RowGroupPlace& place : left) add_units(plan, place, left.size(), request.first_need, limits, threads);
  return plan;
}

std::vector<std::vector<size_t>> deal_units(const ScanPlan& plan, int ranks) {
  // Largest first, each to the rank with the least load so far.
  std::vector<size_t> order(plan.units.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t left, size_t right) { return plan.units[left].memory_bytes > plan.units[right].memory_bytes; });
  std::vector<int64_t> loads(static_cast<size_t>(ranks), 0);
  std::vector<std::vector<size_t>> shares(static_cast<size_t>(ranks));
  for (size_t unit : order) {
    auto least = std::min_element(loads.begin(), loads.end());
    *least += std::max<int64_t>(1, plan.units[unit].memory_bytes);
    shares[static_cast<size_t>(least - loads.begin())].push_back(unit);
  }
  for (size_t rank = 0; rank < shares.size(); ++rank) {
    std::vector<size_t>& share = shares[rank];
    std::sort(share.begin(), share.end());
    if (plan.threshold) continue;  // the best ones first
    // Each rank starts at a different part of the table, so that the first rows of all ranks are a sample even of a sorted table.
    std::rotate(share.begin(), share.begin() + static_cast<std::ptrdiff_t>(rank * share.size() / shares.size()), share.end());
  }
  return shares;
}

void put_first(ScanPlan& plan, const std::vector<size_t>& share) {
  if (plan.units.empty()) return;
  int64_t first = plan.units.front().need;
  for (ScanUnit& unit : plan.units) unit.need += static_cast<int64_t>(plan.units.size());
  for (size_t i = 0; i < share.size(); ++i) plan.units[share[i]].need = first + static_cast<int64_t>(i);
}

}  // namespace pistachio
