// Entry point of key_bitmap_add and key_bitmap_test.
#include "kernels/ops/key_bitmap.h"

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/relational_check.h"

namespace pistachio::kernels {

namespace {

void check_integers(const at::Tensor& values) {
  check_values(values);
  ENSURE(!values.is_floating_point() && !is_wide(values), "only integers have bits in a bitmap");
}

}  // namespace

void key_bitmap_add(at::Tensor& words, const at::Tensor& values, int64_t least) {
  check_integers(values);
  check_state(words, at::kLong, 0, values);
  static const Operation<void(at::Tensor&, const at::Tensor&, int64_t)> operation("key_bitmap_add");
  operation.on(values)(words, values.contiguous(), least);
}

at::Tensor key_bitmap_test(const at::Tensor& words, const at::Tensor& values, int64_t least) {
  check_integers(values);
  check_words(words, values);
  static const Operation<at::Tensor(const at::Tensor&, const at::Tensor&, int64_t)> operation("key_bitmap_test");
  return operation.on(values)(words.contiguous(), values.contiguous(), least);
}

}  // namespace pistachio::kernels
