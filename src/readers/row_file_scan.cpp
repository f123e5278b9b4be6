#include "readers/row_file_scan.h"

#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/byte_size.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "base/added_time.h"
#include "base/error.h"
#include "base/run_blocking.h"
#include "base/task_group.h"
#include "columns/scalar_access.h"
#include "expr/utf8_text.h"
#include "kernels/ops/tensor_functions.h"
#include "readers/arrow_columns.h"
#include "readers/arrow_source.h"
#include "readers/byte_search.h"
#include "readers/csv_records.h"
#include "readers/csv_splitter.h"
#include "readers/field_conversion.h"
#include "readers/json_records.h"
#include "readers/json_splitter.h"
#include "readers/text_source.h"

namespace pistachio {

namespace {

// Large enough that its overhead does not count, small enough to stay in a cache that lanes share.
constexpr int64_t kLargestBlock = 2 << 20;
constexpr int64_t kSmallestBlock = 256;
// Bytes of text for each row of a chunk: short chunks come from short blocks.
constexpr int64_t kBytesPerRow = 64;
// A longer record is rather a quote that is not closed.
constexpr int64_t kLongestRecord = 256 << 20;
// Files of fewer blocks are read by one rank as a whole.
constexpr int64_t kBlocksWorthDealing = 4;

std::string_view text_of(const at::Tensor& bytes) {
  return {reinterpret_cast<const char*>(bytes.const_data_ptr<uint8_t>()), static_cast<size_t>(bytes.numel())};
}

// A column that is not in the file: a partition value, the file's name, or NULL.
Column outer_column(const RowFileColumn& described, const RowFile& file, size_t column, int64_t rows) {
  const bool is_null = file.are_null[column] != 0;
  const ScalarValue value = is_null ? ScalarValue::null(described.type) : parse_constant(described.type, file.texts[column]).value;
  return repeat_value(value, rows);
}

// Turns the records of one block into chunks.
class BlockDecoder {
 public:
  BlockDecoder(const RowFileTable& table, const std::vector<size_t>& columns, const RecordBlock& block, int64_t table_rows,
               BadRecordPolicy& policy)
      : table_(table),
        columns_(columns),
        file_(*block.file),
        text_(text_of(block.bytes)),
        place_{file_.path, block.first_line, file_.dialect.line_end},
        policy_(policy),
        slots_(slots_of_columns()),
        fields_(slot_count_, table_rows),
        is_ascii_(pistachio::is_ascii(text_)) {
    if (table.format == FileFormat::Json) {
      keys_.are_objects = table.are_objects;
      keys_.refuses_unknown = table.refuses_unknown;
      keys_.names = table.members;
      keys_.slots = slots_;
      json_ = std::make_unique<JsonRecords>(file_.layout, keys_, slot_count_, text_, place_, policy);
    } else {
      csv_ = std::make_unique<CsvRecords>(file_.dialect, slots_, text_, place_, policy);
    }
  }

  // The next chunk, perhaps without rows; nullopt at the end.
  std::optional<Chunk> next() {
    if (csv_ ? !csv_->fill(fields_) : !json_->fill(fields_)) return std::nullopt;
    const FieldSource source{file_.dialect, csv_ ? FieldEscapes::Csv : FieldEscapes::Json, text_, is_ascii_, fields_};
    BadRows bad(policy_, place_, text_, fields_);
    std::vector<Column> made;
    for (size_t column : columns_) made.push_back(make_column(column, source, bad));
    return bad.without_bad(Chunk(std::move(made), fields_.rows()));
  }

 private:
  // Of each field or member, its slot.
  std::vector<size_t> slots_of_columns() {
    std::vector<size_t> slots(table_.format == FileFormat::Json ? table_.members.size() : static_cast<size_t>(file_.fields), kNoSlot);
    for (size_t column : columns_) {
      const int64_t source = file_.sources[column];
      if (source >= 0 && slots[static_cast<size_t>(source)] == kNoSlot) slots[static_cast<size_t>(source)] = slot_count_++;
    }
    return slots;
  }

  Column make_column(size_t column, const FieldSource& source, BadRows& bad) {
    const RowFileColumn& described = table_.columns[column];
    const int64_t field = file_.sources[column];
    if (field >= 0) return convert_fields(source, slots_[static_cast<size_t>(field)], described.name, described.type, bad);
    return outer_column(described, file_, column, fields_.rows());
  }

