#include "exec/exchange/source_runs.h"

#include "base/error.h"

namespace pistachio {

SourceRuns::SourceRuns(ExchangeInput& input, int ranks, at::Device device, OperatorMetrics& metrics)
    : input_(input), copier_(device), metrics_(metrics), runs_(static_cast<size_t>(ranks)) {}

Task<std::optional<Chunk>> SourceRuns::next(int rank) {
  Run& run = runs_[static_cast<size_t>(rank)];
  while (!run.waiting.contains(run.next_number)) {
    if (run.has_ended && !run.waiting.empty()) throw PeerError(rank, "a message of a sorted run is missing");
    if (run.has_ended) co_return std::nullopt;
    Task<bool> receiving = receive_one();
    if (!co_await receiving) co_return std::nullopt;
  }
  auto found = run.waiting.find(run.next_number++);
  run.given = std::move(found->second);
  run.waiting.erase(found);
  WorkTimer timer(metrics_);
  metrics_.bytes += run.given->bytes;
  co_return ExchangeInput::unpack(*run.given, copier_);
}

void SourceRuns::release(int rank) {
  Run& run = runs_[static_cast<size_t>(rank)];
  if (!run.given) return;
  input_.release(*run.given);
  run.given.reset();
}

Task<bool> SourceRuns::receive_one() {
  Task<std::optional<ExchangeInput::Rows>> receiving = input_.receive_with_ends();
  std::optional<ExchangeInput::Rows> rows = co_await receiving;
  if (!rows) co_return false;
  Run& run = runs_[static_cast<size_t>(rows->source)];
  if (rows->is_end) {
    // The hub reports the end after all of the rank's rows.
    run.has_ended = true;
  } else {
    int64_t number = rows->number;
    int source = rows->source;
    bool is_new = number >= run.next_number && run.waiting.emplace(number, std::move(*rows)).second;
    if (!is_new) throw PeerError(source, "a message is damaged: its sequence number was already received");
  }
  co_return true;
}

}  // namespace pistachio
