// Value counts that a page of so few bytes cannot hold: every body must reject them before it allocates memory for them.
#include <gtest/gtest.h>

#include "base/error.h"
#include "kernels/ops/byte_stream_split_decode.h"
#include "kernels/ops/definition_levels_decode.h"
#include "kernels/ops/delta_binary_decode.h"
#include "kernels/ops/kernel_mode.h"
#include "kernels/ops/plain_boolean_decode.h"
#include "kernels/ops/plain_decode.h"
#include "kernels/ops/plain_fixed_bytes_decode.h"
#include "kernels/ops/plain_text_decode.h"
#include "kernels/ops/rle_decode.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels {
namespace {

constexpr int64_t kLie = int64_t{1} << 40;

at::Tensor bytes_of(std::initializer_list<int> values) {
  return at::tensor(std::vector<int>(values), at::kInt).to(at::kByte);
}

at::Tensor table(std::initializer_list<int64_t> row) {
  return at::tensor(std::vector<int64_t>(row), at::kLong).view({1, -1});
}

class LyingCountsTest : public testing::TestWithParam<KernelMode> {
 private:
  KernelModeGuard mode_{GetParam()};
};

TEST_P(LyingCountsTest, ThrowDataErrorBeforeAllocating) {
  const at::Tensor zeros = at::zeros({16}, at::kByte);
  EXPECT_THROW(plain_decode(zeros, table({0, 16, 0, kLie}), at::kLong), DataError);
  EXPECT_THROW(plain_fixed_bytes_decode(zeros, table({0, 16, 0, kLie}), 12), DataError);
  EXPECT_THROW(plain_boolean_decode(zeros, table({0, 16, 0, kLie})), DataError);
  EXPECT_THROW(plain_text_decode(zeros, table({0, 16, 0, kLie})), DataError);
  EXPECT_THROW(byte_stream_split_decode(zeros, table({0, 16, kLie, 0, kLie}), 8), DataError);
  // A bit-packed group of eight values, then a run of 63 ones.
  const at::Tensor runs = bytes_of({3, 0xff, 126, 1});
  EXPECT_THROW(rle_decode(runs, table({0, 4, 1, 0, 0, 0, kLie})), DataError);
  EXPECT_THROW(definition_levels_decode(runs, table({0, 4, 1, 0, kLie})), DataError);
  EXPECT_EQ(rle_decode(runs, table({0, 4, 1, 0, 0, 0, 71})).numel(), 71);
  // Blocks of 128 values in 4 miniblocks; claims 2^42 values, the first 0; one block of zero-width deltas.
  const at::Tensor deltas = bytes_of({0x80, 1, 4, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1, 0, 0, 0, 0, 0, 0});
  EXPECT_THROW(delta_binary_decode(deltas, table({0, 16, kLie, 0, kLie}), false), DataError);
}

INSTANTIATE_TEST_SUITE_P(Bodies, LyingCountsTest, testing::Values(KernelMode::Tuned, KernelMode::Composite));

}  // namespace
}  // namespace pistachio::kernels
