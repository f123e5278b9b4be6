// CUDA bodies of segment_sketch, sketch_merge and sketch_sums, on torch's current stream. No synchronization.
#include "kernels/cuda/segment_sketch_cuda.h"

#include "kernels/cuda/kernel_call.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/segment_sketch.h"

namespace pistachio::kernels::cuda {

namespace {

static_assert(sketch_bits == sketch_register_bits && greatest_rank == most_sketch_rank);

void segment_sketch(at::Tensor& registers, const at::Tensor& ids, const at::Tensor& hashes) {
  const KernelCall call(registers);
  add_to_sketches(registers.mutable_data_ptr<uint8_t>(), ids.const_data_ptr<int64_t>(), hashes.const_data_ptr<int64_t>(), ids.numel(),
                  call.stream());
}

void sketch_merge(at::Tensor& registers, const at::Tensor& ids, const at::Tensor& others) {
  const KernelCall call(registers);
  merge_sketches(registers.mutable_data_ptr<uint8_t>(), ids.const_data_ptr<int64_t>(), others.const_data_ptr<uint8_t>(), ids.numel(),
                 call.stream());
}

at::Tensor sketch_sums(const at::Tensor& registers) {
  const KernelCall call(registers);
  at::Tensor sums = at::empty({registers.size(0), 2}, registers.options().dtype(at::kLong));
  sum_sketches(registers.const_data_ptr<uint8_t>(), registers.size(0), sums.mutable_data_ptr<int64_t>(), call.stream());
  return sums;
}

}  // namespace

REGISTER_BODY(Cuda, "segment_sketch", segment_sketch);
REGISTER_BODY(Cuda, "sketch_merge", sketch_merge);
REGISTER_BODY(Cuda, "sketch_sums", sketch_sums);

}  // namespace pistachio::kernels::cuda
