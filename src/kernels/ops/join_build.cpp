// Entry point of join_build.
#include "kernels/ops/join_build.h"

#include <ATen/core/Tensor.h>

#include "base/check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/relational_check.h"
#include "kernels/ops/stop_flag.h"

namespace pistachio::kernels {

int64_t join_bucket_bits(int64_t rows) {
  int64_t bits = 0;
  while (bits < 32 && (int64_t{1} << bits) < rows) ++bits;
  return bits;
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> join_build(const at::Tensor& hashes, const at::Tensor& validity, const at::Tensor& stop) {
  check_words(hashes, hashes);
  const std::optional<at::Tensor> mask = optional_validity(validity, hashes.size(0), hashes);
  static const Operation<std::tuple<at::Tensor, at::Tensor, at::Tensor>(const at::Tensor&, const std::optional<at::Tensor>&, int64_t,
                                                                        const std::optional<at::Tensor>&)>
      operation("join_build");
  return operation.on(hashes)(hashes.contiguous(), mask, join_bucket_bits(hashes.size(0)), optional_stop(stop));
}

void join_sort_part(at::Tensor& offsets, at::Tensor& order, at::Tensor& hashes, int64_t part_bits, int64_t part, int64_t begin,
                    int64_t end) {
  for (const at::Tensor* state : {&offsets, &order, &hashes}) check_state(*state, at::kLong, 0, hashes);
  const int64_t buckets = offsets.size(0) - 1;
  ENSURE(is_power_of_two(buckets) && part_bits >= 0 && int64_t{1} << part_bits <= buckets, "{} buckets, {} bits", buckets, part_bits);
  ENSURE(part >= 0 && part < int64_t{1} << part_bits, "partition {} of 2^{}", part, part_bits);
  ENSURE_EQ(order.size(0), hashes.size(0));
  ENSURE(begin >= 0 && begin <= end && end <= order.size(0), "rows [{}, {}) of {}", begin, end, order.size(0));
  static const Operation<void(at::Tensor&, at::Tensor&, at::Tensor&, int64_t, int64_t, int64_t, int64_t)> operation("join_sort_part");
  operation.on(hashes)(offsets, order, hashes, part_bits, part, begin, end);
}

}  // namespace pistachio::kernels
