#include "storage/file_discovery.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "tests/support/temporary_folder.h"

namespace pistachio {
namespace {

class FileDiscoveryTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* folder : {"year=2024/month=1", "year=2024/month=2"}) folder_.make_folder(folder);
    for (const char* name :
         {"b.parquet", "a.parquet", "notes.txt", "_SUCCESS", ".hidden.parquet", "year=2024/month=1/c.parquet", "year=2024/month=2/d.pq"}) {
      std::ofstream(folder_.file(name)) << "x";
    }
  }

  std::vector<std::string> find(const std::string& pattern) {
    std::vector<std::string> names;
    for (const FoundFile& file : find_files(stores_, folder_.file(pattern))) {
      size_t skipped = file.path.find_first_not_of('/', folder_.path().size());
      names.push_back(file.path.substr(skipped));
    }
    return names;
  }

  test::TemporaryFolder folder_;
  ObjectStores stores_;
};

using Names = std::vector<std::string>;

TEST_F(FileDiscoveryTest, FoldersAreListedInOrderWithoutHiddenFiles) {
  EXPECT_EQ(find(""), (Names{"a.parquet", "b.parquet", "year=2024/month=1/c.parquet", "year=2024/month=2/d.pq"}));
}

TEST_F(FileDiscoveryTest, StarsDoNotCrossFolders) {
  EXPECT_EQ(find("*.parquet"), (Names{"a.parquet", "b.parquet"}));
  EXPECT_EQ(find("[b-z].parquet"), (Names{"b.parquet"}));
  EXPECT_EQ(find("year=*/month=?/*"), (Names{"year=2024/month=1/c.parquet", "year=2024/month=2/d.pq"}));
  EXPECT_EQ(find("**/*.parquet"), (Names{"a.parquet", "b.parquet", "year=2024/month=1/c.parquet"}));
}

TEST_F(FileDiscoveryTest, HiddenFilesMatchExplicitPatterns) {
  std::ofstream(folder_.file("_old.parquet")) << "x";
  EXPECT_EQ(find("_o*.parquet"), (Names{"_old.parquet"}));
  EXPECT_EQ(find(".*.parquet"), (Names{".hidden.parquet"}));
  EXPECT_THROW(find("*old.parquet"), UserError);
}

// Opening them is an error. Without them, rows would be missing without a word.
TEST_F(FileDiscoveryTest, DanglingLinksAreListed) {
  for (const char* name : {"0.parquet", "n.parquet", "zz.txt"}) ASSERT_EQ(::symlink("/no/such/file", folder_.file(name).c_str()), 0);
  EXPECT_EQ(find("*.parquet"), (Names{"0.parquet", "a.parquet", "b.parquet", "n.parquet"}));
}

TEST_F(FileDiscoveryTest, CyclicLinksTerminate) {
  ASSERT_EQ(::symlink(".", folder_.file("self").c_str()), 0);
  ASSERT_EQ(::symlink("../..", folder_.file("year=2024/month=1/back").c_str()), 0);
  EXPECT_EQ(find(""), (Names{"a.parquet", "b.parquet", "year=2024/month=1/c.parquet", "year=2024/month=2/d.pq"}));
  EXPECT_EQ(find("**/*.p*q*"), (Names{"a.parquet", "b.parquet", "year=2024/month=1/c.parquet", "year=2024/month=2/d.pq"}));
  EXPECT_EQ(find("**/month=2/**"), (Names{"year=2024/month=2/d.pq"}));
  EXPECT_EQ(find("self/self/*.parquet"), (Names{"self/self/a.parquet", "self/self/b.parquet"}));
}

// Drops root privileges, since root may list every folder.
class AsNobody {
 public:
  AsNobody() {
    if (::geteuid() == 0 && ::seteuid(65534) == 0) was_root_ = true;
  }
  ~AsNobody() {
    if (was_root_ && ::seteuid(0) != 0) std::abort();
  }

 private:
  bool was_root_ = false;
};

