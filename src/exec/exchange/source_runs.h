// Received rows of an exchange by source rank, in sending order. A single reader asks for the next rows of a given rank; rows of other ranks that arrive
// meanwhile are buffered, within their senders' windows.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "columns/device_copy.h"
#include "exec/core/operator.h"
#include "network/exchange_hub.h"

namespace pistachio {

class SourceRuns {
 public:
  SourceRuns(ExchangeInput& input, int ranks, at::Device device, OperatorMetrics& metrics);

  // The next rows of that rank; nullopt at its end.
  Task<std::optional<Chunk>> next(int rank);
  // The rows that next() last returned for that rank were consumed: gives their credit back to the sender.
  void release(int rank);

 private:
  struct Run {
    std::map<int64_t, ExchangeInput::Rows> waiting;  // by number: messages may arrive out of order
    int64_t next_number = 0;
    std::optional<ExchangeInput::Rows> given;  // last returned by next(), not yet released
    bool has_ended = false;
  };
  // False once all ranks have ended.
  Task<bool> receive_one();

  ExchangeInput& input_;
  ChunkCopier copier_;
  OperatorMetrics& metrics_;
  std::vector<Run> runs_;
};

}  // namespace pistachio
