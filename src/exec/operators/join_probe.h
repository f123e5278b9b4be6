// Matches rows of a join's left input with its build side. Called by any lane.
#pragma once

#include <optional>

#include "exec/operators/build_side.h"
#include "expr/expression_evaluator.h"

namespace pistachio {

class JoinProbe final : public ChunkSink {
 public:
  // All arguments outlive it.
  JoinProbe(const JoinShape& shape, BuildSide& build, const RunContext& context, OperatorMetrics& metrics, ChunkSink& next);

  bool is_full() const override { return next_.is_full(); }
  Task<void> consume(int lane, Chunk chunk) override;

  // For a build side in several parts, each with its own probe: what the previous parts found out about a chunk's rows.
  struct LeftState {
    at::Tensor matched;  // bool [rows]; undefined if the join does not ask for it
    at::Tensor unknown;  // bool [rows]; undefined unless the join gives a mark
  };
  LeftState no_matches(int64_t rows) const;
  // Outputs the matches of the rows in this build side.
  Task<void> match(int lane, const Chunk& chunk, LeftState& state);
  // Outputs the rows that depend on whether there was a match in any part.
  Task<void> finish(int lane, const Chunk& chunk, const LeftState& state);

 private:
  struct Pairs : RowPairs {
    // Mark join: left rows of pairs whose comparison is unknown.
    at::Tensor unknown_left;
  };

  // A condition on pairs, with the indexes of the columns it uses.
  struct PairCondition {
    std::vector<size_t> left;
    std::vector<size_t> right;
    ExpressionEvaluator evaluator;
  };

  static std::optional<PairCondition> make_condition(const JoinShape& shape, const std::vector<ExpressionPtr>& conditions);
  // Null: the matched rows are known already.
  std::unique_ptr<JoinCandidates::Search> start(const Chunk& chunk, LeftState& state, const CancelToken& token) const;
  Task<void> probe_matches(int lane, const Chunk& chunk, JoinCandidates::Search& search, LeftState& state);
  Task<void> process_pairs(int lane, const Chunk& chunk, const RowPairs& found, LeftState& state);
  Pairs test(const Chunk& chunk, RowPairs found, const CancelToken& token) const;
  void compare(const Chunk& chunk, Pairs& pairs, const CancelToken& token) const;
  Chunk gather(const Chunk& chunk, const Pairs& pairs, const std::vector<size_t>& left, const std::vector<size_t>& right) const;
  Chunk pair_chunk(const Chunk& chunk, const Pairs& pairs) const;
  std::vector<Column> left_columns(const Chunk& chunk, const at::Tensor& mask) const;
  // Can be repeated if it throws OutOfMemory. Returns true.
  bool note(const Pairs& pairs, LeftState& state, int lane);
  Chunk rows_by_match(const Chunk& chunk, const LeftState& state) const;

  const JoinShape& shape_;
  BuildSide& build_;
  OperatorMetrics& metrics_;
  const RunContext& context_;
  ChunkSink& next_;
  const int64_t most_pairs_;
  const at::TensorOptions flags_;
  const bool needs_no_pairs_;
  const std::optional<PairCondition> conditions_;
  const std::optional<PairCondition> comparisons_;
};

}  // namespace pistachio
