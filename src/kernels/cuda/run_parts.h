// Host side of the RLE kernels: cuts pages into parts for the blocks of a launch, and rejects counts that a page of its size cannot hold.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "kernels/cuda/rle_decode_cuda.h"

namespace pistachio::kernels::cuda {

// Cuts pages, each given as one part, so that few large pages also fill the device.
std::vector<RunPart> cut_run_parts(const std::vector<RunPart>& pages);

// Throws DataError if the runs of a page hold fewer values than requested, before the caller allocates the output for a bogus count. Does
// nothing for outputs of ordinary size or counts that bit-packed runs could hold; otherwise walks the runs and synchronizes.
void check_run_counts(const at::Tensor& bytes, const at::Tensor& page_table, const std::vector<RunPart>& pages, int64_t output_bytes);

}  // namespace pistachio::kernels::cuda
