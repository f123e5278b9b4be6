// Defers begin() of a result receiver until the first rows, or the end of an empty result. A query that fails before its first row then
// leaves no output, and its error can take the place of the result. Same threading as the receiver.
#pragma once

#include <vector>

#include "session/session.h"

namespace pistachio {

class DeferredBegin final : public ResultReceiver {
 public:
  explicit DeferredBegin(ResultReceiver& receiver) : receiver_(receiver) {}

  void begin(const std::vector<ResultColumn>& columns) override { columns_ = columns; }
  void add(const Chunk& chunk) override {
    if (chunk.rows() == 0) return;
    begin_now();
    receiver_.add(chunk);
  }
  void end() override {
    begin_now();
    receiver_.end();
  }
  void break_off() override {
    if (has_begun_) receiver_.break_off();
  }

 private:
  void begin_now() {
    if (!has_begun_) receiver_.begin(columns_);
    has_begun_ = true;
  }

  ResultReceiver& receiver_;
  std::vector<ResultColumn> columns_;
  bool has_begun_ = false;
};

}  // namespace pistachio