TEST_F(FileDiscoveryTest, OnlyFoldersThatCanMatchAreOpened) {
  folder_.make_folder("closed");
  ::chmod(folder_.path().c_str(), 0755);
  ::chmod(folder_.file("year=2024").c_str(), 0755);
  ::chmod(folder_.file("closed").c_str(), 0);
  {
    AsNobody nobody;
    EXPECT_EQ(find("*.parquet"), (Names{"a.parquet", "b.parquet"}));
    EXPECT_THROW(find("year=*/nothing"), UserError);
    EXPECT_THROW(find("closed/*.parquet"), UserError);
    EXPECT_THROW(find("*/*.parquet"), UserError);
    EXPECT_THROW(find("**/*.parquet"), UserError);
    EXPECT_THROW(find(""), UserError);
  }
  ::chmod(folder_.file("closed").c_str(), 0700);
}

TEST_F(FileDiscoveryTest, PartitionsComeFromFolderNames) {
  std::vector<FoundFile> files = find_files(stores_, folder_.file("year=2024"));
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].partitions, (std::vector<std::pair<std::string, std::string>>{{"year", "2024"}, {"month", "1"}}));
  for (auto [written, meant] : {std::pair{"New%20York", "New York"},
                                {"100%", "100%"},
                                {"%4", "%4"},
                                {"% 1", "% 1"},
                                {"%+1", "%+1"},
                                {"%-1", "%-1"},
                                {"%1x", "%1x"},
                                {"%0x41", "%0x41"},
                                {"%C3%a9", "\xc3\xa9"},
                                {"%2525", "%25"}}) {
    EXPECT_EQ(partitions_of(std::string("x/city=") + written + "/f.parquet")[0].second, meant);
  }
}

TEST_F(FileDiscoveryTest, NothingToReadIsAnError) {
  EXPECT_THROW(find("none.parquet"), UserError);
  EXPECT_THROW(find("none/*.parquet"), UserError);
  EXPECT_THROW(find("*.orc"), UserError);
  folder_.make_folder("empty");
  EXPECT_THROW(find("empty"), UserError);
  EXPECT_THROW(find_files(stores_, ""), UserError);
}

TEST(ObjectAddressTest, OptionsAreDistinguishedFromWildcards) {
  EXPECT_TRUE(is_object_address("s3://bucket/x"));
  EXPECT_FALSE(is_object_address("/data/s3"));
  EXPECT_EQ(without_options("s3://b/x.parquet?region=eu&scheme=http"), "s3://b/x.parquet");
  EXPECT_EQ(without_options("s3://b/part?.parquet"), "s3://b/part?.parquet");
  EXPECT_EQ(without_options("s3://b/year=1/p?.parquet?region=eu"), "s3://b/year=1/p?.parquet");
}

TEST(GlobTest, RecursiveWildcardsMatchAnyNumberOfFolders) {
  EXPECT_TRUE(matches_glob("a/**/b/*.parquet", "a/b/x.parquet"));
  EXPECT_TRUE(matches_glob("a/**/b/*.parquet", "a/c/d/b/x.parquet"));
  EXPECT_FALSE(matches_glob("a/**/b/*.parquet", "a/c/x.parquet"));
  EXPECT_TRUE(matches_glob("**/**/x", "x"));
  EXPECT_FALSE(matches_glob("**/x", "x/y"));
  EXPECT_FALSE(matches_glob("a", "a/b"));
}

TEST(GlobTest, ManyRecursiveWildcardsDoNotTryEverySplit) {
  std::string pattern;
  std::string path;
  for (int i = 0; i < 20; ++i) pattern += "**/";
  for (int i = 0; i < 80; ++i) path += "folder/";
  EXPECT_FALSE(matches_glob(pattern + "x.parquet", path + "y.parquet"));
  EXPECT_TRUE(matches_glob(pattern + "x.parquet", path + "x.parquet"));
}

}  // namespace
}  // namespace pistachio
