#include "exec/core/merge_bounds.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <utility>

#include "columns/device_copy.h"
#include "exec/core/held_chunks.h"

namespace pistachio {

MergeBounds::MergeBounds(const RowOrder& order, std::vector<LogicalType> key_types, std::vector<RunPieces> runs, at::Device device,
                         const CancelToken& token)
    : runs_(std::move(runs)), device_(device), covered_of_(runs_.size()), named_of_(runs_.size()) {
  std::vector<Chunk> lasts;
  std::vector<Piece> unsorted;
  for (size_t run = 0; run < runs_.size(); ++run) {
    lasts.push_back(runs_[run].lasts);
    for (size_t number = 0; number < runs_[run].bytes.size(); ++number) unsorted.push_back({run, number});
  }
  if (unsorted.empty()) return;
  // Pieces with equal last keys stay in the order of runs and pieces, in which the merge outputs equal rows.
  const at::Tensor sorted = order.order_of_keys(concatenate_chunks(lasts, key_types, at::kCPU, token), token);
  const int64_t* places = sorted.const_data_ptr<int64_t>();
  for (size_t i = 0; i < unsorted.size(); ++i) pieces_.push_back(unsorted[static_cast<size_t>(places[i])]);
}

std::optional<MergeBound> MergeBounds::next(int64_t bytes) {
  if (covered_ == pieces_.size()) return std::nullopt;
  // Of the pieces that would be in memory: those that end within the round, and the next one of each run. A piece that ends within the
  // round was the next one of its run before, so only the one after it comes on top.
  int64_t held = 0;
  auto bytes_of_next = [&](size_t run) {
    return covered_of_[run] < runs_[run].bytes.size() ? runs_[run].bytes[covered_of_[run]] : int64_t{0};
  };
  for (size_t run = 0; run < runs_.size(); ++run) held += bytes_of_next(run);
  Piece last{};
  do {
    last = pieces_[covered_++];
    ++covered_of_[last.run];
    held += bytes_of_next(last.run);
  } while (covered_ < pieces_.size() && held <= bytes);
  MergeBound bound{to_device(runs_[last.run].lasts.slice(static_cast<int64_t>(last.number), 1), device_), last.run, {}};
  for (size_t run = 0; run < runs_.size(); ++run) {
    // The run of the bound is read up to it; in others, rows up to the bound may be in the piece after those that end before it.
    const size_t needed = run == last.run ? covered_of_[run] : std::min(covered_of_[run] + 1, runs_[run].bytes.size());
    const size_t read = std::max(needed, named_of_[run]);
    bound.pieces.push_back(read - named_of_[run]);
    named_of_[run] = read;
  }
  return bound;
}

}  // namespace pistachio
