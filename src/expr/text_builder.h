// Builds a text column: a growing byte buffer and the end of each row. Used within one function call, by one thread.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <cstring>
#include <string_view>

#include "data/column.h"
#include "expr/argument_access.h"

namespace pistachio {

class TextBuilder {
 public:
  // `bytes` is an initial estimate; the buffer grows.
  TextBuilder(int64_t rows, int64_t bytes);

  void append(std::string_view text) {
    char* to = reserve(static_cast<int64_t>(text.size()));
    if (!text.empty()) std::memcpy(to, text.data(), text.size());
    size_ += static_cast<int64_t>(text.size());
  }
  void append(char byte) {
    *reserve(1) = byte;
    ++size_;
  }
  // Makes room to append `bytes` bytes; `commit` says how many were written.
  char* reserve(int64_t bytes) {
    if (size_ + bytes > capacity_) grow(size_ + bytes);
    return data_ + size_;
  }
  void commit(int64_t bytes) { size_ += bytes; }
  void end_row() {
    begins_data_[row_] = row_begin_;
    ends_data_[row_++] = size_;
    row_begin_ = size_;
  }

  // Call it after `end_row` for every row.
  Column finish(LogicalType type);

 private:
  void grow(int64_t bytes);

  at::Tensor bytes_;
  at::Tensor begins_;
  at::Tensor ends_;
  char* data_;
  int64_t* begins_data_;
  int64_t* ends_data_;
  int64_t capacity_;
  int64_t size_ = 0;
  int64_t row_ = 0;
  int64_t row_begin_ = 0;
};

// A column of the text that `body(row, builder)` appends for each row that counts.
template <typename Body>
Column build_text(const FunctionCall& call, int64_t bytes, const Body& body) {
  TextBuilder builder(call.rows, bytes);
  CountedRows counted(call);
  for (int64_t row = 0; row < call.rows; ++row) {
    if (counted[row]) body(row, builder);
    builder.end_row();
  }
  return builder.finish(call.result);
}

// A column of substrings that shares the bytes of `source`: `body(row)` returns a view into the row's value.
template <typename Body>
Column share_text(const FunctionCall& call, const ArgumentText& source, const Body& body) {
  CountedRows counted(call);
  at::Tensor begins = at::empty({call.rows}, at::kLong);
  at::Tensor ends = at::empty({call.rows}, at::kLong);
  int64_t* begin = begins.mutable_data_ptr<int64_t>();
  int64_t* end = ends.mutable_data_ptr<int64_t>();
  for (int64_t row = 0; row < call.rows; ++row) {
    std::string_view piece = counted[row] ? body(row) : source[row].substr(0, 0);
    begin[row] = source.offset(piece.data());
    end[row] = begin[row] + static_cast<int64_t>(piece.size());
  }
  return Column::text(call.result, source.bytes(), std::move(begins), std::move(ends));
}

}  // namespace pistachio
