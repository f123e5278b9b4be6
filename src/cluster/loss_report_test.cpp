#include "cluster/loss_report.h"

#include <dirent.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <sstream>

#include "tests/support/temporary_folder.h"

namespace pistachio {
namespace {

size_t files_in(const std::string& folder) {
  std::unique_ptr<DIR, int (*)(DIR*)> listing(::opendir(folder.c_str()), ::closedir);
  size_t files = 0;
  while (const dirent* entry = ::readdir(listing.get())) files += entry->d_name[0] != '.' ? 1 : 0;
  return files;
}

TEST(LossReportTest, ReportIsWrittenAndOldOnesDeleted) {
  test::TemporaryFolder folder;
  std::string last;
  for (int i = 0; i < 40; ++i) last = write_loss_report(folder.path(), 3, "report " + std::to_string(i));
  ASSERT_NE(last, "");
  std::ifstream file(last);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), "report 39");
  EXPECT_EQ(files_in(last.substr(0, last.rfind('/'))), 16u);
}

TEST(LossReportTest, ForeignFolderIsNotTouched) {
  EXPECT_EQ(write_loss_report("/nowhere", 0, "text"), "");
  test::TemporaryFolder folder;
  std::string taken = folder.path() + "/pistachio-" + std::to_string(geteuid());
  std::ofstream(taken) << "a file";
  EXPECT_EQ(write_loss_report(folder.path(), 0, "text"), "");
}

}  // namespace
}  // namespace pistachio
