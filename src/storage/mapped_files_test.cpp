#include "storage/mapped_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/scheduler.h"
#include "memory/memory_governor.h"
#include "tests/support/temporary_folder.h"

namespace pistachio {
namespace {

using When = MappedFiles::When;

constexpr int64_t kBlock = MappedFiles::kBlockBytes;

// With the CPU as device, where registering always succeeds.
class MappedFilesTest : public testing::Test {
 protected:
  std::shared_ptr<DataFile> make_file(const std::string& name, int64_t bytes) {
    const std::string path = folder_.file(name);
    std::ofstream(path) << "x";
    std::filesystem::resize_file(path, static_cast<uintmax_t>(bytes));
    return open_local_file(path, /*direct=*/false);
  }

  at::Tensor find(MappedFiles& files, std::shared_ptr<DataFile> file, std::vector<ByteRange> ranges, When when = When::Always) {
    return scheduler_.run(files.find(std::move(file), std::move(ranges), when));
  }

  MappedFiles make_files(int64_t limit) { return {governor_.process_account().make_child("registered files", limit), at::kCPU}; }

  test::TemporaryFolder folder_;
  MemoryGovernor governor_{int64_t{1} << 40};
  Scheduler scheduler_{{.workers = 1, .blocking_threads = 1}};
};

TEST_F(MappedFilesTest, RegistersTheBlocksOfTheRanges) {
  MappedFiles files = make_files(kBlock * 10);
  auto file = make_file("a", kBlock * 3 + 5);
  const at::Tensor mapped = find(files, file, {{kBlock - 1, 2}, {kBlock * 3, 5}});
  ASSERT_TRUE(mapped.defined());
  EXPECT_EQ(mapped.numel(), kBlock * 3 + 5);
  EXPECT_EQ(files.statistics().blocks, 3);
  EXPECT_EQ(files.statistics().bytes, kBlock * 2 + 5);
  EXPECT_EQ(governor_.used(), kBlock * 2 + 5);
}

TEST_F(MappedFilesTest, RegistersWhatIsReadOftenAndCached) {
  MappedFiles files = make_files(kBlock * 10);
  constexpr int64_t kBytes = 1 << 20;
  const std::string path = folder_.file("b");
  std::ofstream(path) << std::string(kBytes, 'b');  // written pages are in the page cache
  auto file = open_local_file(path, /*direct=*/false);
  EXPECT_FALSE(find(files, file, {{0, kBytes / 8}}, When::Cached).defined());
  EXPECT_FALSE(find(files, file, {{0, kBytes / 8}}, When::Cached).defined());
  EXPECT_TRUE(find(files, file, {{0, kBytes / 8}}, When::Cached).defined());
}

TEST_F(MappedFilesTest, LeastRecentlyUsedBlockGoesFirst) {
  MappedFiles files = make_files(kBlock * 2);
  auto file = make_file("c", kBlock * 4);
  find(files, file, {{0, 1}});
  find(files, file, {{kBlock, 1}});
  find(files, file, {{0, 1}});
  EXPECT_TRUE(find(files, file, {{kBlock * 2, 1}}).defined());
  EXPECT_EQ(files.statistics().blocks, 2);
  EXPECT_TRUE(find(files, file, {{0, 1}}, When::Cached).defined());
  EXPECT_FALSE(find(files, file, {{kBlock, 1}}, When::Cached).defined());
}

TEST_F(MappedFilesTest, BlocksInUseStay) {
  MappedFiles files = make_files(kBlock);
  auto file = make_file("d", kBlock * 2);
  const at::Tensor used = find(files, file, {{0, 1}});
  ASSERT_TRUE(used.defined());
  EXPECT_FALSE(find(files, file, {{kBlock, 1}}).defined());
  files.release(kBlock);
  EXPECT_EQ(files.statistics().blocks, 1);
}

TEST_F(MappedFilesTest, ReleaseFreesMemory) {
  MappedFiles files = make_files(kBlock * 4);
  auto file = make_file("e", kBlock * 3);
  find(files, file, {{0, kBlock * 3}});
  files.release(kBlock + 1);
  EXPECT_EQ(files.statistics().blocks, 1);
  EXPECT_EQ(governor_.used(), kBlock);
}

TEST_F(MappedFilesTest, ChangedFileIsMappedAgain) {
  MappedFiles files = make_files(kBlock * 4);
  find(files, make_file("f", kBlock * 2), {{0, kBlock * 2}});
  const at::Tensor again = find(files, make_file("f", kBlock + 1), {{0, 1}});
  EXPECT_EQ(again.numel(), kBlock + 1);
  EXPECT_EQ(files.statistics().blocks, 1);
  EXPECT_EQ(governor_.used(), kBlock);
}

TEST_F(MappedFilesTest, MapsFilesOnlyWhileTheirBlocksAreRegistered) {
  MappedFiles files = make_files(kBlock * 4);
  auto file = make_file("h", kBlock * 2);
  find(files, file, {{0, 1}}, When::Cached);
  EXPECT_EQ(files.statistics().files, 0);
  find(files, file, {{0, kBlock * 2}});
  EXPECT_EQ(files.statistics().files, 1);
  files.release(1);
  EXPECT_EQ(files.statistics().files, 1);
  files.release(kBlock);
  EXPECT_EQ(files.statistics().files, 0);
  EXPECT_TRUE(find(files, file, {{0, 1}}).defined());
}

TEST_F(MappedFilesTest, NumberOfMappingsIsBounded) {
  MappedFiles files = make_files(kBlock);
  for (int64_t i = 0; i < MappedFiles::kMaxMappings + 2; ++i) {
    const bool is_mapped = find(files, make_file(std::to_string(i), 1), {{0, 1}}).defined();
    ASSERT_EQ(is_mapped, i < MappedFiles::kMaxMappings);
  }
  EXPECT_EQ(files.statistics().files, MappedFiles::kMaxMappings);
  files.release(1);
  EXPECT_TRUE(find(files, make_file("another", 1), {{0, 1}}).defined());
}

TEST_F(MappedFilesTest, DirectFilesAreNotMapped) {
  MappedFiles files = make_files(kBlock);
  make_file("g", 4096);
  std::shared_ptr<DataFile> file;
  try {
    file = open_local_file(folder_.file("g"), /*direct=*/true);
  } catch (const UserError&) {
    GTEST_SKIP() << "no direct I/O on this file system";
  }
  EXPECT_FALSE(find(files, file, {{0, 1}}).defined());
}

}  // namespace
}  // namespace pistachio
