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
  bool is_report = false;  // lines for people or programs, such as a plan: printed verbatim unless a format is requested
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
  // The result ends here. What was received so far may already be written; separate any later output from it.
  virtual void break_off() {}
  // True if a statement whose * would omit unreadable columns must fail.
  virtual bool needs_every_column() const { return false; }
};

}  // namespace pistachio
