// CPU bodies of compress, count_true and spread.
#include "base/check.h"
#include "kernels/cpu/row_selection_simd.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

const uint8_t* mask_bytes(const at::Tensor& mask) {
  return reinterpret_cast<const uint8_t*>(mask.const_data_ptr<bool>());
}

int64_t bytes_of_a_row(const at::Tensor& values) {
  return values.element_size() * (values.dim() == 2 ? values.size(1) : 1);
}

at::Tensor empty_rows(const at::Tensor& like, int64_t rows) {
  return like.dim() == 2 ? at::empty({rows, like.size(1)}, like.options()) : at::empty({rows}, like.options());
}

int64_t count_true(const at::Tensor& mask) {
  return count_true_bytes(mask_bytes(mask), mask.numel());
}

at::Tensor compress(const at::Tensor& values, const at::Tensor& mask, int64_t selected) {
  at::Tensor kept = empty_rows(values, selected);
  compress_values(values.const_data_ptr(), bytes_of_a_row(values), mask_bytes(mask), mask.numel(), selected, kept.mutable_data_ptr());
  return kept;
}

at::Tensor spread(const at::Tensor& values, const at::Tensor& validity) {
  ENSURE_EQ(values.size(0), count_true(validity));
  at::Tensor rows = empty_rows(values, validity.numel());
  spread_values(values.const_data_ptr(), bytes_of_a_row(values), values.size(0), mask_bytes(validity), validity.numel(),
                rows.mutable_data_ptr());
  return rows;
}

}  // namespace

REGISTER_BODY(Cpu, "count_true", count_true);
REGISTER_BODY(Cpu, "compress", compress);
REGISTER_BODY(Cpu, "spread", spread);

}  // namespace pistachio::kernels::cpu
