#include "storage/page_index.h"

#include <parquet/metadata.h>
#include <parquet/page_index.h>
#include <parquet/properties.h>
#include <parquet/schema.h>

#include <iterator>

namespace pistachio {

namespace {

std::shared_ptr<const std::vector<PageRange>> parse_ranges(const ParquetFooter& footer, const ParquetColumn& column,
                                                           std::span<const uint8_t> bytes, size_t pages) {
  auto ranges = std::make_shared<std::vector<PageRange>>();
  try {
    std::unique_ptr<parquet::ColumnIndex> index =
        parquet::ColumnIndex::Make(*footer.arrow_metadata->schema()->Column(column.leaf), bytes.data(), static_cast<uint32_t>(bytes.size()),
                                   parquet::default_reader_properties());
    const std::vector<bool>& nulls = index->null_pages();
    if (nulls.size() != pages || index->encoded_min_values().size() != pages || index->encoded_max_values().size() != pages) return nullptr;
    for (size_t i = 0; i < pages; ++i) {
      PageRange range;
      range.only_nulls = nulls[i];
      if (!range.only_nulls) {
        ScalarValue minimum = decode_statistic(column, index->encoded_min_values()[i]);
        ScalarValue maximum = decode_statistic(column, index->encoded_max_values()[i]);
        if (!minimum.is_null && !maximum.is_null && compare(minimum, maximum) <= 0) {
          range.minimum = std::move(minimum);
          range.maximum = std::move(maximum);
        }
      }
      ranges->push_back(std::move(range));
    }
  } catch (const std::exception&) {
    return nullptr;
  }
  return ranges;
}

constexpr int64_t kMapEntryBytes = 96;
// A directory of more pages is read again when it is needed again, rather than kept.
constexpr size_t kMostKeptPages = 1 << 16;

int64_t memory_of(const PageDirectory& directory) {
  return kMapEntryBytes + static_cast<int64_t>(sizeof(PageDirectory) + directory.pages.capacity() * sizeof(PagePlace));
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
  auto made = std::make_shared<const PageDirectory>(
      directory_from_offset_index(chunk, group.rows, {bytes.const_data_ptr<uint8_t>(), static_cast<size_t>(bytes.numel())}, where));
  if (made->pages.size() > kMostKeptPages) co_return made;
  std::lock_guard lock(mutex_);
  if (directories_.emplace(Key{row_group, column}, made).second) memory_bytes_ += memory_of(*made);
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
      parse_ranges(*footer_, footer_->columns[static_cast<size_t>(column)],
                   {bytes.const_data_ptr<uint8_t>(), static_cast<size_t>(bytes.numel())}, pages->pages.size());
  std::lock_guard lock(mutex_);
  if (ranges_.emplace(Key{row_group, column}, made).second) memory_bytes_ += memory_of(made.get());
  co_return made;
}

}  // namespace pistachio
