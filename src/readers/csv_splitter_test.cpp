#include "readers/csv_splitter.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "readers/csv_records.h"

namespace pistachio {
namespace {

std::vector<std::string> fields_of(const TextDialect& dialect, std::string_view text) {
  std::vector<std::string> fields;
  while (!text.empty()) {
    if (dialect.comment != 0 && text.front() == dialect.comment) {
      const size_t line = text.find(dialect.line_end);
      text.remove_prefix(line == std::string_view::npos ? text.size() : line + 1);
      continue;
    }
    CsvRecordText record;
    const size_t length = read_csv_record(dialect, text, record);
    for (std::string& field : record.fields) fields.push_back(std::move(field));
    fields.emplace_back("<end>");
    text.remove_prefix(length);
  }
  return fields;
}

// The text in pieces as a scan cuts it: the rest behind the last record is put before the next piece.
std::vector<std::string> fields_of_pieces(const TextDialect& dialect, std::string_view text, size_t piece) {
  std::vector<std::string> fields;
  std::string carried;
  while (!text.empty() || !carried.empty()) {
    const size_t taken = std::min(piece, text.size());
    carried += text.substr(0, taken);
    text.remove_prefix(taken);
    const size_t length = text.empty() ? carried.size() : end_of_csv_records(dialect, carried);
    for (std::string& field : fields_of(dialect, std::string_view(carried).substr(0, length))) fields.push_back(std::move(field));
    carried.erase(0, length);
  }
  return fields;
}

TEST(CsvSplitter, EveryPieceSizeGivesTheSameRecords) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const std::string_view marks[] = {",", "\n", "\r\n", "\"", "\"\"", "a", " ", "bc", ",\"x\ny\",", "\\\"", "\n# \""};
  for (int round = 0; round < 200; ++round) {
    TextDialect dialect;
    if (round % 3 == 1) dialect.escape = '\\';
    if (round % 2 == 1) dialect.comment = '#';
    std::string text;
    for (int i = 0; i < 60; ++i) text += marks[random() % std::size(marks)];
    const std::vector<std::string> whole = fields_of(dialect, text);
    for (size_t piece = 1; piece < 40; piece += 1 + random() % 5)
      EXPECT_EQ(fields_of_pieces(dialect, text, piece), whole) << text << "\npieces of " << piece;
  }
}

TEST(CsvSplitter, NoRecordEndsInsideQuotes) {
  TextDialect dialect;
  EXPECT_EQ(end_of_csv_records(dialect, "a,\"x\ny"), 0U);
  EXPECT_EQ(end_of_csv_records(dialect, "a\nb,\"x\ny"), 2U);
  EXPECT_EQ(end_of_csv_records(dialect, "a,\"x\"\"\ny\"\nz"), 10U);
  EXPECT_EQ(end_of_csv_records(dialect, "5\" disk\nb"), 8U);
}

TEST(CsvSplitter, QuotesInCommentsOpenNothing) {
  TextDialect dialect;
  dialect.comment = '#';
  const std::string_view comment = "# he said, \"hi\n";
  EXPECT_EQ(end_of_csv_records(dialect, comment), comment.size());
  EXPECT_EQ(end_of_csv_records(dialect, "# \"a\n1,\"x\n# y\"\n2"), 15U);
  EXPECT_EQ(end_of_csv_records(dialect, "1,\"x\n# \"\n# \"\n\"2"), 13U);
  EXPECT_EQ(end_of_csv_records(dialect, "1,# \"a\n2"), 7U);
  EXPECT_EQ(end_of_csv_records(dialect, "# cut"), 0U);
}

}  // namespace
}  // namespace pistachio
