#include "storage/page_index.h"

#include <parquet/metadata.h>
#include <parquet/page_index.h>
#include <parquet/properties.h>
#include <parquet/schema.h>

#include <cmath>
#include <iterator>

namespace pistachio {

namespace {

enum class NullClaims { Wrong, Unconfirmed, Confirmed };

// Every filter skips a page of NULLs, so its flag is only trusted if the NULL counts agree with the pages' rows, the schema and the chunk.
NullClaims check_null_claims(const parquet::ColumnIndex& index, const ParquetColumn& column, const ColumnChunkInfo& chunk,
                             const std::vector<PagePlace>& pages) {
  const std::vector<bool>& null_pages = index.null_pages();
  for (size_t i = 0; i < pages.size(); ++i) {
    if (!null_pages[i]) continue;
    if (column.max_definition == 0 || !index.encoded_min_values()[i].empty() || !index.encoded_max_values()[i].empty())
      return NullClaims::Wrong;
  }
  if (!index.has_null_counts()) return NullClaims::Unconfirmed;
  const std::vector<int64_t>& counts = index.null_counts();
  if (counts.size() != pages.size()) return NullClaims::Wrong;
  int64_t total = 0;
  for (size_t i = 0; i < pages.size(); ++i) {
    if (counts[i] < 0) return NullClaims::Unconfirmed;  // not counted
    if (counts[i] > pages[i].rows || (counts[i] == pages[i].rows) != null_pages[i]) return NullClaims::Wrong;
    if (column.max_definition == 0 && counts[i] > 0) return NullClaims::Wrong;
    total += counts[i];
  }
  if (!chunk.nulls) return NullClaims::Unconfirmed;
  return *chunk.nulls == total ? NullClaims::Confirmed : NullClaims::Wrong;
}

bool is_nan(const ScalarValue& value) {
  return value.type.is_floating() && std::isnan(value.floating);
}

// Whether the bounds are in the order that the index claims.
bool has_claimed_order(const std::vector<PageRange>& ranges, parquet::BoundaryOrder::type order) {
  if (order != parquet::BoundaryOrder::Ascending && order != parquet::BoundaryOrder::Descending) return true;
  const PageRange* last = nullptr;
  for (const PageRange& range : ranges) {
    if (!range.minimum) continue;
    if (last != nullptr) {
      const PageRange& lower = order == parquet::BoundaryOrder::Ascending ? *last : range;
      const PageRange& upper = order == parquet::BoundaryOrder::Ascending ? range : *last;
      if (compare(*lower.minimum, *upper.minimum) > 0 || compare(*lower.maximum, *upper.maximum) > 0) return false;
    }
    last = &range;
  }
  return true;
}

// Whether the pages' bounds match the chunk's. Text bounds may be truncated on either side: minima down to a prefix, maxima up. Where a page has
// no bounds, it may hold the chunk's minimum or maximum: the other bounds must be within the chunk's.
bool agrees_with_chunk(const std::vector<PageRange>& ranges, const ColumnChunkInfo& chunk) {
  if (!chunk.minimum || is_nan(*chunk.minimum) || is_nan(*chunk.maximum)) return true;
  const ScalarValue* least = nullptr;
  const ScalarValue* greatest = nullptr;
  bool is_complete = true;
  for (const PageRange& range : ranges) {
    if (!range.minimum) {
      is_complete = is_complete && range.only_nulls;
      continue;
    }
    if (least == nullptr || compare(*range.minimum, *least) < 0) least = &*range.minimum;
    if (greatest == nullptr || compare(*range.maximum, *greatest) > 0) greatest = &*range.maximum;
  }
  if (least == nullptr) return !is_complete;
  if (!chunk.minimum->is_text()) {
    if (!is_complete) return compare(*least, *chunk.minimum) >= 0 && compare(*greatest, *chunk.maximum) <= 0;
    return compare(*least, *chunk.minimum) == 0 && compare(*greatest, *chunk.maximum) == 0;
  }
  const bool is_above_minimum = compare(*least, *chunk.minimum) >= 0 || chunk.minimum->text.starts_with(least->text);
  const bool reaches_maximum = compare(*greatest, *chunk.maximum) >= 0 || chunk.maximum->text.starts_with(greatest->text);
  return is_above_minimum && (reaches_maximum || !is_complete);
}

std::shared_ptr<const std::vector<PageRange>> parse_ranges(const ParquetFooter& footer, const ParquetColumn& column,
                                                           const ColumnChunkInfo& chunk, std::span<const uint8_t> bytes,
                                                           const std::vector<PagePlace>& pages) {
  auto ranges = std::make_shared<std::vector<PageRange>>();
  try {
    std::unique_ptr<parquet::ColumnIndex> index =
        parquet::ColumnIndex::Make(*footer.arrow_metadata->schema()->Column(column.leaf), bytes.data(), static_cast<uint32_t>(bytes.size()),
                                   parquet::default_reader_properties());
    if (index->null_pages().size() != pages.size() || index->encoded_min_values().size() != pages.size() ||
        index->encoded_max_values().size() != pages.size())
      return nullptr;
    const NullClaims nulls = check_null_claims(*index, column, chunk, pages);
    if (nulls == NullClaims::Wrong) return nullptr;
    for (size_t i = 0; i < pages.size(); ++i) {
      PageRange range;
      if (index->null_pages()[i]) {
        range.only_nulls = nulls == NullClaims::Confirmed;
      } else {
        ScalarValue minimum = decode_statistic(column, index->encoded_min_values()[i]);
        ScalarValue maximum = decode_statistic(column, index->encoded_max_values()[i]);
        if (minimum.is_null || maximum.is_null || compare(minimum, maximum) > 0) return nullptr;
        range.exact = !column.type.is_text();
        if (!is_nan(minimum) && !is_nan(maximum)) {
          range.minimum = std::move(minimum);
          range.maximum = std::move(maximum);
        }
      }
      ranges->push_back(std::move(range));
    }
    if (!has_claimed_order(*ranges, index->boundary_order()) || !agrees_with_chunk(*ranges, chunk)) return nullptr;
  } catch (const std::exception&) {
    return nullptr;
  }
  return ranges;
}

constexpr int64_t kMapEntryBytes = 96;
// Larger directories are not cached but read again.
constexpr size_t kMaxKeptPages = 1 << 16;

int64_t memory_of(const PageDirectory* directory) {
  if (directory == nullptr) return kMapEntryBytes;
  return kMapEntryBytes + static_cast<int64_t>(sizeof(PageDirectory) + directory->pages.capacity() * sizeof(PagePlace));
}

int64_t memory_of(const std::vector<PageRange>* ranges) {
  int64_t bytes = kMapEntryBytes;
  if (ranges == nullptr) return bytes;
  bytes += static_cast<int64_t>(ranges->capacity() * sizeof(PageRange));
  for (const PageRange& range : *ranges) {
    if (range.minimum) bytes += static_cast<int64_t>(range.minimum->text.size() + range.maximum->text.size());
  }
  return bytes;
}

}  // namespace

Task<std::shared_ptr<const PageDirectory>> PageIndexes::directory(ReadPool& pool, std::shared_ptr<DataFile> file, int row_group,
                                                                  int column) {
  const RowGroupInfo& group = footer_->row_groups[static_cast<size_t>(row_group)];
  const ColumnChunkInfo& chunk = group.columns[static_cast<size_t>(column)];
  if (chunk.offset_index.length == 0) co_return nullptr;
  {
    std::lock_guard lock(mutex_);
    if (auto found = directories_.find({row_group, column}); found != directories_.end()) co_return found->second;
  }
  Task<at::Tensor> reading = pool.read_range(file, chunk.offset_index);
  at::Tensor bytes = co_await reading;
  DataLocation where{footer_->path, row_group, footer_->columns[static_cast<size_t>(column)].name};
  std::shared_ptr<const PageDirectory> made;
  try {
    made = std::make_shared<const PageDirectory>(
        directory_from_offset_index(chunk, group.rows, {bytes.const_data_ptr<uint8_t>(), static_cast<size_t>(bytes.numel())}, where));
  } catch (const DataError&) {
    // The page headers provide the same information.
  }
  if (made != nullptr && made->pages.size() > kMaxKeptPages) co_return made;
  std::lock_guard lock(mutex_);
  if (directories_.emplace(Key{row_group, column}, made).second) memory_bytes_ += memory_of(made.get());
  co_return made;
}

PageMark PageIndexes::mark_before(int row_group, int column, int64_t row) {
  const ColumnChunkInfo& chunk = footer_->row_groups[static_cast<size_t>(row_group)].columns[static_cast<size_t>(column)];
  std::lock_guard lock(mutex_);
  std::map<int64_t, PageMark>& marks = marks_[{row_group, column}];
  auto after = marks.upper_bound(row);
  return after == marks.begin() ? PageMark{{}, chunk.pages.offset, 0} : std::prev(after)->second;
}

void PageIndexes::add_mark(int row_group, int column, const PageMark& mark) {
  std::lock_guard lock(mutex_);
  if (marks_[{row_group, column}].emplace(mark.row, mark).second) memory_bytes_ += kMapEntryBytes;
}

Task<std::shared_ptr<const std::vector<PageRange>>> PageIndexes::ranges(ReadPool& pool, std::shared_ptr<DataFile> file, int row_group,
                                                                        int column) {
  const ColumnChunkInfo& chunk = footer_->row_groups[static_cast<size_t>(row_group)].columns[static_cast<size_t>(column)];
  if (chunk.column_index.length == 0) co_return nullptr;
  {
    std::lock_guard lock(mutex_);
    if (auto found = ranges_.find({row_group, column}); found != ranges_.end()) co_return found->second;
  }
  Task<std::shared_ptr<const PageDirectory>> finding = directory(pool, file, row_group, column);
  std::shared_ptr<const PageDirectory> pages = co_await finding;
  if (pages == nullptr) co_return nullptr;
  Task<at::Tensor> reading = pool.read_range(file, chunk.column_index);
  at::Tensor bytes = co_await reading;
  std::shared_ptr<const std::vector<PageRange>> made =
      parse_ranges(*footer_, footer_->columns[static_cast<size_t>(column)], chunk,
                   {bytes.const_data_ptr<uint8_t>(), static_cast<size_t>(bytes.numel())}, pages->pages);
  std::lock_guard lock(mutex_);
  if (ranges_.emplace(Key{row_group, column}, made).second) memory_bytes_ += memory_of(made.get());
  co_return made;
}

}  // namespace pistachio