  const RowFileTable& table_;
  const std::vector<size_t>& columns_;
  const RowFile& file_;
  const std::string_view text_;
  const BlockPlace place_;
  BadRecordPolicy& policy_;
  size_t slot_count_ = 0;
  const std::vector<size_t> slots_;
  FieldTable fields_;
  const bool is_ascii_;
  JsonKeys keys_;
  std::unique_ptr<CsvRecords> csv_;
  std::unique_ptr<JsonRecords> json_;
};

// Cuts one file into blocks. Text behind the last record of a block is carried over to the next one.
class BlockCutter {
 public:
  BlockCutter(const RowFileTable& table, const RowFile& file) : table_(table), file_(file), json_(file.layout), line_(file.first_line) {}

  int64_t carried() const { return static_cast<int64_t>(carry_.size()); }
  void put_carry(uint8_t* target) const { std::copy(carry_.begin(), carry_.end(), target); }
  // The records in `text`; the rest is carried over. Empty if there is no whole record and the file goes on.
  int64_t cut(std::string_view text, bool is_at_end) {
    const BlockPlace place{file_.path, line_, file_.dialect.line_end};
    const size_t length = table_.format == FileFormat::Json ? json_.end_of_records(text, place, is_at_end)
                          : is_at_end                       ? text.size()
                                                            : end_of_csv_records(file_.dialect, text);
    carry_.assign(text.begin() + static_cast<std::ptrdiff_t>(length), text.end());
    if (length == 0 && carried() > kLongestRecord) {
      throw DataError(fmt::format("a record is longer than {} MiB; perhaps a quote is not closed", kLongestRecord >> 20),
                      {.file = fmt::format("{}, line {}", file_.path, line_), .column = {}});
    }
    return static_cast<int64_t>(length);
  }
  // For a record that is carried over and does not fit into memory.
  [[noreturn]] void refuse_long_record(const OutOfMemory& error) const {
    throw OutOfMemory(fmt::format("{}, line {}: a record is longer than {} KiB; perhaps a quote is not closed; {}", file_.path, line_,
                                  carried() >> 10, error.message()));
  }
  // The line where the block begins; moves on behind it.
  int64_t count_lines(std::string_view block) {
    const int64_t first = line_;
    line_ += count_byte(block, file_.dialect.line_end);
    return first;
  }

