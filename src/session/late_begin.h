// Tells a receiver of a result only when there is something to tell: with the first rows, or at the end of a query that gave none. A query
// that fails before its first row has then left no trace, and its error can stand in the place of the result. Called as the receiver is.
#pragma once

#include <vector>

#include "session/session.h"

namespace pistachio {

class LateBegin final : public ResultReceiver {
 public:
  explicit LateBegin(ResultReceiver& receiver) : receiver_(receiver) {}

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
