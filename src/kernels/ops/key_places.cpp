// Entry point of append_digit and present_places.
#include "kernels/ops/key_places.h"

#include <limits>

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/relational_check.h"

namespace pistachio::kernels {

namespace {

constexpr int64_t kMaxPlaces = std::numeric_limits<int32_t>::max();

void check_places(const at::Tensor& places, const at::Tensor& other) {
  ENSURE_EQ(places.dim(), 1);
  ENSURE(places.scalar_type() == at::kInt && places.device() == other.device());
}

}  // namespace

at::Tensor append_digit(const at::Tensor& places, const at::Tensor& values, int64_t least, int64_t size, const at::Tensor& validity) {
  check_values(values);
  ENSURE(!values.is_floating_point() && !is_wide(values), "only integers have digits");
  ENSURE(size > 0 && size <= kMaxPlaces);
  std::optional<at::Tensor> before;
  if (places.defined()) {
    check_places(places, values);
    ENSURE_EQ(places.size(0), values.size(0));
    before = places.contiguous();
  }
  const std::optional<at::Tensor> mask = optional_validity(validity, values.size(0), values);
  static const Operation<at::Tensor(const std::optional<at::Tensor>&, const at::Tensor&, int64_t, int64_t,
                                    const std::optional<at::Tensor>&)>
      operation("append_digit");
  return operation.on(values)(before, values.contiguous(), least, size, mask);
}

at::Tensor present_places(const at::Tensor& places, int64_t limit) {
  check_places(places, places);
  ENSURE(limit >= 0 && limit <= kMaxPlaces);
  static const Operation<at::Tensor(const at::Tensor&, int64_t)> operation("present_places");
  return operation.on(places)(places.contiguous(), limit);
}

}  // namespace pistachio::kernels
