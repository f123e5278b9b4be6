#include "storage/device_scan.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/task_group.h"
#include "columns/concatenate_columns.h"
#include "columns/device_copy.h"
#include "columns/row_selection.h"
#include "kernels/ops/compress.h"
#include "kernels/ops/deferred_checks.h"
#include "kernels/ops/device_waits.h"
#include "storage/column_filter.h"
#include "storage/page_upload.h"
#include "storage/unit_memory.h"

namespace pistachio {

namespace {

// A batch is copied, then decompressed and decoded. So that the copies of some overlap with the kernels of others, a scan is cut into
// several batches per lane, unless they would be too small to keep the device busy.
constexpr int64_t kBatchesPerLane = 3;
constexpr int64_t kMinBatchBytes = 48 << 20;
// Compressed and decompressed pages, decoded columns, and the rows that pass the filters.
constexpr int64_t kBytesPerDecodedByte = 3;
// If operators may retain as many times what a batch needs, there is enough even if free memory is scattered over many blocks.
constexpr int64_t kAmple = 4;

const UnitPages::UnitColumn& column_of(const UnitPages& unit, size_t column) {
  auto found = std::find_if(unit.columns.begin(), unit.columns.end(), [&](const auto& own) { return own.column == column; });
  ENSURE(found != unit.columns.end());
  return *found;
}

// Files of one table may differ in how they store a column.
bool are_stored_alike(const ParquetColumn& left, const ParquetColumn& right) {
  return left.physical == right.physical && left.conversion == right.conversion && left.max_definition == right.max_definition &&
         left.fixed_width == right.fixed_width && left.only_nulls == right.only_nulls && left.micros_to_nanos == right.micros_to_nanos &&
         left.type == right.type;
}

// Pages of one column that can be decoded together. Files of one table may also differ in their codec: the pages of one file may be
// decompressed on the device, into a separate buffer, while the pages of another are not.
class AlikePages {
 public:
  bool fits(const ColumnPages& unit) const {
    return units_.empty() || (are_stored_alike(*units_[0]->column, *unit.column) && is_in_buffer(data_, unit.data) &&
                              is_in_buffer(dictionaries_, unit.dictionary));
  }

  void add(const ColumnPages& unit) {
    units_.push_back(&unit);
    if (!unit.data.pages.empty()) data_ = unit.data.bytes;
    if (!unit.dictionary.pages.empty()) dictionaries_ = unit.dictionary.bytes;
  }

  std::vector<const ColumnPages*> take() {
    data_.reset();
    dictionaries_.reset();
    return std::exchange(units_, {});
  }

 private:
  static bool is_in_buffer(const at::Tensor& buffer, const PageBatch& batch) {
    return !buffer.defined() || batch.pages.empty() || batch.bytes.is_same(buffer);
  }

