#include "storage/file_discovery.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/error.h"

namespace pistachio {
namespace {

namespace fs = std::filesystem;

class FileDiscoveryTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "pistachio_discovery_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    for (const char* name :
         {"b.parquet", "a.parquet", "notes.txt", "_SUCCESS", ".hidden.parquet", "year=2024/month=1/c.parquet", "year=2024/month=2/d.pq"}) {
      fs::create_directories((root_ / name).parent_path());
      std::ofstream(root_ / name) << "x";
    }
  }
  void TearDown() override { fs::remove_all(root_); }

  std::vector<std::string> find(const std::string& pattern) {
    std::vector<std::string> names;
    for (const FoundFile& file : find_files(stores_, (root_ / pattern).string())) names.push_back(fs::relative(file.path, root_).string());
    return names;
  }

  fs::path root_;
  ObjectStores stores_;
};

using Names = std::vector<std::string>;

TEST_F(FileDiscoveryTest, FoldersAreSearchedInOrderAndWithoutHiddenFiles) {
  EXPECT_EQ(find(""), (Names{"a.parquet", "b.parquet", "year=2024/month=1/c.parquet", "year=2024/month=2/d.pq"}));
}

TEST_F(FileDiscoveryTest, StarsStayInTheirFolder) {
  EXPECT_EQ(find("*.parquet"), (Names{"a.parquet", "b.parquet"}));
  EXPECT_EQ(find("[b-z].parquet"), (Names{"b.parquet"}));
  EXPECT_EQ(find("year=*/month=?/*"), (Names{"year=2024/month=1/c.parquet", "year=2024/month=2/d.pq"}));
  EXPECT_EQ(find("**/*.parquet"), (Names{"a.parquet", "b.parquet", "year=2024/month=1/c.parquet"}));
}

TEST_F(FileDiscoveryTest, PartitionsComeFromFolderNames) {
  std::vector<FoundFile> files = find_files(stores_, (root_ / "year=2024").string());
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].partitions, (std::vector<std::pair<std::string, std::string>>{{"year", "2024"}, {"month", "1"}}));
  EXPECT_EQ(partitions_of("x/city=New%20York/f.parquet")[0].second, "New York");
}

TEST_F(FileDiscoveryTest, NothingToReadIsAnError) {
  EXPECT_THROW(find("none.parquet"), UserError);
  EXPECT_THROW(find("none/*.parquet"), UserError);
  EXPECT_THROW(find("*.orc"), UserError);
  fs::create_directory(root_ / "empty");
  EXPECT_THROW(find("empty"), UserError);
  EXPECT_THROW(find_files(stores_, ""), UserError);
}

TEST(ObjectAddressTest, OptionsAreToldFromWildcards) {
  EXPECT_TRUE(is_object_address("s3://bucket/x"));
  EXPECT_FALSE(is_object_address("/data/s3"));
  EXPECT_EQ(without_options("s3://b/x.parquet?region=eu&scheme=http"), "s3://b/x.parquet");
  EXPECT_EQ(without_options("s3://b/part?.parquet"), "s3://b/part?.parquet");
  EXPECT_EQ(without_options("s3://b/year=1/p?.parquet?region=eu"), "s3://b/year=1/p?.parquet");
}

}  // namespace
}  // namespace pistachio
