#include "network/block_compression.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "base/error.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {
namespace {

at::Tensor random_bytes(int64_t bytes) {
  return at::randint(0, 256, {bytes}, at::kByte);
}

// Numbers below 1000 as int64: most bytes are zero.
at::Tensor small_numbers(int64_t bytes) {
  return at::randint(0, 1000, {bytes / 8}, at::kLong).view(at::kByte);
}

TEST(BlockCompression, RoundTripKeepsBytes) {
  for (int64_t bytes : {8, 64, 4096, 262136, 262144, 262152, 3000000}) {
    at::Tensor block = small_numbers(bytes).fill_(7);
    block.narrow(0, 0, bytes / 2).copy_(small_numbers(bytes).narrow(0, 0, bytes / 2));
    std::optional<at::Tensor> compressed = compress_block(block);
    EXPECT_TRUE(compressed || bytes < 4096) << bytes;
    if (!compressed) continue;
    EXPECT_LE(compressed->numel(), bytes * 9 / 10);
    EXPECT_EQ(compressed->nbytes(), compressed->storage().nbytes());
    EXPECT_TRUE(at::equal(decompress_block(*compressed), block)) << bytes;
  }
}

TEST(BlockCompression, RandomBytesStayUncompressed) {
  EXPECT_FALSE(compress_block(random_bytes(1)));
  EXPECT_FALSE(compress_block(random_bytes(100000)));
  EXPECT_FALSE(compress_block(random_bytes(2000000)));
}

TEST(BlockCompression, IncompressiblePartIsSentUncompressed) {
  at::Tensor block = kernels::concatenate_tensors({random_bytes(600000), small_numbers(1200000), random_bytes(300000)});
  std::optional<at::Tensor> compressed = compress_block(block);
  ASSERT_TRUE(compressed);
  EXPECT_TRUE(at::equal(decompress_block(*compressed), block));
}

// Any bytes yield a block or PeerError, never an access out of bounds.
TEST(BlockCompression, SurvivesDamage) {
  at::Tensor whole = *compress_block(small_numbers(600000));
  std::mt19937 random(7);
  int refused = 0;
  for (int round = 0; round < 1000; ++round) {
    int64_t length = round % 3 == 0 ? static_cast<int64_t>(random() % static_cast<uint64_t>(whole.numel())) : whole.numel();
    at::Tensor damaged = whole.narrow(0, 0, length).clone();
    // The sizes come first.
    int64_t reach = round % 2 == 0 ? std::min<int64_t>(length, 24) : length;
    for (int i = 0; i < 3 && reach > 0; ++i)
      damaged.mutable_data_ptr<uint8_t>()[random() % static_cast<uint64_t>(reach)] = static_cast<uint8_t>(random());
    try {
      decompress_block(damaged);
    } catch (const PeerError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 500);
  EXPECT_THROW(decompress_block({}), PeerError);
}

TEST(BlockCompression, ImpossibleSizeIsNotAllocated) {
  at::Tensor compressed = compress_block(small_numbers(600000))->clone();
  for (uint64_t claim : {uint64_t{0}, uint64_t{1} << 29, (uint64_t{1} << 30) + 1, ~uint64_t{0}}) {
    std::memcpy(compressed.mutable_data_ptr<uint8_t>(), &claim, sizeof claim);
    EXPECT_THROW(decompress_block(compressed), PeerError) << claim;
  }
}

TEST(BlockCompression, PaysOnSlowLinksOnly) {
  EXPECT_TRUE(compression_pays(100e6));
  EXPECT_FALSE(compression_pays(1e9));
  EXPECT_FALSE(compression_pays(0));
}

TEST(BlockCompressor, RetriesIncompressibleBlocksRarely) {
  BlockCompressor compressor(true);
  at::Tensor numbers = small_numbers(100000);
  EXPECT_TRUE(compressor.wire_form(numbers).is_compressed);
  EXPECT_FALSE(compressor.wire_form(random_bytes(100000)).is_compressed);
  int until_tried = 0;
  while (!compressor.wire_form(numbers).is_compressed) ++until_tried;
  EXPECT_EQ(until_tried, BlockCompressor::kBlocksBetweenTrials);
  EXPECT_TRUE(compressor.wire_form(numbers).is_compressed);
}

TEST(BlockCompressor, SkipsSmallBlocksAndAllWhenOff) {
  at::Tensor numbers = small_numbers(100000);
  EXPECT_FALSE(BlockCompressor(true).wire_form(small_numbers(2048)).is_compressed);
  WireBlock block = BlockCompressor(false).wire_form(numbers);
  EXPECT_FALSE(block.is_compressed);
  EXPECT_TRUE(block.bytes.is_same(numbers));
}

}  // namespace
}  // namespace pistachio
