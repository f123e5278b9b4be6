// Builds the table of a hash join: the build rows sorted into buckets by the top bits of their hashes, so that a radix partition of
// the hashes is a range of buckets.
//   hashes    int64 [n], from hash64
//   validity  bool [n], or undefined: no NULLs. Rows where it is false are skipped, as NULL equals nothing
//   stop      bool [1] on the host, as in stop_flag.h, or undefined
// Returns (offsets int64 [2^b + 1], order int64 [k], ordered_hashes int64 [k]) with b = join_bucket_bits(n): bucket h >> (64 - b) of a
// hash h holds the rows order[offsets[bucket], offsets[bucket + 1]), ascending; ordered_hashes[i] is hashes[order[i]].
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <tuple>

namespace pistachio::kernels {

std::tuple<at::Tensor, at::Tensor, at::Tensor> join_build(const at::Tensor& hashes, const at::Tensor& validity = {},
                                                          const at::Tensor& stop = {});
// The smallest b with 2^b >= rows, at most 32.
int64_t join_bucket_bits(int64_t rows);

// The last step of building a table in radix partitions (radix_scatter.h with 2^part_bits partitions, part_bits <= b), which threads can
// run for different partitions of the same table concurrently: sorts the rows of one partition into its buckets.
//   offsets         int64 [2^b + 1], modified: the ends of the partition's buckets are written, offsets[0] is the caller's
//   order, hashes   int64 [k], modified: rows and hashes of the table by partition
//   begin, end      where the partition is in them
void join_sort_part(at::Tensor& offsets, at::Tensor& order, at::Tensor& hashes, int64_t part_bits, int64_t part, int64_t begin,
                    int64_t end);

}  // namespace pistachio::kernels
