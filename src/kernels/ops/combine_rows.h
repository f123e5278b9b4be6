// Merges rows of equal key in transit to another host, in a table of fixed size that evicts rows when slots collide: partial aggregates,
// or the keys of DISTINCT. Duplicates may remain, which the final aggregation merges: merging the rows that leave the table yields the same
// as merging the rows that entered it, apart from the rounding of doubles.
//   rows       int64 [n, width], width = 1 + key_words + the words of the merges. Word 0 is a hash, any value, with well-mixed high bits;
//              then the key, then the state. key_words is 0 where equal hashes mean equal keys, as with hash64 of an integer
//   merges     one per state value. A minimum or maximum without a value yet holds a value that any other replaces
//   table      int64 [slots, width], contiguous, slots = 2^b, b in [1, 32]; empty if words 0 are all 0. Direct-mapped: the slot of a row
//              is the top b bits of its hash, so that rows in order of their hashes use one part of the table after the other, and it
//              stays in the cache. Word 0 of a slot is the hash with these bits set, which is never 0, or 0 if the slot is empty; the
//              slot number provides the overwritten bits
// combine_rows processes the rows in order: merges a row into the entry of equal hash and key, or else stores it in its slot and evicts
// the entry that was there. Returns (evicted int64 [m, width], m <= n, in order of eviction; number of rows that were merged).
// UserError, after which the table may be partly updated: an AddInt128 overflows.
// combine_flush returns the rows of the slots [begin, end) whose hashes have the low bits `value` under the mask `low_mask`, which is
// less than 2^32, in order of their slots, and empties these: their words 0 become 0.
// turn_hashes swaps the halves of word 0, so that rows that share a slot of one table rarely share one of another. Turning twice restores
// the hashes.
// There is no CUDA body on purpose: rows are combined in host memory, between the devices of a host and its network.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <tuple>
#include <vector>

#include "kernels/ops/merge_op.h"

namespace pistachio::kernels {

std::tuple<at::Tensor, int64_t> combine_rows(at::Tensor& table, const at::Tensor& rows, int64_t key_words,
                                             const std::vector<MergeOp>& merges);
at::Tensor combine_flush(at::Tensor& table, int64_t begin, int64_t end, int64_t low_mask = 0, int64_t value = 0);
at::Tensor combine_flush(at::Tensor& table);  // all of it

void turn_hashes(at::Tensor& rows);

}  // namespace pistachio::kernels
