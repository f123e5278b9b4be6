#include "frontend/bench/file_paths.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/support/temporary_folder.h"

namespace pistachio {
namespace {

TEST(FilePathsTest, FileNamesAreExtracted) {
  EXPECT_EQ(last_name("data/sf1/"), "sf1");
  EXPECT_EQ(last_name("sf0.01"), "sf0.01");
  EXPECT_EQ(last_name("/"), "/");
  EXPECT_EQ(name_without_ending("queries/q03.sql"), "q03");
  EXPECT_EQ(name_without_ending(".hidden"), ".hidden");
  EXPECT_EQ(folder_above("/a/b"), "/a");
  EXPECT_EQ(folder_above("/a"), "/");
  EXPECT_EQ(folder_above("a"), ".");
  EXPECT_EQ(absolute_path("/a"), "/a");
  EXPECT_TRUE(absolute_path("a").starts_with('/'));
}

TEST(FilePathsTest, QuotesAreDoubledInLiterals) {
  EXPECT_EQ(quoted_path("/a b/it's"), "'/a b/it''s'");
}

TEST(FilePathsTest, FoldersAreCreated) {
  test::TemporaryFolder folder;
  std::string wanted = folder.file("a/b/c");
  make_folders(wanted);
  make_folders(wanted);
  EXPECT_TRUE(is_folder(wanted));
  EXPECT_FALSE(is_folder(wanted + "/d"));
  EXPECT_THROW(make_folders("/proc/none/a"), UserError);
}

}  // namespace
}  // namespace pistachio
