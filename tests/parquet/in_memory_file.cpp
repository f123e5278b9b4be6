#include "tests/parquet/in_memory_file.h"

#include <algorithm>
#include <random>

#include "columns/device_copy.h"
#include "columns/row_selection.h"
#include "kernels/ops/tensor_functions.h"
#include "storage/device_decompression.h"
#include "storage/page_upload.h"

namespace pistachio::test {

namespace {

constexpr int64_t kFooterTailBytes = 8;  // length and magic

at::Tensor make_mask(int64_t rows, std::mt19937_64& random) {
  at::Tensor mask = at::empty({rows}, at::kBool);
  bool* keep = mask.mutable_data_ptr<bool>();
  bool in_run = random() % 2;
  for (int64_t row = 0; row < rows; ++row) {
    if (random() % 40 == 0) in_run = !in_run;
    keep[row] = in_run && random() % 8 != 0;
  }
  return mask;
}

}  // namespace

InMemoryFile::InMemoryFile(std::span<const uint8_t> bytes) : bytes_(bytes) {
  auto size = static_cast<int64_t>(bytes.size());
  int64_t tail = std::min(size, kFooterTailBytes);
  ByteRange place = locate_footer("memory", size, bytes.subspan(static_cast<size_t>(size - tail)));
  footer_ = parse_footer("memory", size, bytes.subspan(static_cast<size_t>(place.offset), static_cast<size_t>(place.length)));
}

std::unique_ptr<ColumnReader> InMemoryFile::reader_of(int column, int row_group, const Options& options) const {
  const ParquetColumn& description = footer_->columns.at(static_cast<size_t>(column));
  if (!description.is_supported()) throw UserError("column " + description.name + " cannot be read: " + description.unsupported);
  const RowGroupInfo& group = footer_->row_groups.at(static_cast<size_t>(row_group));
  const ColumnChunkInfo& chunk = group.columns.at(static_cast<size_t>(column));
  DataLocation where{"memory", row_group, description.name, -1};
  auto part = [&](ByteRange range) { return bytes_.subspan(static_cast<size_t>(range.offset), static_cast<size_t>(range.length)); };

  PageDirectory directory = options.use_offset_index && chunk.offset_index.length > 0
                                ? directory_from_offset_index(chunk, group.rows, part(chunk.offset_index), where)
                                : walk_pages(chunk, group.rows, part(chunk.pages), where);
  auto* begin = const_cast<uint8_t*>(part(chunk.pages).data());  // NOLINT: from_blob has no const form; nothing writes
  std::vector<FileBytes> bytes = {{chunk.pages.offset, at::from_blob(begin, {chunk.pages.length}, at::kByte)}};
  return std::make_unique<ColumnReader>(description, chunk, std::move(directory), std::move(bytes), where,
                                        ColumnReader::Options{});
}

InMemoryFile::WholeColumn InMemoryFile::read_together(int column, Options options, at::Device device) const {
  StagingArea staging(device);
  std::vector<ColumnPages> pages;
  std::vector<int64_t> rows;
  std::mt19937_64 random(options.mask_seed);
  for (size_t index = 0; index < footer_->row_groups.size(); ++index) {
    const RowGroupInfo& group = footer_->row_groups[index];
    std::unique_ptr<ColumnReader> reader = reader_of(column, static_cast<int>(index), options);
    RowRanges wanted;
    for (int64_t begin = 0; begin < group.rows;) {
      const int64_t length = options.mask_seed ? std::min<int64_t>(group.rows - begin, 1 + static_cast<int64_t>(random() % 300)) : group.rows;
      if (!options.mask_seed || random() % 3 != 0) {
        wanted.add(begin, begin + length);
        for (int64_t row = begin; row < begin + length; ++row) rows.push_back(group.first_row + row);
      }
      begin += length;
    }
    if (wanted.is_empty()) continue;
    pages.push_back(reader->prepare(wanted, staging));
  }
  const LogicalType type = footer_->columns[static_cast<size_t>(column)].type;
  if (pages.empty()) return {std::move(rows), empty_column(type, at::kCPU)};
  std::vector<ColumnPages*> uploaded;
  for (ColumnPages& unit : pages) uploaded.push_back(&unit);
  upload_pages(uploaded, device);
  const DeviceDecompression decompression(uploaded);
  const std::vector<const ColumnPages*> units(uploaded.begin(), uploaded.end());
  Column decoded = to_device(decode_together(units), at::kCPU);
  decompression.check();
  return {std::move(rows), std::move(decoded)};
}

std::vector<ReadStrip> InMemoryFile::read(int column, int row_group, Options options) const {
  std::unique_ptr<ColumnReader> reader = reader_of(column, row_group, options);
  const RowGroupInfo& group = footer_->row_groups[static_cast<size_t>(row_group)];
  std::vector<ReadStrip> strips;
  std::mt19937_64 random(options.mask_seed);
  for (int64_t first = 0; first < group.rows; first += options.strip_rows) {
    int64_t count = std::min(options.strip_rows, group.rows - first);
    at::Tensor mask = options.mask_seed ? make_mask(count, random) : at::Tensor();
    std::vector<int64_t> rows;
    for (int64_t row = 0; row < count; ++row) {
      if (!mask.defined() || mask.const_data_ptr<bool>()[row]) rows.push_back(first + row);
    }
    strips.push_back({first, std::move(rows), reader->read(first, count, mask)});
  }
  return strips;
}

}  // namespace pistachio::test
