#include "base/log.h"

#include <gtest/gtest.h>

#include "base/format_bytes.h"

namespace pistachio {
namespace {

TEST(LogTest, RecordsReachTheSinkWithTheirFields) {
  std::vector<LogRecord> records;
  Logger logger(LogLevel::Info, [&](const LogRecord& record) { records.push_back(record); });
  logger.debug("too quiet");
  logger.warning("slow read", {{"file", "a b.parquet"}, {"milliseconds", 17}});
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].level, LogLevel::Warning);
  EXPECT_EQ(records[0].fields[1].value, "17");
}

TEST(LogTest, RecordIsOneLine) {
  LogRecord record{std::chrono::system_clock::time_point(std::chrono::milliseconds(1'500)),
                   LogLevel::Error,
                   "two\nlines",
                   {{"plain", "x"}, {"quoted", "a \"b\"\n"}, {"empty", ""}}};
  EXPECT_EQ(record.to_line(), "1970-01-01T00:00:01.500Z ERROR two\\nlines plain=x quoted=\"a \\\"b\\\"\\n\" empty=\"\"");
}

TEST(FormatBytesTest, PicksTheUnit) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes((int64_t{1} << 20) - 1), "1.0 MiB");
  EXPECT_EQ(format_bytes(int64_t{4} << 30), "4.0 GiB");
  EXPECT_EQ(format_bytes(INT64_MAX), "8.0 EiB");
}

}  // namespace
}  // namespace pistachio
