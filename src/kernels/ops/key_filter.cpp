// Entry point of key_filter_add and key_filter_test.
#include "kernels/ops/key_filter.h"

#include <ATen/core/Tensor.h>

#include "base/check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/relational_check.h"

namespace pistachio::kernels {

namespace {

constexpr int64_t kHashesPerWord = 4;
constexpr int64_t kMaxWords = int64_t{1} << 18;

void check_filter(const at::Tensor& words, const at::Tensor& hashes) {
  check_words(hashes, hashes);
  check_state(words, at::kLong, 0, hashes);
  ENSURE(is_power_of_two(words.size(0)) && words.size(0) >= 2, "{} words", words.size(0));
}

}  // namespace

void key_filter_add(at::Tensor& words, const at::Tensor& hashes) {
  check_filter(words, hashes);
  static const Operation<void(at::Tensor&, const at::Tensor&)> operation("key_filter_add");
  operation.on(hashes)(words, hashes.contiguous());
}

at::Tensor key_filter_test(const at::Tensor& words, const at::Tensor& hashes) {
  check_filter(words, hashes);
  static const Operation<at::Tensor(const at::Tensor&, const at::Tensor&)> operation("key_filter_test");
  return operation.on(hashes)(words, hashes.contiguous());
}

int64_t key_filter_words(int64_t hashes) {
  int64_t words = 2;
  while (words < kMaxWords && words * kHashesPerWord < hashes) words *= 2;
  return words;
}

}  // namespace pistachio::kernels
