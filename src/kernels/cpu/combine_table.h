// The inner loops of combine_rows and combine_flush, on raw memory; ops/combine_rows.h describes rows and table. One thread per table.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/ops/merge_op.h"

namespace pistachio::kernels::cpu {

struct CombineTable {
  uint64_t* entries;  // slots * width words
  int64_t slots;
};

struct CombineProgress {
  int64_t evicted;
  int64_t merged;
  bool overflow;  // an AddInt128 overflowed: the rows are invalid
};

// `evicted` has room for all rows.
CombineProgress combine_into(CombineTable table, const uint64_t* rows, int64_t count, int64_t key_words, std::span<const MergeOp> merges,
                             uint64_t* evicted);
// The entries in the slots [begin, end) whose hashes have these low bits.
struct EntryChoice {
  int64_t begin;
  int64_t end;
  uint64_t low_mask;
  uint64_t value;
};

// Moves these rows out and returns their number; `rows` has room for all chosen slots.
int64_t take_entries(CombineTable table, int64_t width, const EntryChoice& chosen, uint64_t* rows);

}  // namespace pistachio::kernels::cpu
