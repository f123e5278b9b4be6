// Receives the result of a statement.
#pragma once

#include <string>
#include <vector>

#include "base/cancel_token.h"
#include "data/chunk.h"
#include "data/logical_type.h"

namespace pistachio {

struct ResultColumn {
  std::string name;
  LogicalType type;
  bool is_report = false;  // lines for people or for a program, such as a plan: printed as they are where no format is asked for
};

// Takes the result of a statement: begin, chunks, then end or, after an error, break_off. Called from one thread at a time, not always the
// same. A statement that fails before its first row calls nothing.
class ResultReceiver {
 public:
  virtual ~ResultReceiver() = default;
  // A statement starts under this token, whether or not it has a result: a receiver that waits, such as for a stalled reader, stops
  // waiting and throws Cancelled when the token is cancelled or its deadline has passed.
  virtual void start(const CancelToken&) {}
  virtual void begin(const std::vector<ResultColumn>& columns) = 0;
  virtual void add(const Chunk& chunk) = 0;
  virtual void end() = 0;
  // No more will come. What was given so far may be out already; whatever is written next must be told apart from it.
  virtual void break_off() {}
  // True: a statement whose * would leave out columns that cannot be read fails.
  virtual bool needs_every_column() const { return false; }
};

}  // namespace pistachio
