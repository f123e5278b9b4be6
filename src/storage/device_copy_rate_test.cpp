#include "storage/device_copy_rate.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/scheduler.h"
#include "memory/memory_governor.h"
#include "tests/support/temporary_folder.h"

namespace pistachio {
namespace {

// With the CPU as device: the same reads and copies, without streams.
class DeviceCopyRateTest : public testing::Test {
 protected:
  std::shared_ptr<DataFile> make_sized_file(const std::string& name, int64_t bytes) {
    const std::string path = folder_.file(name);
    std::ofstream(path) << "x";
    std::filesystem::resize_file(path, static_cast<uintmax_t>(bytes));
    return open_local_file(path, /*direct=*/false);
  }

  int64_t copy(CopyWay way, int64_t registered_bytes = int64_t{1} << 30) {
    ReadPool reads({});
    if (mapped_ == nullptr)
      mapped_ = std::make_shared<MappedFiles>(governor_.process_account().make_child("registered files", registered_bytes), at::kCPU);
    StorageContext storage{.settings = {},
                           .object_stores = stores_,
                           .metadata_cache = cache_,
                           .read_pool = reads,
                           .memory = governor_.process_account().make_child("scan"),
                           .mapped_files = mapped_};
    return scheduler_.run(copy_files(storage, files_, at::kCPU, way, 3));
  }

  test::TemporaryFolder folder_;
  MemoryGovernor governor_{int64_t{1} << 40};
  ObjectStores stores_;
  MetadataCache cache_{1 << 20};
  std::shared_ptr<MappedFiles> mapped_;
  Scheduler scheduler_{{.workers = 2, .blocking_threads = 2}};
  std::vector<std::shared_ptr<DataFile>> files_ = {make_sized_file("a", (int64_t{70} << 20) + 5), make_sized_file("b", 1)};
};

TEST_F(DeviceCopyRateTest, StagedCopiesEveryByte) {
  EXPECT_EQ(copy(CopyWay::Staged), (int64_t{70} << 20) + 6);
}

TEST_F(DeviceCopyRateTest, RegisteredCopiesEveryByteTheSecondTime) {
  copy(CopyWay::Registered);
  EXPECT_EQ(copy(CopyWay::Registered), (int64_t{70} << 20) + 6);
  EXPECT_EQ(mapped_->statistics().blocks, 3);
}

TEST_F(DeviceCopyRateTest, RegisteredCopiesLessThanThatWithoutMemory) {
  const int64_t few = MappedFiles::kBlockBytes - 1;
  copy(CopyWay::Registered, few);
  EXPECT_LT(copy(CopyWay::Registered, few), int64_t{70} << 20);
}

}  // namespace
}  // namespace pistachio
