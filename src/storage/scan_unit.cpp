#include "storage/scan_unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/added_time.h"
#include "base/check.h"
#include "columns/row_selection.h"
#include "kernels/ops/compress.h"
#include "kernels/ops/spread.h"
#include "kernels/ops/tensor_functions.h"
#include "storage/bloom_filter.h"
#include "storage/column_filter.h"
#include "storage/thrift_compact_reader.h"
#include "storage/unit_memory.h"

namespace pistachio {

namespace {

// Granularity at which selected rows decide which pages to read.
constexpr int64_t kBlockRows = 4096;
// Walking page headers without an offset index: bytes read for a single header, and for a window of many.
constexpr int64_t kHeaderBytes = 4096;
constexpr int64_t kWalkWindow = 1 << 20;
constexpr int64_t kPagesBetweenMarks = 256;
constexpr int64_t kLongestHeader = 16 << 20;

// Decoded size without the text bytes, which are counted with the pages.
int64_t kept_bytes(const Column& column) {
  return column.memory_bytes() - (column.type().is_text() && !column.is_dictionary() ? column.bytes().numel() : 0);
}

}  // namespace

UnitReader::UnitReader(StorageContext& storage, const ScanPlan& plan, const ScanUnit& unit, Reservation memory, ScanCounters& counters,
                       StagingArea* staging)
    : storage_(storage),
      plan_(plan),
      unit_(unit),
      memory_(std::make_shared<Reservation>(std::move(memory))),
      counters_(counters),
      staging_(staging),
      candidates_({unit.first_row, unit.first_row + unit.rows}),
      next_row_(unit.first_row) {}

DataLocation UnitReader::where(int leaf) const {
  return {file().file->path(), unit_.row_group, file().footer().columns[static_cast<size_t>(leaf)].name};
}

std::vector<size_t> UnitReader::filter_columns() const {
  std::vector<size_t> columns;
  auto add = [&](size_t column) {
    if (std::find(columns.begin(), columns.end(), column) == columns.end()) columns.push_back(column);
  };
  for (const ScanFilter& filter : plan_.filters) add(filter.column);
  for (const ScanTest& test : plan_.tests) std::for_each(test.columns.begin(), test.columns.end(), add);
  if (plan_.threshold) add(plan_.threshold->column);
  return columns;
}

std::vector<size_t> UnitReader::other_columns() const {
  std::vector<size_t> filters = filter_columns();
  std::vector<size_t> columns;
  for (size_t column : plan_.output_columns) {
    bool known = std::find(filters.begin(), filters.end(), column) != filters.end() ||
                 std::find(columns.begin(), columns.end(), column) != columns.end();
    if (!known && plan_.table->columns[column].partition < 0) columns.push_back(column);
  }
  return columns;
}

// With the metadata cache off, every unit reads the footer again, as readers without a cache do.
Task<void> UnitReader::reload_metadata() {
  Task<std::shared_ptr<const FileMetadata>> loading = load_file_metadata(storage_.read_pool, file().file);
  std::shared_ptr<const FileMetadata> metadata = co_await loading;
  if (metadata->footer->rows != file().footer().rows) throw DataError("the file changed while it was being read", {file().file->path()});
}

Task<bool> UnitReader::bloom_filters_may_match() {
  for (const ScanFilter& filter : plan_.filters) {
    size_t leaf = static_cast<size_t>(file().leaf_of_column[filter.column]);
    Task<bool> asking =
        bloom_filter_may_match(storage_.read_pool, file().file, file().footer().columns[leaf], group().columns[leaf], filter.filter);
    bool may_match = co_await asking;
    if (!may_match) co_return false;
  }
  co_return true;
}

// Rows of the pages that pass by their bounds; all rows if the bounds are unknown.
Task<RowRanges> UnitReader::passing_pages(size_t column, const PageTest& passes) {
  const RowRanges all({unit_.first_row, unit_.first_row + unit_.rows});
  const int leaf = file().leaf_of_column[column];
  Task<std::shared_ptr<const std::vector<PageRange>>> finding =
      file().metadata->page_indexes->ranges(storage_.read_pool, file().file, unit_.row_group, leaf);
  std::shared_ptr<const std::vector<PageRange>> ranges = co_await finding;
  if (ranges == nullptr || ranges->size() < 2) co_return all;
  Task<std::shared_ptr<const PageDirectory>> locating =
      file().metadata->page_indexes->directory(storage_.read_pool, file().file, unit_.row_group, leaf);
  std::shared_ptr<const PageDirectory> directory = co_await locating;
  // Large directories are not cached: the file may have changed since the ranges were read.
  if (directory == nullptr || directory->pages.size() != ranges->size()) co_return all;
  RowRanges passing;
  for (size_t i = 0; i < ranges->size(); ++i) {
    if (passes((*ranges)[i])) passing.add(directory->pages[i].first_row, directory->pages[i].end_row());
  }
  co_return all.intersect(passing);
}

// Rows of the pages whose bounds allow a match of every filter, and of the threshold.
Task<RowRanges> UnitReader::prune_pages() {
  RowRanges candidates({unit_.first_row, unit_.first_row + unit_.rows});
  for (const ScanFilter& filter : plan_.filters) {
    const PageTest passes = [&](const PageRange& range) {
      return !range.only_nulls && (!range.minimum || may_match(filter.filter, *range.minimum, *range.maximum, range.exact));
    };
    Task<RowRanges> finding = passing_pages(filter.column, passes);
    const RowRanges passing = co_await finding;
    candidates = candidates.intersect(passing);
  }
  if (const std::shared_ptr<const ScanThreshold> present = threshold(); present != nullptr) {
    const size_t leaf = static_cast<size_t>(file().leaf_of_column[plan_.threshold->column]);
    const PageTest passes = [&](const PageRange& range) {
      return may_pass(*present, file().footer().columns[leaf], group().columns[leaf], range);
    };
    Task<RowRanges> finding = passing_pages(plan_.threshold->column, passes);
    const RowRanges passing = co_await finding;
    candidates = candidates.intersect(passing);
  }
  co_return candidates;
}

std::shared_ptr<const ScanThreshold> UnitReader::threshold() const {
  return plan_.threshold ? plan_.threshold->current() : nullptr;
}

bool UnitReader::row_group_may_pass_threshold() const {
  const std::shared_ptr<const ScanThreshold> present = threshold();
  if (present == nullptr) return true;
  const size_t leaf = static_cast<size_t>(file().leaf_of_column[plan_.threshold->column]);
  return may_pass(*present, file().footer().columns[leaf], group().columns[leaf]);
}

// Walks the page headers in the file up to the unit's last row: for chunks without an offset index that are too large to read at once.
Task<PageDirectory> UnitReader::walk_file_pages(int leaf) {
  const ColumnChunkInfo& chunk = group().columns[static_cast<size_t>(leaf)];
  PageIndexes& indexes = *file().metadata->page_indexes;
  const WalkedRows wanted{unit_.first_row, unit_.first_row + unit_.rows};
  PageWalk walk(chunk, group().rows, where(leaf), wanted, indexes.mark_before(unit_.row_group, leaf, unit_.first_row));
  at::Tensor window;
  int64_t window_begin = 0;
  int64_t window_bytes = kHeaderBytes;
  int64_t headers = 0;  // parsed in this window
  int64_t walked = 0;
  while (!walk.is_complete()) {
    const int64_t position = walk.position();
    const int64_t skipped = position - window_begin;
    const int64_t left = window.defined() ? window.numel() - skipped : 0;
    if (left > 0) {
      try {
        const PageHeader header = parse_page_header({window.const_data_ptr<uint8_t>() + skipped, static_cast<size_t>(left)});
        const PageMark mark = walk.mark();
        walk.add(header);
        // The next unit may start inside this unit's last page.
        if (++walked % kPagesBetweenMarks == 0 || walk.is_complete()) indexes.add_mark(unit_.row_group, leaf, mark);
        ++headers;
        continue;
      } catch (const MalformedThrift& problem) {
        bool has_more = position + left < chunk.pages.end();
        if (!has_more || (skipped == 0 && window_bytes >= kLongestHeader)) {
          DataLocation place = where(leaf);
          place.offset = position;
          throw damaged_page_header(problem, place);
        }
      }
    }
    // The window grows while it holds several headers (small pages), and shrinks to a single header between large pages. A header longer
    // than the whole window (statistics can make it long) gets a larger one.
    if (left > 0 && skipped == 0) {
      window_bytes = std::min(window_bytes * 8, kLongestHeader);
    } else {
      window_bytes = headers > 1 ? std::min(window_bytes * 8, kWalkWindow) : kHeaderBytes;
    }
    headers = 0;
    const ByteRange range{position, std::min(window_bytes, chunk.pages.end() - position)};
    Task<at::Tensor> reading = storage_.read_pool.read_range(file().file, range);
    window = co_await reading;
    window_begin = position;
  }
  co_return walk.finish();
}

Task<PageDirectory> UnitReader::page_directory(int leaf) {
  Task<std::shared_ptr<const PageDirectory>> finding =
      file().metadata->page_indexes->directory(storage_.read_pool, file().file, unit_.row_group, leaf);
  std::shared_ptr<const PageDirectory> indexed = co_await finding;
  if (indexed == nullptr) {
    Task<PageDirectory> walking = walk_file_pages(leaf);
    PageDirectory walked = co_await walking;
    co_return walked;
  }
  // Copy only this unit's pages: many units may hold a directory at the same time.
  PageDirectory own;
  own.dictionary = indexed->dictionary;
  for (const PagePlace& page : indexed->pages) {
    if (page.first_row < unit_.first_row + unit_.rows && page.end_row() > unit_.first_row) own.pages.push_back(page);
  }
  co_return own;
}

// Whether a device can copy the columns' pages directly from the page cache: the host does not have to decompress or decode them.
bool UnitReader::may_be_mapped(const std::vector<size_t>& columns) const {
  const Settings& settings = storage_.settings;
  if (staging_ == nullptr || storage_.mapped_files == nullptr || settings.gpu_reads == GpuReads::Staged ||
      settings.storage_bandwidth_limit > 0) {
    return false;
  }
  return std::all_of(columns.begin(), columns.end(), [&](size_t column) {
    const ColumnChunkInfo& chunk = group().columns[static_cast<size_t>(file().leaf_of_column[column])];
    const bool stays_as_is = chunk.codec == PageCodec::Uncompressed || (chunk.codec == PageCodec::Snappy && settings.device_decompression);
    return stays_as_is && is_decoded_together(chunk);
  });
}

// The file for the device to copy from; undefined if its pages must be read.
Task<at::Tensor> UnitReader::map_columns(const std::vector<size_t>& columns) {
  std::vector<ByteRange> ranges;
  int64_t bytes = 0;
  for (size_t column : columns) {
    ranges.push_back(group().columns[static_cast<size_t>(file().leaf_of_column[column])].pages);
    bytes += ranges.back().length;
  }
  const auto when = storage_.settings.gpu_reads == GpuReads::Registered ? MappedFiles::When::Always : MappedFiles::When::Cached;
  Task<at::Tensor> finding = storage_.mapped_files->find(file().file, std::move(ranges), when);
  at::Tensor mapped = co_await finding;
  if (mapped.defined()) storage_.read_pool.count_mapped(bytes);
  co_return mapped;
}

// Reads all pages of the columns that have wanted rows with one request, and creates their readers.
Task<void> UnitReader::load_columns(std::vector<size_t> columns, const RowRanges& wanted) {
  std::map<size_t, PageDirectory> directories;
  std::vector<ByteRange> ranges;
  bool whole = unit_.is_whole_row_group && wanted.covers(0, group().rows);
  at::Tensor mapped;
  if (whole && may_be_mapped(columns)) {
    Task<at::Tensor> mapping = map_columns(columns);
    mapped = co_await mapping;
  }
  for (size_t column : columns) {
    int leaf = file().leaf_of_column[column];
    const ColumnChunkInfo& chunk = group().columns[static_cast<size_t>(leaf)];
    // Without an offset index, reading the whole chunk beats walking it page by page.
    if (!mapped.defined() && (whole || (unit_.is_whole_row_group && chunk.offset_index.length == 0))) {
      ranges.push_back(chunk.pages);
      continue;
    }
    Task<PageDirectory> finding = page_directory(leaf);
    PageDirectory directory = co_await finding;
    if (directory.dictionary.length > 0) ranges.push_back(directory.dictionary);
    for (const PagePlace& page : directory.pages) {
      if (wanted.overlaps(page.first_row, page.end_row())) ranges.push_back(page.bytes);
    }
    directories[column] = std::move(directory);
  }
  std::vector<FileBytes> bytes;
  if (mapped.defined()) {
    bytes.push_back({0, mapped, file().file->hold()});
  } else {
    Task<std::vector<FileBytes>> reading = storage_.read_pool.read(file().file, std::move(ranges), unit_.need, staging_);
    bytes = co_await reading;
    for (const FileBytes& piece : bytes) needed_bytes_ += static_cast<double>(piece.bytes.numel());
  }
  const ColumnReader::Options options{.verify_checksums = storage_.settings.verify_checksums,
                                      .bytes_are_staged = staging_ != nullptr,
                                      .device_decompression = storage_.settings.device_decompression};
  for (size_t column : columns) {
    int leaf = file().leaf_of_column[column];
    const ColumnChunkInfo& chunk = group().columns[static_cast<size_t>(leaf)];
    if (!directories.contains(column)) {
      auto after = std::upper_bound(bytes.begin(), bytes.end(), chunk.pages.offset,
                                    [](int64_t offset, const FileBytes& piece) { return offset < piece.offset; });
      if (chunk.pages.length == 0 || after == bytes.begin())
        throw DataError("column chunk is empty but the row group has rows", where(leaf));
      const FileBytes& holder = *(after - 1);
      directories[column] = walk_pages(
          chunk, group().rows,
          {holder.bytes.const_data_ptr<uint8_t>() + (chunk.pages.offset - holder.offset), static_cast<size_t>(chunk.pages.length)},
          where(leaf));
    }
    PageDirectory& directory = directories[column];
    count_needs(column, directory, wanted);
    for (const PagePlace& page : directory.pages)
      counters_.pages_total += page.first_row < unit_.first_row + unit_.rows && page.end_row() > unit_.first_row;
    readers_[column] = std::make_unique<ColumnReader>(file().footer().columns[static_cast<size_t>(leaf)], chunk, std::move(directory),
                                                      bytes, where(leaf), options);
  }
}

// Memory to decompress and decode the wanted pages of a column, now that their sizes are known.
void UnitReader::count_needs(size_t column, const PageDirectory& directory, const RowRanges& wanted) {
  size_t leaf = static_cast<size_t>(file().leaf_of_column[column]);
  const ColumnChunkInfo& chunk = group().columns[leaf];
  int64_t longest = 0;
  int64_t bytes = directory.dictionary.length * 4;  // compressed, decompressed, decoded, hashed
  for (const PagePlace& page : directory.pages) {
    if (!wanted.overlaps(page.first_row, page.end_row())) continue;
    longest = std::max(longest, page.rows);
    bytes += page.bytes.length;
  }
  if (chunk.codec != PageCodec::Uncompressed)
    needed_bytes_ += static_cast<double>(decompressed_bytes(chunk)) * static_cast<double>(bytes) / static_cast<double>(chunk.pages.length);
  int64_t rows = std::min(group().rows, strip_rows() + longest);
  needed_bytes_ += decoding_bytes(file().footer().columns[leaf], chunk, rows);
  needed_bytes_ += static_cast<double>(directory.pages.capacity() * sizeof(PagePlace));
}

void UnitReader::give_back_memory() {
  double needed = needed_bytes_ + (64 << 10);
  for (size_t column : plan_.output_columns) {
    if (plan_.table->columns[column].partition >= 0) needed += 5.0 * static_cast<double>(plan_.chunk_rows);
  }
  for (const Strip& strip : strips_) {
    needed += static_cast<double>(strip.rows) * 2;
    for (const auto& [column, values] : strip.decoded) needed += static_cast<double>(kept_bytes(values));
  }
  if (needed < static_cast<double>(memory_->bytes())) memory_->shrink_to(static_cast<int64_t>(needed));
}

// All strips of a filtered unit exist at the same time: very short ones would be too many for the reservation.
int64_t UnitReader::strip_rows() const {
  const int64_t rows = plan_.chunk_rows;
  return plan_.selects_rows() ? std::max(rows, kBlockRows) : rows;
}

// A strip ends at a page boundary of the first column if one is near, so that fewer pages are split between two strips.
UnitReader::Strip UnitReader::cut_strip(const RowRanges& candidates) {
  Strip strip;
  strip.begin = next_row_;
  int64_t end = unit_.first_row + unit_.rows;
  const int64_t most = strip_rows();
  next_row_ = std::min(end, strip.begin + most);
  if (next_row_ < end && !readers_.empty()) {
    const PageDirectory& pages = readers_.begin()->second->directory();
    int64_t page_begin = pages.pages[pages.page_of(next_row_)].first_row;
    if (page_begin > strip.begin + most / 2) next_row_ = page_begin;
  }
  strip.rows = next_row_ - strip.begin;
  if (candidates.overlaps(strip.begin, next_row_)) {
    strip.candidates = candidates.mask(strip.begin, next_row_);
    strip.mask = strip.candidates;
    strip.selected = strip.mask.defined() ? kernels::count_true(strip.mask) : strip.rows;
  }
  return strip;
}

// The selected rows of a column.
const Column& UnitReader::decoded_rows(Strip& strip, size_t column) {
  auto decoded = strip.decoded.find(column);
  if (decoded == strip.decoded.end())
    decoded = strip.decoded.emplace(column, readers_.at(column)->read(strip.begin, strip.rows, strip.mask)).first;
  return decoded->second;
}

// Of the rows selected so far, those where the mask is true.
void UnitReader::keep_rows(Strip& strip, const at::Tensor& mask) {
  const int64_t passing = kernels::count_true(mask);
  if (passing == strip.selected) return;
  strip.selected = passing;
  if (passing == 0) {
    strip.decoded.clear();
    return;
  }
  for (auto& [column, values] : strip.decoded) values = select_rows(values, mask, passing);
  // Back to rows of the strip.
  strip.mask = strip.mask.defined() ? kernels::spread(mask, strip.mask) : mask;
}

void UnitReader::evaluate_filters(Strip& strip) {
  entry_outcomes_.resize(plan_.filters.size());
  for (size_t i = 0; i < plan_.filters.size(); ++i) {
    const ScanFilter& filter = plan_.filters[i];
    if (filter.only_prunes) continue;
    FilterOutcome outcome = evaluate_filter(decoded_rows(strip, filter.column), filter.filter, &entry_outcomes_[i]);
    if (outcome.none) {
      strip.selected = 0;
      strip.decoded.clear();
    } else if (!outcome.all) {
      keep_rows(strip, outcome.mask);
    }
    if (strip.selected == 0) return;
  }
  // Before the tests, which cost more.
  apply_threshold(strip);
  if (strip.selected == 0) return;
  for (const ScanTest& test : plan_.tests) {
    std::vector<Column> columns;
    for (size_t column : test.columns) columns.push_back(decoded_rows(strip, column));
    if (const at::Tensor mask = test.passes(columns); mask.defined()) keep_rows(strip, mask);
    if (strip.selected == 0) return;
  }
  if (plan_.threshold && plan_.threshold->add) plan_.threshold->add(decoded_rows(strip, plan_.threshold->column));
  std::erase_if(strip.decoded, [&](const auto& column) {
    return std::find(plan_.output_columns.begin(), plan_.output_columns.end(), column.first) == plan_.output_columns.end();
  });
}

void UnitReader::apply_threshold(Strip& strip) {
  const std::shared_ptr<const ScanThreshold> present = threshold();
  if (present == nullptr) return;
  const FilterOutcome outcome = evaluate_threshold(decoded_rows(strip, plan_.threshold->column), *present);
  if (outcome.none) {
    strip.selected = 0;
    strip.decoded.clear();
  } else if (!outcome.all) {
    keep_rows(strip, outcome.mask);
  }
}

void UnitReader::drop_strips_below_threshold() {
  AddedTime filtering(counters_.nanoseconds, counters_.spans);
  if (!row_group_may_pass_threshold()) strips_.clear();
  for (Strip& strip : strips_) apply_threshold(strip);
  std::erase_if(strips_, [](const Strip& strip) { return strip.selected == 0; });
}

// The selected rows, rounded up to blocks; the whole row group if skipping would save less than a quarter of it.
RowRanges UnitReader::selected_ranges() const {
  RowRanges selected;
  for (const Strip& strip : strips_) {
    if (strip.selected == 0) continue;
    if (!strip.mask.defined()) {
      selected.add(strip.begin, strip.begin + strip.rows);
      continue;
    }
    const bool* mask = strip.mask.const_data_ptr<bool>();
    for (int64_t block = 0; block < strip.rows; block += kBlockRows) {
      int64_t rows = std::min(kBlockRows, strip.rows - block);
      if (std::memchr(mask + block, 1, static_cast<size_t>(rows)) != nullptr) selected.add(strip.begin + block, strip.begin + block + rows);
    }
  }
  if (unit_.is_whole_row_group && selected.rows() * 4 > unit_.rows * 3) return RowRanges({0, group().rows});
  return selected;
}

void UnitReader::rethrow_with_place(const OutOfMemory& error, std::optional<size_t> column) const {
  DataLocation place{file().file->path(), unit_.row_group};
  if (column) place.column = plan_.table->columns[*column].name;
  throw OutOfMemory(fmt::format("{} (for reading {})", error.message(), place.to_string()));
}

Task<void> UnitReader::fetch() {
  try {
    Task<void> reading = read_and_filter();
    co_await reading;
  } catch (const OutOfMemory& error) {
    rethrow_with_place(error, std::nullopt);
  }
  if (deferred_.empty()) give_back_memory();
  if (storage_.settings.metadata_cache) storage_.metadata_cache.recount(file().file->path());
}

Task<void> UnitReader::complete() {
  if (!plan_.threshold || finished_) co_return;
  drop_strips_below_threshold();
  if (strips_.empty()) {
    finish();
    co_return;
  }
  if (deferred_.empty()) co_return;
  try {
    const RowRanges selected = selected_ranges();
    Task<void> loading = load_columns(std::move(deferred_), selected);
    co_await loading;
  } catch (const OutOfMemory& error) {
    rethrow_with_place(error, std::nullopt);
  }
  give_back_memory();
}

Task<void> UnitReader::read_and_filter() {
  if (!storage_.settings.metadata_cache) {
    Task<void> reloading = reload_metadata();
    co_await reloading;
  }
  if (!plan_.filters.empty() || plan_.threshold) {
    bool may_match = row_group_may_pass_threshold();
    if (may_match) {
      Task<bool> asking = bloom_filters_may_match();
      may_match = co_await asking;
    }
    if (!may_match) {
      if (unit_.first_row == 0) ++counters_.row_groups_pruned;
      finish();
      co_return;
    }
    Task<RowRanges> pruning = prune_pages();
    candidates_ = co_await pruning;
  }
  std::vector<size_t> first = filter_columns();
  std::vector<size_t> others = other_columns();
  bool in_two_steps = storage_.settings.late_materialization && !first.empty() && staging_ == nullptr;
  if (!in_two_steps) {
    first.insert(first.end(), others.begin(), others.end());
    others.clear();
  }
  if (!first.empty() && !candidates_.is_empty()) {
    Task<void> loading = load_columns(std::move(first), candidates_);
    co_await loading;
  }
  if (staging_ != nullptr && candidates_.is_empty()) finish();
  if (staging_ != nullptr || !plan_.selects_rows()) co_return;
  {
    AddedTime filtering(counters_.nanoseconds, counters_.spans);
    while (next_row_ < unit_.first_row + unit_.rows) {
      Strip strip = cut_strip(candidates_);
      if (strip.selected > 0) evaluate_filters(strip);
      if (strip.selected > 0) strips_.push_back(std::move(strip));
    }
  }
  if (plan_.threshold && !strips_.empty()) {
    deferred_ = std::move(others);
  } else if (!others.empty() && !strips_.empty()) {
    RowRanges selected = selected_ranges();
    Task<void> loading = load_columns(std::move(others), selected);
    co_await loading;
  }
  if (strips_.empty()) finish();
}

// The same value in every row, as a dictionary with one entry.
Column UnitReader::partition_column(size_t column, int64_t rows) const {
  const TableColumn& described = plan_.table->columns[column];
  const ScalarValue& value = file().partition_values[static_cast<size_t>(described.partition)];
  at::Tensor codes = at::zeros({rows}, at::kInt);
  at::Tensor validity = value.is_null ? at::zeros({rows}, at::kBool) : at::Tensor();
  std::optional<Column> entry;
  if (described.type.is_text()) {
    at::Tensor bytes = at::empty({static_cast<int64_t>(value.text.size())}, at::kByte);
    std::copy(value.text.begin(), value.text.end(), bytes.mutable_data_ptr<uint8_t>());
    entry = Column::text(described.type, bytes, at::zeros({1}, at::kLong), at::full({1}, bytes.numel(), at::kLong));
  } else {
    entry = Column::fixed(described.type, at::full({1}, static_cast<int64_t>(value.integer), described.type.scalar_type()));
  }
  return Column::dictionary(std::move(codes), std::make_shared<const Column>(std::move(*entry)), std::move(validity));
}

Column UnitReader::read_output_column(size_t column, Strip& strip) {
  if (plan_.table->columns[column].partition >= 0) return partition_column(column, strip.selected);
  if (auto decoded = strip.decoded.find(column); decoded != strip.decoded.end()) return decoded->second;
  at::Tensor mask = strip.selected == strip.rows ? at::Tensor() : strip.mask;
  if (!storage_.settings.late_materialization && mask.defined()) {
    Column values = readers_.at(column)->read(strip.begin, strip.rows, strip.candidates);
    return select_rows(values, strip.candidates.defined() ? kernels::compress(mask, strip.candidates) : mask);
  }
  return readers_.at(column)->read(strip.begin, strip.rows, mask);
}

bool UnitReader::is_at_end() const {
  return plan_.selects_rows() ? next_strip_ == strips_.size() : next_row_ == unit_.first_row + unit_.rows;
}

// The next part of a filtered strip: at least one selected row, at most chunk_rows rows.
UnitReader::Strip UnitReader::take_filtered_strip() {
  const int64_t most = plan_.chunk_rows;
  while (true) {
    Strip& strip = strips_[next_strip_];
    if (strip.rows <= most) return std::move(strips_[next_strip_++]);
    Strip part;
    part.begin = strip.begin;
    part.rows = most;
    part.selected = most;
    strip.begin += most;
    strip.rows -= most;
    if (strip.candidates.defined()) {
      part.candidates = strip.candidates.slice(0, 0, most);
      strip.candidates = strip.candidates.slice(0, most);
    }
    if (strip.mask.defined()) {
      part.mask = strip.mask.slice(0, 0, most);
      strip.mask = strip.mask.slice(0, most);
      part.selected = kernels::count_true(part.mask);
    }
    strip.selected -= part.selected;
    for (auto& [column, values] : strip.decoded) {
      part.decoded.emplace(column, values.slice(0, part.selected));
      values = values.slice(part.selected, strip.selected);
    }
    if (strip.selected == 0) strips_[next_strip_++] = {};
    if (part.selected > 0) return part;
  }
}

std::optional<Chunk> UnitReader::next() {
  AddedTime decoding(counters_.nanoseconds, counters_.spans);
  Strip strip;
  do {
    if (is_at_end()) {
      finish();
      return std::nullopt;
    }
    strip = plan_.selects_rows() ? take_filtered_strip() : cut_strip(candidates_);
    apply_threshold(strip);
  } while (plan_.threshold && strip.selected == 0);
  std::map<size_t, Column> by_column;  // decodes a column that is requested twice only once
  std::vector<Column> columns;
  columns.reserve(plan_.output_columns.size());
  for (size_t column : plan_.output_columns) {
    auto found = by_column.find(column);
    try {
      if (found == by_column.end()) found = by_column.emplace(column, read_output_column(column, strip)).first;
    } catch (const OutOfMemory& error) {
      rethrow_with_place(error, column);
    }
    columns.push_back(found->second);
  }
  counters_.rows_selected += strip.selected;
  Chunk chunk(std::move(columns), strip.selected);
  if (is_at_end()) finish();
  return chunk;
}

std::optional<UnitPages> UnitReader::take_pages() {
  AddedTime preparing(counters_.nanoseconds, counters_.spans);
  if (finished_) return std::nullopt;
  UnitPages taken;
  taken.rows = candidates_.rows();
  taken.memory = memory_;
  for (auto& [column, reader] : readers_) {
    size_t leaf = static_cast<size_t>(file().leaf_of_column[column]);
    UnitPages::UnitColumn own{column, {}, {}};
    try {
      if (is_decoded_together(group().columns[leaf])) {
        own.pages = reader->prepare(candidates_, *staging_);
      } else {
        own.decoded = reader->read(unit_.first_row, unit_.rows, candidates_.mask(unit_.first_row, unit_.first_row + unit_.rows));
      }
    } catch (const OutOfMemory& error) {
      rethrow_with_place(error, column);
    }
    taken.columns.push_back(std::move(own));
  }
  for (size_t column : plan_.output_columns) {
    if (plan_.table->columns[column].partition < 0) continue;
    taken.columns.push_back({column, {}, partition_column(column, taken.rows)});
  }
  finish();
  return taken;
}

void UnitReader::finish() {
  if (finished_) return;
  finished_ = true;
  int64_t decoded = 0;
  int64_t total = 0;
  for (const auto& [column, reader] : readers_) {
    decoded += reader->pages_decoded();
    for (const PagePlace& page : reader->directory().pages)
      total += page.first_row < unit_.first_row + unit_.rows && page.end_row() > unit_.first_row;
  }
  counters_.pages_skipped += std::max<int64_t>(0, total - decoded);
  counters_.rows_scanned += unit_.rows;
  counters_.units_done += 1;
  readers_.clear();
}

}  // namespace pistachio