 private:
  const RowFileTable& table_;
  const RowFile& file_;
  JsonSplitter json_;
  int64_t line_;
  std::vector<uint8_t> carry_;
};

}  // namespace

RowFileScan::RowFileScan(StorageContext& storage, const RowFileTable& table, std::vector<size_t> columns, RowFileShare share, int64_t need,
                         ScanCounters& counters)
    : storage_(storage), table_(table), columns_(std::move(columns)), share_(share), need_(need), counters_(counters) {
  const int64_t chunk_rows = storage.settings.chunk_rows;
  block_bytes_ = std::clamp(chunk_rows * kBytesPerRow, kSmallestBlock, kLargestBlock);
  // A block of shorter records takes several turns.
  const auto usual_rows = static_cast<int64_t>(1.5 * static_cast<double>(block_bytes_) / std::max(1.0, table.record_bytes)) + 16;
  table_rows_ = std::min(chunk_rows, usual_rows);
  // Several blocks must fit into what the scan may take.
  while (block_bytes_ > (64 << 10) && block_memory() > storage.settings.memory_limit / 32) {
    block_bytes_ /= 2;
    table_rows_ = std::max<int64_t>(16, table_rows_ / 2);
  }
  policy_.skips = table.ignore_errors;
}

int64_t RowFileScan::block_memory() const {
  int64_t row_bytes = 0;
  for (size_t column : columns_) row_bytes += 1 + (table_.columns[column].type.is_text() ? 16 : table_.columns[column].type.value_bytes());
  // The text, and once more where text columns copy it; a carried record is short.
  return 2 * block_bytes_ + FieldTable::memory_bytes(columns_.size(), table_rows_) + row_bytes * table_rows_ + (4 << 10);
}

bool RowFileScan::is_dealt_by_blocks(const RowFile& file) const {
  // Batches of Arrow files are listed in them, at no cost; those of streams must be read, but not converted.
  if (table_.format == FileFormat::Arrow) return true;
  return file.compression == FileCompression::None && file.size > kBlocksWorthDealing * block_bytes_;
}

bool RowFileScan::is_own_file(size_t number) const {
  return static_cast<int64_t>(number) % share_.ranks == share_.rank || is_dealt_by_blocks(table_.files[number]);
}

Task<void> RowFileScan::read_files() {
  for (size_t number = 0; number < table_.files.size() && !stopped_; ++number) {
    if (!is_own_file(number)) continue;
    Task<void> reading = table_.format == FileFormat::Arrow ? read_arrow_file(number) : read_file(number);
    co_await reading;
  }
  blocks_->close();
}

Task<void> RowFileScan::read_file(size_t number) {
  const RowFile& file = table_.files[number];
  Task<std::shared_ptr<DataFile>> opening = open_data_file(storage_, file.path);
  std::shared_ptr<DataFile> opened = co_await opening;
  if (opened->size() != file.size)
    throw DataError(fmt::format("the file has changed: it had {} bytes, now {}", file.size, opened->size()),
                    {.file = file.path, .column = {}});
  TextSource source(storage_, opened, file.compression, need_);
  Task<void> skipping = source.skip(file.first_byte);
  co_await skipping;
  BlockCutter cutter(table_, file);
  const bool is_dealt = is_dealt_by_blocks(file) && share_.ranks > 1;
  bool is_at_end = false;
  for (int64_t block = 0; !is_at_end && !stopped_; ++block) {
    const int64_t capacity = cutter.carried() + std::max(block_bytes_, cutter.carried());
    Task<Reservation> reserving = storage_.memory.reserve(block_memory() + 2 * (capacity - block_bytes_), ReservationKind::Transient);
    std::shared_ptr<const Reservation> memory;
    at::Tensor bytes;
    try {
      Reservation reserved = co_await reserving;
      memory = std::make_shared<const Reservation>(std::move(reserved));
      bytes = at::empty({capacity}, at::kByte);
    } catch (const OutOfMemory& error) {
      if (cutter.carried() <= block_bytes_) throw;
      cutter.refuse_long_record(error);
    }
    uint8_t* data = bytes.mutable_data_ptr<uint8_t>();
    cutter.put_carry(data);
    const std::span<uint8_t> target(data + cutter.carried(), static_cast<size_t>(capacity - cutter.carried()));
    Task<int64_t> reading = source.read(target);
    const int64_t read = co_await reading;
    is_at_end = read < static_cast<int64_t>(target.size());
    const std::string_view text = text_of(bytes).substr(0, static_cast<size_t>(cutter.carried() + read));
    const int64_t length = cutter.cut(text, is_at_end);
    if (length == 0) {
      --block;  // a long record: the next block has room for more of it
      continue;
    }
    const int64_t first_line = cutter.count_lines(text.substr(0, static_cast<size_t>(length)));
    if (is_dealt && (block + static_cast<int64_t>(number)) % share_.ranks != share_.rank) continue;
    RecordBlock cut{.file = &file, .first_line = first_line, .bytes = bytes.narrow(0, 0, length), .memory = std::move(memory)};
    Task<void> sending = blocks_->send(std::move(cut), 1);
    co_await sending;
  }
}

std::vector<int> RowFileScan::arrow_fields(const RowFile& file) const {
  std::vector<int> fields;
  for (size_t column : columns_) {
    if (file.sources[column] >= 0) fields.push_back(static_cast<int>(file.sources[column]));
  }
  std::sort(fields.begin(), fields.end());
  fields.erase(std::unique(fields.begin(), fields.end()), fields.end());
  if (fields.empty() && file.fields > 0) fields.push_back(0);
  return fields;
}

Task<void> RowFileScan::read_arrow_file(size_t number) {
  const RowFile& file = table_.files[number];
  Task<std::shared_ptr<DataFile>> opening = open_data_file(storage_, file.path);
  std::shared_ptr<DataFile> opened = co_await opening;
  if (opened->size() != file.size)
    throw DataError(fmt::format("the file has changed: it had {} bytes, now {}", file.size, opened->size()),
                    {.file = file.path, .column = {}});
  auto open = [&] { return std::make_unique<ArrowSource>(opened, arrow_fields(file)); };
  std::unique_ptr<ArrowSource> source = co_await run_blocking(open, need_);
  int64_t largest = 0;
  for (int64_t block = 0; !stopped_; ++block) {
    const bool skips = (block + static_cast<int64_t>(number)) % share_.ranks != share_.rank;
    // The size of a batch is known only when it is read. Those of a file are usually alike.
    std::optional<Reservation> reserved;
    if (largest > 0 && !skips) {
      Task<Reservation> reserving = storage_.memory.reserve(largest, ReservationKind::Transient);
      reserved = co_await reserving;
    }
    auto read = [&] { return source->next(skips); };
    std::shared_ptr<arrow::RecordBatch> batch = co_await run_blocking(read, need_);
    if (batch == nullptr) co_return;
    if (skips || batch->num_rows() == 0) continue;
    // The columns are copies.
    const int64_t bytes = 2 * arrow::util::TotalBufferSize(*batch) + batch->num_rows() * 16 * static_cast<int64_t>(columns_.size());
    largest = std::max(largest, bytes);
    if (reserved && reserved->bytes() >= bytes) {
      reserved->shrink_to(bytes);
    } else {
      // Whoever holds transient memory must not wait for more.
      reserved.reset();
      Task<Reservation> reserving = storage_.memory.reserve(bytes, ReservationKind::Transient);
      reserved = co_await reserving;
    }
    auto memory = std::make_shared<const Reservation>(std::move(*reserved));
    RecordBlock cut{.file = &file, .bytes = {}, .batch = std::move(batch), .memory = std::move(memory)};
    Task<void> sending = blocks_->send(std::move(cut), 1);
    co_await sending;
  }
}

Chunk RowFileScan::batch_columns(const RecordBlock& block) const {
  const std::vector<int> fields = arrow_fields(*block.file);
  std::vector<Column> made;
  for (size_t column : columns_) {
    const RowFileColumn& described = table_.columns[column];
    const int64_t source = block.file->sources[column];
    if (source < 0) {
      made.push_back(outer_column(described, *block.file, column, block.batch->num_rows()));
      continue;
    }
    const auto place = std::lower_bound(fields.begin(), fields.end(), static_cast<int>(source)) - fields.begin();
    try {
      made.push_back(column_of_arrow(*block.batch->column(static_cast<int>(place)), described.type));
    } catch (const UserError& error) {
      throw DataError(error.message(), {.file = block.file->path, .column = described.name});
    }
  }
  return Chunk(std::move(made), block.batch->num_rows());
}

Task<void> RowFileScan::decode_batch(int lane, const RecordBlock& block, const std::function<Task<void>(int lane, Chunk chunk)>& consume) {
  Chunk whole;
  {
    AddedTime timer(counters_.nanoseconds, counters_.spans);
    whole = batch_columns(block);
  }
  const int64_t step = storage_.settings.chunk_rows;
  for (int64_t begin = 0; begin < whole.rows() && !stopped_; begin += step) {
    const int64_t rows = std::min(step, whole.rows() - begin);
    counters_.rows_scanned += rows;
    Task<void> consuming = consume(lane, whole.slice(begin, rows));
    co_await consuming;
  }
}

Task<void> RowFileScan::decode_blocks(int lane, const std::function<Task<void>(int lane, Chunk chunk)>& consume) {
  while (true) {
    Task<std::optional<RecordBlock>> receiving = blocks_->receive();
    const std::optional<RecordBlock> block = co_await receiving;
    if (!block) co_return;
    if (stopped_) continue;
    if (block->batch != nullptr) {
      Task<void> decoding = decode_batch(lane, *block, consume);
      co_await decoding;
      continue;
    }
    BlockDecoder decoder(table_, columns_, *block, table_rows_, policy_);
    while (!stopped_) {
      std::optional<Chunk> chunk;
      {
        AddedTime timer(counters_.nanoseconds, counters_.spans);
        chunk = decoder.next();
      }
      if (!chunk) break;
      counters_.rows_scanned += chunk->rows();
      if (chunk->rows() == 0) continue;
      Task<void> consuming = consume(lane, std::move(*chunk));
      co_await consuming;
    }
  }
}

Task<void> RowFileScan::run(int lanes, std::function<Task<void>(int lane, Chunk chunk)> consume) {
  blocks_ = std::make_unique<Channel<RecordBlock>>(lanes + 1);
  auto body = [&](TaskGroup& group) -> Task<void> {
    group.spawn(read_files());
    for (int lane = 0; lane < lanes; ++lane) group.spawn(decode_blocks(lane, consume));
    co_return;
  };
  Task<void> running = with_task_group(body);
  co_await running;
}

}  // namespace pistachio
