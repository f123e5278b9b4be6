// The fields of some records of a text block, for the wanted columns only: where each value is in the text. Filled by the parsers of
// records, read by field_conversion. One task at a time. Memory: 8 bytes per wanted field, bounded by `capacity`; covered by the block's
// reservation.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace pistachio {

struct FieldSpan {
  static constexpr uint32_t kQuoted = 1U << 31;   // text in quotes: empty is not missing
  static constexpr uint32_t kEscaped = 1U << 30;  // has escapes to resolve
  static constexpr uint32_t kSizeMask = kEscaped - 1;
  static constexpr uint32_t kMissing = UINT32_MAX;  // as `begin`: no value, NULL

  uint32_t begin = kMissing;
  uint32_t marked_size = 0;

  uint32_t size() const { return marked_size & kSizeMask; }
  bool is_missing() const { return begin == kMissing; }
  bool is_quoted() const { return (marked_size & kQuoted) != 0; }
  bool is_escaped() const { return (marked_size & kEscaped) != 0; }
  std::string_view in(std::string_view text) const { return is_missing() ? std::string_view() : text.substr(begin, size()); }
};

class FieldTable {
 public:
  FieldTable(size_t slots, int64_t capacity)
      : capacity_(capacity), spans_(slots * static_cast<size_t>(capacity)), records_(static_cast<size_t>(capacity)) {}

  static int64_t memory_bytes(size_t slots, int64_t capacity) {
    return static_cast<int64_t>(slots * sizeof(FieldSpan) + sizeof(uint32_t)) * capacity;
  }

  int64_t rows() const { return rows_; }
  bool is_full() const { return rows_ == capacity_; }
  void clear() { rows_ = 0; }

  // The row being filled. `set` may be called several times, or not at all after start_row.
  void start_row(uint32_t begin) { records_[static_cast<size_t>(rows_)] = begin; }
  void set(size_t slot, FieldSpan span) { column(slot)[rows_] = span; }
  void end_row() { ++rows_; }

  FieldSpan* column(size_t slot) { return spans_.data() + slot * static_cast<size_t>(capacity_); }
  const FieldSpan* column(size_t slot) const { return spans_.data() + slot * static_cast<size_t>(capacity_); }
  // Where the row's record begins in the block.
  uint32_t record(int64_t row) const { return records_[static_cast<size_t>(row)]; }

 private:
  int64_t capacity_;
  int64_t rows_ = 0;
  std::vector<FieldSpan> spans_;  // by slot, then row
  std::vector<uint32_t> records_;
};

}  // namespace pistachio
