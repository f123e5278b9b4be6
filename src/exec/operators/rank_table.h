// The table of a join on one integer key whose build values have a limited range: build rows are found by the rank of their key
// (kernels/ops/key_ranks.h), which takes no hash and no comparison. Unique keys need one build row per rank, and none of them if the rows
// are in the order of their keys; a join that only asks whether a match exists needs the set of keys alone. On the CPU only. Immutable once
// built and shared by all lanes. Reserves its memory before it is built.
#pragma once

#include "exec/operators/join_candidates.h"
#include "exec/operators/join_table.h"

namespace pistachio {

// What a join asks of its candidates.
enum class KeyMatches {
  All,  // pairs with all build rows of equal key
  Any,  // whether there is one: pairs with the group of build rows of equal key
};

class RankTable {
 public:
  // Most bytes per build row.
  static constexpr int64_t kBytesPerRow = 16 + JoinTable::kBytesPerRow;

  // Null if ranks do not suit the build side. One of the build functions must follow.
  static std::unique_ptr<RankTable> make(const Column& build_key, KeyMatches matches, const MemoryAccount& account);

  void build(const CancelToken& token);
  // The same, on all lanes if there are many rows.
  Task<void> build_on_lanes(RunContext& context, OperatorMetrics& metrics);

  // Both require a plain column of integers. The table must outlive the search.
  std::unique_ptr<JoinCandidates::Search> search(const Column& left_key) const;
  at::Tensor rows_with_candidates(const Column& left_key) const;
  // KeyMatches::Any: int64, the group of each build row. Rows with a NULL have one that no left row finds.
  at::Tensor groups() const;

 private:
  class RankSearch;
  RankTable(Column build_key, KeyMatches matches, int64_t least, at::Tensor ranks, Reservation memory);

  void add(int64_t begin, int64_t rows);
  bool place(int64_t begin, int64_t rows);
  // After all keys were added. Returns whether the keys are unique.
  bool close();
  void take_order(bool is_in_order);
  RowHashes rank_hashes() const;
  void take_table(JoinTable table);
  void release_unused();

  std::optional<Column> build_key_;  // until the table is built; KeyMatches::Any: for groups()
  const KeyMatches matches_;
  const int64_t least_;
  Reservation memory_;
  at::Tensor ranks_;
  int64_t keys_ = 0;    // distinct
  at::Tensor offsets_;  // undefined: keys are unique
  at::Tensor order_;    // undefined: row numbers are ranks
};

}  // namespace pistachio
