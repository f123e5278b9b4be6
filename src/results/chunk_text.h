// The values of a chunk as text, for formats that write them row by row, and what these formats share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/chunk.h"
#include "engine/result_receiver.h"
#include "results/column_text.h"
#include "results/result_sink.h"

namespace pistachio {

// As the value is.
void append_plain(std::string& target, std::string_view text, WorkPoll& poll);

// The columns of a chunk as text. Buffers are reused for the next chunk.
class ChunkText {
 public:
  explicit ChunkText(const ValueStyle& style) : style_(style) {}

  void assign(const Chunk& chunk, WorkPoll& poll) {
    columns_.resize(chunk.column_count(), ColumnText(style_));
    for (size_t i = 0; i < columns_.size(); ++i) columns_[i].assign(chunk.column(i), poll);
  }
  // Releases dictionaries, which belong to the query.
  void clear() { columns_.clear(); }
  const std::vector<ColumnText>& columns() const { return columns_; }
  size_t total_bytes() const {
    size_t total = 0;
    for (const ColumnText& column : columns_) total += column.total_bytes();
    return total;
  }

 private:
  ValueStyle style_;
  std::vector<ColumnText> columns_;
};

// A format that writes values as text. One value may be a gigabyte, so loops over its bytes poll the statement's token.
class TextResult : public ResultReceiver {
 public:
  // The sink outlives it.
  explicit TextResult(ResultSink& sink) : sink_(sink) {}
  void start(const CancelToken& token) override {
    token_ = token;
    sink_.set_token(token);
  }

 protected:
  ResultSink& sink_;
  WorkPoll poll_{&token_};

 private:
  CancelToken token_;
};

}  // namespace pistachio
