// Entry point of join_probe.
#include "kernels/ops/join_probe.h"

#include <ATen/core/Tensor.h>

#include "base/check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/relational_check.h"

namespace pistachio::kernels {

namespace {

void check_table(const at::Tensor& offsets, const at::Tensor& order, const at::Tensor& ordered_hashes, const at::Tensor& probe_hashes) {
  check_words(probe_hashes, probe_hashes);
  check_words(offsets, probe_hashes);
  check_words(order, probe_hashes);
  check_words(ordered_hashes, probe_hashes);
  ENSURE(is_power_of_two(offsets.size(0) - 1), "{} buckets", offsets.size(0) - 1);
  ENSURE_EQ(order.size(0), ordered_hashes.size(0));
}

}  // namespace

std::tuple<at::Tensor, at::Tensor, int64_t> join_probe(const at::Tensor& offsets, const at::Tensor& order, const at::Tensor& ordered_hashes,
                                                       const at::Tensor& probe_hashes, const at::Tensor& probe_validity, int64_t begin,
                                                       int64_t most_pairs) {
  check_table(offsets, order, ordered_hashes, probe_hashes);
  const std::optional<at::Tensor> mask = optional_validity(probe_validity, probe_hashes.size(0), probe_hashes);
  ENSURE(begin >= 0 && begin <= probe_hashes.size(0), "row {} of {}", begin, probe_hashes.size(0));
  ENSURE_GE(most_pairs, 1);
  static const Operation<std::tuple<at::Tensor, at::Tensor, int64_t>(const at::Tensor&, const at::Tensor&, const at::Tensor&,
                                                                     const at::Tensor&, const std::optional<at::Tensor>&, int64_t, int64_t)>
      operation("join_probe");
  return operation.on(probe_hashes)(offsets.contiguous(), order.contiguous(), ordered_hashes.contiguous(), probe_hashes.contiguous(), mask,
                                    begin, most_pairs);
}

}  // namespace pistachio::kernels
