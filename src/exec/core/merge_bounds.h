// Divides the merge of sorted runs on disk into rounds. The last key of every piece is known, so a round can cover many pieces: it outputs
// the rows up to the last key of one of them, and needs besides only the one piece of each other run that this key falls into. Without
// these keys each round would cover a single piece, and rounds cost the same however few rows they have.
#pragma once

#include <optional>
#include <vector>

#include "exec/core/row_order.h"
#include "exec/core/sorted_merge.h"

namespace pistachio {

class MergeBounds {
 public:
  // For each run: the keys of the last rows of its pieces, in host memory, and the bytes of the pieces.
  struct RunPieces {
    Chunk lasts;
    std::vector<int64_t> bytes;
  };
  MergeBounds(const RowOrder& order, std::vector<LogicalType> key_types, std::vector<RunPieces> runs, at::Device device,
              const CancelToken& token);

  // Of a round that holds about so many bytes, and at least those of one piece of each run. Nullopt once all pieces were named.
  std::optional<MergeBound> next(int64_t bytes);

 private:
  struct Piece {
    size_t run;
    size_t number;
  };

  std::vector<RunPieces> runs_;
  at::Device device_;
  std::vector<Piece> pieces_;       // by their last keys
  size_t covered_ = 0;              // of pieces_
  std::vector<size_t> covered_of_;  // the same by run
  std::vector<size_t> named_of_;    // pieces that rounds up to now read, by run
};

}  // namespace pistachio
