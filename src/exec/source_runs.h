// The rows of an exchange by the rank they come from, each rank's in the order it sent them. For one reader: it asks for the next rows of a
// rank, and what comes of others in the meantime waits here, within the windows of its senders.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "exec/operator.h"
#include "network/exchange_hub.h"

namespace pistachio {

class SourceRuns {
 public:
  SourceRuns(ExchangeInput& input, int ranks, at::Device device, OperatorMetrics& metrics);

  // The next rows of that rank; nothing at its end.
  Task<std::optional<Chunk>> next(int rank);
  // The rows that next() gave last for that rank are worked up.
  void release(int rank);

 private:
  struct Run {
    std::map<int64_t, ExchangeInput::Rows> waiting;  // by number: messages may overtake each other
    int64_t next_number = 0;
    std::optional<ExchangeInput::Rows> given;  // to be released
    bool has_ended = false;
  };
  // False at the end of everything.
  Task<bool> receive_one();

  ExchangeInput& input_;
  at::Device device_;
  OperatorMetrics& metrics_;
  std::vector<Run> runs_;
};

}  // namespace pistachio
