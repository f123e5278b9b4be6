#include "tests/parquet/file_mutator.h"

#include <arrow/io/memory.h>
#include <fmt/format.h>
#include <parquet/file_reader.h>

#include <algorithm>
#include <cstring>
#include <random>

namespace pistachio::test {

namespace {

constexpr size_t kFooterTail = 8;    // length and magic
constexpr size_t kHeaderBytes = 24;  // about a page header
constexpr size_t kFrontOfPage = 40;  // header, level length, first run

void overwrite(std::vector<uint8_t>& bytes, size_t offset, const std::vector<uint8_t>& with) {
  for (size_t i = 0; i < with.size() && offset + i < bytes.size(); ++i) bytes[offset + i] = with[i];
}

// Numbers that break careless arithmetic, as 32 and 64 bits little-endian and as Thrift varints (zigzag: even is positive).
const std::vector<std::vector<uint8_t>>& hostile_numbers() {
  static const std::vector<std::vector<uint8_t>> numbers = {
      {0xff, 0xff, 0xff, 0x7f},
      {0xff, 0xff, 0xff, 0xff},
      {0x00, 0x00, 0x00, 0x80},
      {0x00, 0x00, 0x00, 0x40},
      {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
      {0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80},
      {0xfe, 0xff, 0xff, 0xff, 0x0f},                                // varint 2^31 - 1
      {0xff, 0xff, 0xff, 0xff, 0x0f},                                // varint -2^31
      {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01},  // varint 2^63 - 1
      {0x80, 0x80, 0x80, 0x80, 0x10},                                // varint 2^31
      {0x00},
      {0x01},
      {0x7f},
      {0xff},
  };
  return numbers;
}

}  // namespace

FileMutator::FileMutator(std::shared_ptr<arrow::Buffer> file) : file_(std::move(file)) {
  uint32_t footer_bytes = 0;
  auto size = static_cast<size_t>(file_->size());
  std::memcpy(&footer_bytes, file_->data() + size - kFooterTail, sizeof(footer_bytes));
  footer_begin_ = size - kFooterTail - footer_bytes;
  auto reader = parquet::ParquetFileReader::Open(std::make_shared<arrow::io::BufferReader>(file_));
  auto metadata = reader->metadata();
  for (int group = 0; group < metadata->num_row_groups(); ++group) {
    auto row_group = metadata->RowGroup(group);
    for (int column = 0; column < row_group->num_columns(); ++column) {
      auto chunk = row_group->ColumnChunk(column);
      chunk_begins_.push_back(static_cast<size_t>(chunk->data_page_offset()));
      if (chunk->has_dictionary_page()) chunk_begins_.push_back(static_cast<size_t>(chunk->dictionary_page_offset()));
    }
  }
}

FileMutator::Place FileMutator::choose_place(uint64_t random, uint64_t second) const {
  auto size = static_cast<size_t>(file_->size());
  switch (random % 10) {
    case 0:
    case 1:
    case 2: return {footer_begin_ + second % (size - footer_begin_), "footer"};
    case 3: return {size - 1 - second % kFooterTail, "end of file"};
    case 4:
    case 5:
      if (!chunk_begins_.empty()) {
        size_t begin = chunk_begins_[(second >> 8) % chunk_begins_.size()];
        return {std::min(size - 1, begin + second % kHeaderBytes), "page header"};
      }
      [[fallthrough]];
    case 6:
      if (!chunk_begins_.empty()) {
        size_t begin = chunk_begins_[(second >> 8) % chunk_begins_.size()];
        return {std::min(size - 1, begin + second % kFrontOfPage), "front of a page"};
      }
      [[fallthrough]];
    default: return {second % size, "anywhere"};
  }
}

FileMutator::Mutant FileMutator::mutate(uint64_t seed) const {
  std::mt19937_64 random(seed);
  Mutant mutant{{file_->data(), file_->data() + file_->size()}, ""};
  auto& bytes = mutant.bytes;
  int rounds = random() % 4 == 0 ? 1 + static_cast<int>(random() % 5) : 1;
  for (int round = 0; round < rounds && !bytes.empty(); ++round) {
    uint64_t first = random();
    Place place = choose_place(first, random());
    size_t at = std::min(place.offset, bytes.size() - 1);
    auto position = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    const char* what = "";
    switch (random() % 12) {
      case 0:
      case 1:
      case 2:
        what = "flip a bit";
        bytes[at] = static_cast<uint8_t>(bytes[at] ^ (1u << random() % 8));
        break;
      case 3:
      case 4:
        what = "overwrite a byte";
        bytes[at] = static_cast<uint8_t>(random());
        break;
      case 5: {
        what = "overwrite bytes";
        std::vector<uint8_t> noise(1 + random() % 16);
        for (auto& byte : noise) byte = static_cast<uint8_t>(random());
        overwrite(bytes, at, noise);
        break;
      }
      case 6:
      case 7:
      case 8:
        what = "hostile number";
        overwrite(bytes, at, hostile_numbers()[random() % hostile_numbers().size()]);
        break;
      case 9:
        what = "insert bytes";
        bytes.insert(position, 1 + random() % 9, static_cast<uint8_t>(random()));
        break;
      case 10: {
        what = "splice";
        size_t from = random() % bytes.size();
        size_t length = std::min<size_t>({1 + random() % 200, bytes.size() - from, bytes.size() - at});
        std::memmove(bytes.data() + at, bytes.data() + from, length);
        break;
      }
      default:
        if (random() % 2) {
          what = "truncate";
          bytes.resize(at);
        } else {
          what = "remove bytes";
          bytes.erase(position, position + static_cast<std::ptrdiff_t>(std::min<size_t>(1 + random() % 9, bytes.size() - at)));
        }
    }
    mutant.what += fmt::format("{}{} at {} ({})", round ? ", " : "", what, at, place.name);
  }
  return mutant;
}

}  // namespace pistachio::test
