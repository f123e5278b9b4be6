// Schema and entry point of segment_sketch, sketch_merge and sketch_sums.
#include "kernels/ops/segment_sketch.h"

#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include "base/check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/relational_check.h"

namespace pistachio::kernels {

void segment_sketch(at::Tensor& registers, const at::Tensor& ids, const at::Tensor& hashes) {
  check_words(hashes, hashes);
  check_words(ids, hashes);
  ENSURE_EQ(ids.size(0), hashes.size(0));
  check_state(registers, at::kByte, sketch_registers, hashes);
  static const auto operation = find_operation<void(at::Tensor&, const at::Tensor&, const at::Tensor&)>("pistachio::segment_sketch");
  operation.redispatch(dispatch_keys(registers), registers, ids.contiguous(), hashes.contiguous());
}

void sketch_merge(at::Tensor& registers, const at::Tensor& ids, const at::Tensor& others) {
  check_state(registers, at::kByte, sketch_registers, ids);
  check_words(ids, registers);
  check_state(others, at::kByte, sketch_registers, registers);
  ENSURE_EQ(ids.size(0), others.size(0));
  static const auto operation = find_operation<void(at::Tensor&, const at::Tensor&, const at::Tensor&)>("pistachio::sketch_merge");
  operation.redispatch(dispatch_keys(registers), registers, ids.contiguous(), others);
}

at::Tensor sketch_sums(const at::Tensor& registers) {
  ENSURE(registers.defined());
  check_state(registers, at::kByte, sketch_registers, registers);
  static const auto operation = find_operation<at::Tensor(const at::Tensor&)>("pistachio::sketch_sums");
  return operation.redispatch(dispatch_keys(registers), registers);
}

TORCH_LIBRARY_FRAGMENT(pistachio, library) {
  library.def("segment_sketch(Tensor(a!) registers, Tensor ids, Tensor hashes) -> ()");
  library.def("sketch_merge(Tensor(a!) registers, Tensor ids, Tensor others) -> ()");
  library.def("sketch_sums(Tensor registers) -> Tensor");
}

}  // namespace pistachio::kernels
