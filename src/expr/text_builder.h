// Builds a text column: a growing byte buffer and the end of each row. Polls the call's token each kBytesPerPoll bytes of output, without a
// test per value: the buffer's end that `reserve` compares with is moved up step by step. Used within one function call, by one thread.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <cstring>
#include <string_view>

#include "data/column.h"
#include "expr/argument_access.h"
#include "expr/work_poll.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

class TextBuilder {
 public:
  // `bytes` is an initial estimate; the buffer grows. `token` null: nothing stops it.
  TextBuilder(int64_t rows, int64_t bytes, const CancelToken* token = nullptr);

  void append(std::string_view text) {
    if (size_ + static_cast<int64_t>(text.size()) > limit_) [[unlikely]]
      return append_in_blocks(text);
    if (!text.empty()) std::memcpy(data_ + size_, text.data(), text.size());
    size_ += static_cast<int64_t>(text.size());
  }
  // Appends the text `times` times.
  void append_repeated(std::string_view text, int64_t times);
  void append(char byte) {
    *reserve(1) = byte;
    ++size_;
  }
  // Makes room to append `bytes` bytes; `commit` says how many were written.
  char* reserve(int64_t bytes) {
    if (size_ + bytes > limit_) [[unlikely]]
      extend(size_ + bytes);
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
  void append_in_blocks(std::string_view text);
  // Polls, and makes room for `bytes` bytes in all.
  void extend(int64_t bytes);
  void make_room(int64_t bytes);

  at::Tensor bytes_;
  at::Tensor begins_;
  at::Tensor ends_;
  char* data_;
  int64_t* begins_data_;
  int64_t* ends_data_;
  int64_t capacity_;
  int64_t limit_;  // of the size before the next poll; at most the capacity
  const CancelToken* token_;
  int64_t size_ = 0;
  int64_t row_ = 0;
  int64_t row_begin_ = 0;
};

// A column of the text that `body(row, builder)` appends for each row that counts.
template <typename Body>
Column build_text(const FunctionCall& call, int64_t bytes, const Body& body) {
  TextBuilder builder(call.rows, bytes, call.token);
  CountedRows counted(call);
  for (int64_t row = 0; row < call.rows; ++row) {
    if (counted[row]) body(row, builder);
    builder.end_row();
  }
  return builder.finish(call.result);
}

// The same where the work is not in proportion to the output: `body(row, builder, poll)`; `texts` are the arguments whose bytes it reads.
template <typename Body, typename... Texts>
Column build_polled_text(const FunctionCall& call, int64_t bytes, const Body& body, const Texts&... texts) {
  TextBuilder builder(call.rows, bytes, call.token);
  CountedRows counted(call);
  for_each_polled_row(
      call.rows, call.token, [&](int64_t row) { return (texts.length(row) + ...); },
      [&](int64_t row, auto& poll) {
        if (counted[row]) body(row, builder, poll);
        builder.end_row();
      });
  return builder.finish(call.result);
}

// A column of substrings that shares the bytes of `source`: `body(row, poll)` returns a view into the row's value; `others` are further
// arguments whose bytes it reads.
template <typename Body, typename... Texts>
Column share_text(const FunctionCall& call, const ArgumentText& source, const Body& body, const Texts&... others) {
  CountedRows counted(call);
  at::Tensor begins = at::empty({call.rows}, at::kLong);
  at::Tensor ends = at::empty({call.rows}, at::kLong);
  int64_t* begin = begins.mutable_data_ptr<int64_t>();
  int64_t* end = ends.mutable_data_ptr<int64_t>();
  for_each_polled_row(
      call.rows, call.token, [&](int64_t row) { return (source.length(row) + ... + others.length(row)); },
      [&](int64_t row, auto& poll) {
        std::string_view piece = counted[row] ? body(row, poll) : source[row].substr(0, 0);
        begin[row] = source.offset(piece.data());
        end[row] = begin[row] + static_cast<int64_t>(piece.size());
      });
  return Column::text(call.result, source.bytes(), std::move(begins), std::move(ends));
}

}  // namespace pistachio
