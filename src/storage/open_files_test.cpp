#include "storage/open_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <vector>

#include "base/error.h"
#include "storage/data_file.h"
#include "tests/support/temporary_folder.h"

namespace pistachio {
namespace {

std::shared_ptr<const FileDescriptor> open_null() {
  return std::make_shared<const FileDescriptor>(::open("/dev/null", O_RDONLY));
}

bool is_open(int number) {
  return ::fcntl(number, F_GETFD) >= 0;
}

TEST(OpenFilesTest, ClosesLeastRecentlyUsed) {
  OpenFiles files(2);
  std::array<int, 3> owners{};
  files.keep(&owners[0], open_null());
  files.keep(&owners[1], open_null());
  ASSERT_NE(files.find(&owners[0]), nullptr);
  int second = files.find(&owners[1])->number();
  ASSERT_NE(files.find(&owners[0]), nullptr);
  files.keep(&owners[2], open_null());
  EXPECT_EQ(files.find(&owners[1]), nullptr);
  EXPECT_FALSE(is_open(second));
  EXPECT_NE(files.find(&owners[0]), nullptr);
  files.forget(&owners[0]);
  EXPECT_EQ(files.find(&owners[0]), nullptr);
}

TEST(OpenFilesTest, DescriptorInUseStaysOpen) {
  OpenFiles files(1);
  std::array<int, 2> owners{};
  files.keep(&owners[0], open_null());
  std::shared_ptr<const FileDescriptor> used = files.find(&owners[0]);
  files.keep(&owners[1], open_null());
  EXPECT_TRUE(is_open(used->number()));
}

class ReopenedFileTest : public testing::Test {
 protected:
  std::shared_ptr<DataFile> make(const std::string& name, const std::string& content) {
    std::ofstream(folder_.file(name)) << content;
    return open_local_file(folder_.file(name), false, open_files_);
  }

  static std::string read(DataFile& file) {
    std::string content(static_cast<size_t>(file.size()), ' ');
    file.read_blocking(0, {reinterpret_cast<uint8_t*>(content.data()), content.size()});
    return content;
  }

  test::TemporaryFolder folder_;
  std::shared_ptr<OpenFiles> open_files_ = std::make_shared<OpenFiles>(1);
};

TEST_F(ReopenedFileTest, EvictedFilesAreReopened) {
  std::shared_ptr<DataFile> first = make("first", "one");
  std::shared_ptr<DataFile> second = make("second", "three");
  std::vector<uint8_t> target(3);
  EXPECT_EQ(first->read_cached(0, target), 0);
  EXPECT_EQ(read(*first), "one");
  EXPECT_EQ(read(*second), "three");
  EXPECT_EQ(read(*first), "one");
}

TEST_F(ReopenedFileTest, FileChangedSinceOpeningIsAnError) {
  std::shared_ptr<DataFile> first = make("first", "one");
  std::shared_ptr<DataFile> second = make("second", "three");
  std::ofstream(folder_.file("first")) << "another";
  EXPECT_THROW(read(*first), DataError);
  ::unlink(folder_.file("first").c_str());
  EXPECT_THROW(read(*first), Error);
}

}  // namespace
}  // namespace pistachio
