#include "storage/snappy_decompressor.h"

#include <arrow/result.h>
#include <arrow/util/compression.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace pistachio {
namespace {

using Bytes = std::vector<uint8_t>;

// Data with runs, short repeats and noise in varying shares, as in real columns.
Bytes random_data(std::mt19937_64& random, size_t size) {
  Bytes data;
  while (data.size() < size) {
    size_t length = 1 + random() % 40;
    switch (random() % 4) {
      case 0: data.insert(data.end(), length, static_cast<uint8_t>(random())); break;
      case 1:
        for (size_t i = 0; i < length; ++i) data.push_back(static_cast<uint8_t>(random()));
        break;
      default: {
        if (data.empty()) break;
        size_t offset = 1 + random() % std::min<size_t>(data.size(), random() % 3 == 0 ? 70000 : 20);
        for (size_t i = 0; i < length; ++i) data.push_back(data[data.size() - offset]);
      }
    }
  }
  data.resize(size);
  return data;
}

Bytes compress(const Bytes& data) {
  std::unique_ptr<arrow::util::Codec> codec = arrow::util::Codec::Create(arrow::Compression::SNAPPY).ValueOrDie();
  Bytes block(static_cast<size_t>(codec->MaxCompressedLen(static_cast<int64_t>(data.size()), data.data())));
  int64_t size =
      codec->Compress(static_cast<int64_t>(data.size()), data.data(), static_cast<int64_t>(block.size()), block.data()).ValueOrDie();
  block.resize(static_cast<size_t>(size));
  return block;
}

TEST(SnappyDecompressorTest, DecompressesWhatTheLibraryCompressed) {
  std::mt19937_64 random(1);
  for (size_t size : {size_t{0}, size_t{1}, size_t{15}, size_t{60}, size_t{61}, size_t{100}, size_t{1000}, size_t{65536}, size_t{65537},
                      size_t{300000}}) {
    for (int round = 0; round < 20; ++round) {
      Bytes data = random_data(random, size);
      Bytes block = compress(data);
      block.shrink_to_fit();
      Bytes target(size);
      ASSERT_TRUE(snappy_decompress(block, target));
      ASSERT_EQ(target, data) << size;
    }
  }
}

TEST(SnappyDecompressorTest, RejectsWrongLength) {
  std::mt19937_64 random(2);
  Bytes block = compress(random_data(random, 1000));
  Bytes shorter(999);
  Bytes longer(1001);
  EXPECT_FALSE(snappy_decompress(block, shorter));
  EXPECT_FALSE(snappy_decompress(block, longer));
}

// Exactly sized buffers, so that AddressSanitizer catches every access outside.
TEST(SnappyDecompressorTest, DamagedBlocksStayInsideTheirBuffers) {
  std::mt19937_64 random(3);
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    size_t size = 1 + random() % 400;
    Bytes block = compress(random_data(random, size));
    for (int change = 0; change < 3; ++change) block[random() % block.size()] = static_cast<uint8_t>(random());
    if (random() % 4 == 0) block.resize(random() % block.size());
    Bytes exact(block);
    exact.shrink_to_fit();
    Bytes target(size);
    refused += !snappy_decompress(exact, target);
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace pistachio
