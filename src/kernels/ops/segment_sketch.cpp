// Entry point of segment_sketch, sketch_merge and sketch_sums.
#include "kernels/ops/segment_sketch.h"

#include <ATen/core/Tensor.h>

#include "base/check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/relational_check.h"

namespace pistachio::kernels {

void segment_sketch(at::Tensor& registers, const at::Tensor& ids, const at::Tensor& hashes) {
  check_words(hashes, hashes);
  check_words(ids, hashes);
  ENSURE_EQ(ids.size(0), hashes.size(0));
  check_state(registers, at::kByte, sketch_registers, hashes);
  static const Operation<void(at::Tensor&, const at::Tensor&, const at::Tensor&)> operation("segment_sketch");
  operation.on(registers)(registers, ids.contiguous(), hashes.contiguous());
}

void sketch_merge(at::Tensor& registers, const at::Tensor& ids, const at::Tensor& others) {
  check_state(registers, at::kByte, sketch_registers, ids);
  check_words(ids, registers);
  check_state(others, at::kByte, sketch_registers, registers);
  ENSURE_EQ(ids.size(0), others.size(0));
  static const Operation<void(at::Tensor&, const at::Tensor&, const at::Tensor&)> operation("sketch_merge");
  operation.on(registers)(registers, ids.contiguous(), others);
}

at::Tensor sketch_sums(const at::Tensor& registers) {
  ENSURE(registers.defined());
  check_state(registers, at::kByte, sketch_registers, registers);
  static const Operation<at::Tensor(const at::Tensor&)> operation("sketch_sums");
  return operation.on(registers)(registers);
}

}  // namespace pistachio::kernels
