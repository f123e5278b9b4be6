#include "frontend/cli/prompt_history.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/support/temporary_folder.h"

namespace pistachio {
namespace {

using Lines = std::vector<std::string>;

Lines lines_of(const std::string& path) {
  Lines lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TEST(PromptHistoryTest, SkipsBlankRepeatedAndLongLines) {
  test::TemporaryFolder folder;
  std::string path = folder.file("state/pistachio/history");
  PromptHistory history(path);
  EXPECT_TRUE(history.add("SELECT 1;"));
  EXPECT_FALSE(history.add("SELECT 1;"));
  EXPECT_FALSE(history.add("  \t"));
  EXPECT_FALSE(history.add(std::string(100'000, 'x')));
  EXPECT_TRUE(history.add("SELECT 2;"));
  EXPECT_EQ(lines_of(path), (Lines{"SELECT 1;", "SELECT 2;"}));
  EXPECT_EQ(PromptHistory(path).lines(), (Lines{"SELECT 1;", "SELECT 2;"}));
  struct stat facts {};
  ASSERT_EQ(::stat(path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
}

TEST(PromptHistoryTest, SessionsAppendToEachOther) {
  test::TemporaryFolder folder;
  std::string path = folder.file("history");
  PromptHistory one(path);
  PromptHistory other(path);
  one.add("a");
  other.add("b");
  one.add("c");
  EXPECT_EQ(lines_of(path), (Lines{"a", "b", "c"}));
}

TEST(PromptHistoryTest, FailureIsLoggedOnce) {
  test::TemporaryFolder folder;
  std::vector<std::string> messages;
  Logger logger(LogLevel::Info, [&](const LogRecord& record) { messages.push_back(record.message); });
  PromptHistory history(folder.file(""), logger);  // a folder cannot be written
  EXPECT_TRUE(history.add("a"));
  EXPECT_TRUE(history.add("b"));
  EXPECT_EQ(history.lines(), (Lines{"a", "b"}));
  EXPECT_EQ(messages, Lines{"cannot write the history of the prompt"});
}

TEST(PromptHistoryTest, FileIsInStateFolder) {
  EXPECT_EQ(history_file_path("/state", "/home/me"), "/state/pistachio/history");
  EXPECT_EQ(history_file_path("relative", "/home/me"), "/home/me/.local/state/pistachio/history");
  EXPECT_EQ(history_file_path(nullptr, "/home/me"), "/home/me/.local/state/pistachio/history");
  EXPECT_EQ(history_file_path(nullptr, nullptr), "");
}

}  // namespace
}  // namespace pistachio
