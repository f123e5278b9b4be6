#include "exec/core/small_chunks.h"

#include <gtest/gtest.h>

#include "kernels/ops/tensor_functions.h"

namespace pistachio {
namespace {

Chunk numbers(int64_t begin, int64_t count) {
  return Chunk({Column::fixed(TypeKind::BigInt, at::arange(begin, begin + count, at::kLong))}, count);
}

TEST(SmallChunks, JoinsMoreTheMoreChunksCame) {
  SmallChunks small(1 << 20);
  std::vector<int64_t> sizes;
  int64_t expected = 0;
  auto check = [&](const std::optional<Chunk>& chunk) {
    if (!chunk) return;
    sizes.push_back(chunk->rows());
    EXPECT_TRUE(at::equal(chunk->column(0).values(), at::arange(expected, expected + chunk->rows(), at::kLong)));
    expected += chunk->rows();
  };
  for (int64_t i = 0; i < 10; ++i) check(small.add(numbers(10 * i, 10)));
  check(small.take());
  EXPECT_EQ(sizes, (std::vector<int64_t>{10, 20, 40, 30}));
  EXPECT_FALSE(small.take());
}

TEST(SmallChunks, LargeChunksPassAtOnce) {
  SmallChunks small(800);
  EXPECT_EQ(small.add(numbers(0, 1))->rows(), 1);
  EXPECT_EQ(small.add(numbers(1, 100))->rows(), 100);
  EXPECT_FALSE(small.add(numbers(101, 50)));
  EXPECT_EQ(small.add(numbers(151, 50))->rows(), 100);
}

TEST(SmallChunks, EmptyChunksAreDropped) {
  SmallChunks small(800);
  EXPECT_FALSE(small.add(numbers(0, 0)));
  EXPECT_FALSE(small.take());
}

TEST(SmallChunks, ChunksWithoutColumnsKeepTheirRows) {
  SmallChunks small(1 << 20);
  EXPECT_EQ(small.add(Chunk({}, 5))->rows(), 5);
  EXPECT_FALSE(small.add(Chunk({}, 6)));
  EXPECT_EQ(small.add(Chunk({}, 7))->rows(), 13);
}

}  // namespace
}  // namespace pistachio
