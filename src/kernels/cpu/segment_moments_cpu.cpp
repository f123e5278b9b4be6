// CPU bodies of segment_moments and moments_merge. Deliberately compiled for the base instruction set only: with fused multiply-add the
// last bits of the results would depend on the machine. The reciprocal of the count is independent of the mean, so the dependency chain
// between rows of one group is one multiplication and two additions.
#include <ATen/core/Tensor.h>

#include "kernels/ops/body_table.h"

namespace pistachio::kernels::cpu {

namespace {

struct Moments {
  double count, mean, m2;
};

template <typename T>
void add_rows(Moments* moments, const int64_t* ids, const T* values, const bool* validity, int64_t rows) {
  for (int64_t row = 0; row < rows; ++row) {
    if (validity != nullptr && !validity[row]) continue;
    Moments& group = moments[ids[row]];
    const double value = static_cast<double>(values[row]);
    const double count = group.count + 1, distance = value - group.mean;
    const double mean = group.mean + distance * (1 / count);
    group.m2 += distance * (value - mean);
    group.mean = mean;
    group.count = count;
  }
}

void segment_moments(at::Tensor& moments, const at::Tensor& ids, const at::Tensor& values, const std::optional<at::Tensor>& validity) {
  Moments* state = static_cast<Moments*>(moments.mutable_data_ptr());
  const int64_t* groups = ids.const_data_ptr<int64_t>();
  const bool* valid = validity ? validity->const_data_ptr<bool>() : nullptr;
  if (values.scalar_type() == at::kFloat) {
    add_rows(state, groups, values.const_data_ptr<float>(), valid, ids.numel());
  } else {
    add_rows(state, groups, values.const_data_ptr<double>(), valid, ids.numel());
  }
}

void moments_merge(at::Tensor& moments, const at::Tensor& ids, const at::Tensor& other) {
  Moments* state = static_cast<Moments*>(moments.mutable_data_ptr());
  const Moments* others = static_cast<const Moments*>(other.const_data_ptr());
  const int64_t* groups = ids.const_data_ptr<int64_t>();
  for (int64_t row = 0; row < ids.numel(); ++row) {
    const Moments& added = others[row];
    if (added.count == 0) continue;
    Moments& group = state[groups[row]];
    if (group.count == 0) {
      group = added;
      continue;
    }
    const double total = group.count + added.count, distance = added.mean - group.mean;
    group.mean += distance * (added.count / total);
    group.m2 += added.m2 + distance * distance * (group.count * added.count / total);
    group.count = total;
  }
}

}  // namespace

REGISTER_BODY(Cpu, "segment_moments", segment_moments);
REGISTER_BODY(Cpu, "moments_merge", moments_merge);

}  // namespace pistachio::kernels::cpu