  std::vector<const ColumnPages*> units_;
  at::Tensor data_;          // the buffer of all data pages
  at::Tensor dictionaries_;  // and of all dictionary pages
};

}  // namespace

DeviceScan::DeviceScan(StorageContext& storage, const ScanPlan& plan, ScanCounters& counters, UnitSource* source, at::Device device)
    : plan_(plan),
      counters_(counters),
      device_(device),
      chunk_bytes_(storage.settings.device_chunk_bytes),
      overlaps_(storage.settings.overlap),
      streams_(storage.lane_streams),
      relief_(storage.device_relief),
      staging_(device, storage.settings.pinned_memory ? StagingArea::Memory::Pinned : StagingArea::Memory::Pageable),
      scan_(storage, plan, counters, source, &staging_),
      staged_(2 * chunk_bytes_),
      decoded_(chunk_bytes_) {}

int64_t DeviceScan::decoded_bytes(const UnitPages& unit) const {
  int64_t row_bytes = 1;
  for (const UnitPages::UnitColumn& own : unit.columns) row_bytes += own.pages ? decoded_row_bytes(*own.pages->column) : 16;
  return row_bytes * unit.rows;
}

// `unit` is typical of the scan.
int64_t DeviceScan::batch_bytes(const UnitPages& unit) const {
  const int64_t all = decoded_bytes(unit) * static_cast<int64_t>(plan_.units.size());
  return std::min(chunk_bytes_, std::max(kMinBatchBytes, all / (kBatchesPerLane * decoders_)));
}

// Does not wait for the device.
DeviceDecompression DeviceScan::upload(std::vector<UnitPages>& units) const {
  std::vector<ColumnPages*> pages;
  for (UnitPages& unit : units) {
    for (UnitPages::UnitColumn& own : unit.columns) {
      if (own.pages) pages.push_back(&*own.pages);
      if (own.decoded) own.decoded = to_device(*own.decoded, device_);
    }
  }
  upload_pages(pages, device_);
  return DeviceDecompression(pages);
}

Task<void> DeviceScan::read_units(ScanLane& lane) {
  while (true) {
    Task<std::optional<UnitPages>> taking = lane.next_pages();
    std::optional<UnitPages> unit = co_await taking;
    if (!unit) co_return;
    int64_t bytes = decoded_bytes(*unit);
    Task<void> sending = staged_.send(std::move(*unit), bytes);
    co_await sending;
  }
}

Task<void> DeviceScan::read_all(int readers) {
  Task<void> reading = scan_.run(readers, [this](ScanLane& lane) { return read_units(lane); });
  co_await reading;
  staged_.close();
}

// None at the end.
Task<std::vector<UnitPages>> DeviceScan::next_units() {
  std::vector<UnitPages> units;
  Task<std::optional<UnitPages>> receiving = staged_.receive();
  std::optional<UnitPages> unit = co_await receiving;
  if (!unit) co_return units;
  // Take whatever arrived while the device was busy. A small batch means that the query is read-bound, so waiting for more would not help.
  const int64_t most_bytes = batch_bytes(*unit);
  for (int64_t bytes = 0; unit;) {
    bytes += decoded_bytes(*unit);
    units.push_back(std::move(*unit));
    unit = bytes < most_bytes ? staged_.take() : std::nullopt;
  }
  co_return units;
}

// Throws OutOfMemory if there is not enough memory to decode the units.
void DeviceScan::ensure_free_memory(std::span<const UnitPages> units, const LaneStream& stream) const {
  int64_t bytes = 0;
  for (const UnitPages& unit : units) bytes += kBytesPerDecodedByte * decoded_bytes(unit);
  if (!relief_.has_room || relief_.has_room(kAmple * bytes)) return;
  const OnLaneStream on_stream(stream);
  // The allocator keeps the block for the tensors that follow.
  at::empty({bytes}, at::TensorOptions(at::kByte).device(device_));
}

// All units at once if memory suffices.
Task<void> DeviceScan::decode_in_parts(std::vector<UnitPages> units, const LaneStream& stream) {
  size_t most = units.size();
  for (size_t begin = 0; begin < units.size();) {
    const size_t count = std::min(most, units.size() - begin);
    bool fits = true;
    try {
      ensure_free_memory(std::span(units).subspan(begin, count), stream);
    } catch (const OutOfMemory&) {
      fits = false;
    }
    if (!fits) {
      Task<void> relieving = relief_.relieve();
      co_await relieving;
      most = (count + 1) / 2;
      // A single unit may need less than expected.
      if (count > 1) continue;
    }
    const auto first = units.begin() + static_cast<std::ptrdiff_t>(begin);
    std::vector<UnitPages> part(std::make_move_iterator(first), std::make_move_iterator(first + static_cast<std::ptrdiff_t>(count)));
    begin += count;
    Chunk chunk = decode(std::move(part), stream);
    if (chunk.rows() == 0) continue;
    Task<void> sending = decoded_.send(std::move(chunk), chunk_bytes_);
    co_await sending;
  }
}

Column DeviceScan::decode_column(const std::vector<UnitPages>& units, size_t column) const {
  std::vector<Column> pieces;
  AlikePages alike;
  auto decode_alike = [&] {
    const std::vector<const ColumnPages*> taken = alike.take();
    if (!taken.empty()) pieces.push_back(decode_together(taken));
  };
  for (const UnitPages& unit : units) {
    const UnitPages::UnitColumn& own = column_of(unit, column);
    if (own.decoded) {
      decode_alike();
      pieces.push_back(*own.decoded);
      continue;
    }
    if (!alike.fits(*own.pages)) decode_alike();
    alike.add(*own.pages);
  }
  decode_alike();
  return concatenate_coded(pieces);
}

Chunk DeviceScan::decode(std::vector<UnitPages> units, const LaneStream& stream) {
  const OnLaneStream on_stream(stream);
  const kernels::DeviceWaitPlace place(counters_.device_waits);
  const DeviceDecompression decompression = upload(units);
  if (!overlaps_) stream.wait();
  std::optional<Chunk> chunk;
  try {
    chunk = kernels::with_deferred_checks(device_, [&] { return decode_uploaded(units); });
  } catch (const DataError&) {
    decompression.check();  // a damaged block explains everything that decoding found in its page
    throw;
  }
  decompression.check();
  counters_.rows_selected += chunk->rows();
  on_stream.hand_over(*chunk);
  return std::move(*chunk);
}

Chunk DeviceScan::decode_uploaded(const std::vector<UnitPages>& units) const {
  int64_t rows = 0;
  for (const UnitPages& unit : units) rows += unit.rows;
  std::map<size_t, Column> decoded;
  at::Tensor mask;  // rows that passed; undefined: all
  auto column = [&](size_t number) -> const Column& {
    auto found = decoded.find(number);
    if (found != decoded.end()) return found->second;
    Column made = decode_column(units, number);
    return decoded.emplace(number, std::move(made)).first->second;
  };
  for (const ScanFilter& filter : plan_.filters) {
    FilterOutcome outcome = evaluate_filter(column(filter.column), filter.filter);
    if (outcome.none) return Chunk({}, 0, device_);
    if (outcome.all) continue;
    mask = mask.defined() ? mask.logical_and_(outcome.mask) : outcome.mask.clone();
  }
  const int64_t selected = mask.defined() ? kernels::count_true(mask) : rows;
  std::vector<Column> columns;
  if (selected == 0) return Chunk({}, 0, device_);
  for (size_t number : plan_.output_columns) columns.push_back(mask.defined() ? select_rows(column(number), mask, selected) : column(number));
  return Chunk(std::move(columns), selected, device_);
}

Task<void> DeviceScan::decode_units() {
  const LaneStream stream(streams_, device_);
  while (true) {
    Task<std::vector<UnitPages>> taking = next_units();
    std::vector<UnitPages> units = co_await taking;
    if (units.empty()) break;
    Task<void> decoding = decode_in_parts(std::move(units), stream);
    co_await decoding;
  }
  if (--decoding_ == 0) decoded_.close();
}

Task<void> DeviceScan::read_and_decode_units(ScanLane& lane) {
  const LaneStream stream(streams_, device_);
  while (true) {
    Task<std::optional<UnitPages>> taking = lane.next_pages();
    std::optional<UnitPages> unit = co_await taking;
    if (!unit) co_return;
    std::vector<UnitPages> units;
    units.push_back(std::move(*unit));
    Chunk chunk = decode(std::move(units), stream);
    stream.wait();
    if (chunk.rows() == 0) continue;
    Task<void> sending = decoded_.send(std::move(chunk), chunk_bytes_);
    co_await sending;
  }
}

Task<void> DeviceScan::read_and_decode_all(int lanes) {
  Task<void> running = scan_.run(lanes, [this](ScanLane& lane) { return read_and_decode_units(lane); });
  co_await running;
  decoded_.close();
}

Task<void> DeviceScan::run(Lanes lanes, std::function<Task<void>(int lane, Chunk chunk)> consume) {
  auto drive = [&](int lane) -> Task<void> {
    while (true) {
      Task<std::optional<Chunk>> receiving = decoded_.receive();
      std::optional<Chunk> chunk = co_await receiving;
      if (!chunk) co_return;
      Task<void> consuming = consume(lane, std::move(*chunk));
      co_await consuming;
    }
  };
  std::vector<Task<void>> tasks;
  if (overlaps_) {
    decoders_ = lanes.decoders;
    decoding_ = lanes.decoders;
    tasks.push_back(read_all(lanes.readers));
    for (int lane = 0; lane < lanes.decoders; ++lane) tasks.push_back(decode_units());
  } else {
    tasks.push_back(read_and_decode_all(lanes.decoders));
  }
  for (int lane = 0; lane < lanes.consumers; ++lane) tasks.push_back(drive(lane));
  Task<void> running = when_all(std::move(tasks));
  co_await running;
}

}  // namespace pistachio
