// Entry point of probe_ranks.
#include "kernels/ops/rank_probe.h"

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/relational_check.h"

namespace pistachio::kernels {

namespace {

using Optional = std::optional<at::Tensor>;

Optional optional_offsets(const at::Tensor& offsets, const at::Tensor& other) {
  if (!offsets.defined()) return std::nullopt;
  check_words(offsets, other);
  return offsets.contiguous();
}

Optional optional_order(const at::Tensor& order, const at::Tensor& other) {
  if (!order.defined()) return std::nullopt;
  check_codes(order, other);
  return order.contiguous();
}

}  // namespace

std::tuple<at::Tensor, at::Tensor, int64_t> probe_ranks(const at::Tensor& ranks, const at::Tensor& offsets, const at::Tensor& order,
                                                        const at::Tensor& values, const at::Tensor& validity, int64_t least, int64_t begin,
                                                        int64_t most_pairs) {
  check_values(values);
  ENSURE(!values.is_floating_point() && !is_wide(values), "only integers have ranks");
  check_words(ranks, values);
  ENSURE(ranks.size(0) % 2 == 0, "{} words", ranks.size(0));
  ENSURE(order.defined() || !offsets.defined(), "offsets without an order");
  ENSURE(begin >= 0 && begin <= values.size(0), "row {} of {}", begin, values.size(0));
  ENSURE_GE(most_pairs, 1);
  static const Operation<std::tuple<at::Tensor, at::Tensor, int64_t>(const at::Tensor&, const Optional&, const Optional&, const at::Tensor&,
                                                                     const Optional&, int64_t, int64_t, int64_t)>
      operation("probe_ranks");
  return operation.on(values)(ranks.contiguous(), optional_offsets(offsets, values), optional_order(order, values), values.contiguous(),
                              optional_validity(validity, values.size(0), values), least, begin, most_pairs);
}

}  // namespace pistachio::kernels
