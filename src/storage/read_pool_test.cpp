#include "storage/read_pool.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <random>

#include "base/error.h"
#include "base/scheduler.h"
#include "tests/support/temporary_folder.h"

namespace pistachio {
namespace {

std::vector<ByteRange> coalesced(std::vector<ByteRange> ranges) {
  return coalesce_ranges(std::move(ranges), 10, 100);
}

TEST(CoalesceRangesTest, JoinsNearRangesUpToASize) {
  std::vector<ByteRange> joined = coalesced({{200, 5}, {0, 20}, {25, 10}, {60, 60}, {118, 4}});
  ASSERT_EQ(joined.size(), 3u);
  EXPECT_EQ(joined[0].offset, 0);
  EXPECT_EQ(joined[0].length, 35);
  EXPECT_EQ(joined[1].offset, 60);
  EXPECT_EQ(joined[1].length, 62);
  EXPECT_EQ(joined[2].offset, 200);
}

TEST(CoalesceRangesTest, OverlapsAlwaysJoinAndEmptyRangesVanish) {
  EXPECT_EQ(coalesced({{0, 90}, {50, 90}, {7, 0}}).size(), 1u);
  EXPECT_TRUE(coalesced({}).empty());
}

class ReadPoolTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    std::mt19937 random(4);
    content_.resize(1 << 20);
    for (uint8_t& byte : content_) byte = static_cast<uint8_t>(random());
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(content_.data()), static_cast<std::streamsize>(content_.size()));
  }
  std::shared_ptr<DataFile> open() {
    try {
      return open_local_file(path_, GetParam());
    } catch (const UserError&) {
      return nullptr;  // a file system without direct I/O
    }
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_.file("bytes");
  std::vector<uint8_t> content_;
  Scheduler scheduler_{{.workers = 2, .blocking_threads = 4, .on_worker_start = {}}};
};

TEST_P(ReadPoolTest, ReturnsTheBytesOfEveryRange) {
  std::shared_ptr<DataFile> file = open();
  if (file == nullptr) GTEST_SKIP() << "the file system of the temporary folder has no direct I/O";
  ReadPool pool({});
  std::mt19937 random(6);
  std::vector<ByteRange> ranges;
  for (int i = 0; i < 200; ++i) {
    int64_t offset = random() % (content_.size() - 5000);
    ranges.push_back({offset, static_cast<int64_t>(random() % 5000)});
  }
  std::vector<FileBytes> buffers = scheduler_.run(pool.read(file, ranges, 0));
  for (const ByteRange& range : ranges) {
    if (range.length == 0) continue;
    bool found = false;
    for (const FileBytes& buffer : buffers) {
      if (range.offset < buffer.offset || range.end() > buffer.end()) continue;
      found = std::equal(content_.begin() + range.offset, content_.begin() + range.end(),
                         buffer.bytes.const_data_ptr<uint8_t>() + (range.offset - buffer.offset));
    }
    EXPECT_TRUE(found) << range.offset;
  }
}

TEST_P(ReadPoolTest, TruncatedFileIsADataError) {
  std::shared_ptr<DataFile> file = open();
  if (file == nullptr) GTEST_SKIP() << "the file system of the temporary folder has no direct I/O";
  ASSERT_EQ(::truncate(path_.c_str(), 1000), 0);
  ReadPool pool({});
  EXPECT_THROW(scheduler_.run(pool.read_range(file, {500, 2000})), DataError);
}

INSTANTIATE_TEST_SUITE_P(Modes, ReadPoolTest, testing::Bool(), [](const auto& parameter) { return parameter.param ? "Direct" : "Cached"; });

TEST(LocalFileTest, OpeningSaysWhatIsWrong) {
  EXPECT_THROW(open_local_file("/no/such/file", false), UserError);
  EXPECT_THROW(open_local_file("/tmp", false), UserError);
}

}  // namespace
}  // namespace pistachio
