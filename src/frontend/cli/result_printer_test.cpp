#include "frontend/cli/result_printer.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>

#include "base/error.h"
#include "columns/scalar_access.h"
#include "frontend/cli/result_output.h"

namespace pistachio {
namespace {

// Prints one value of the given text to a file, under a token that is cancelled before the value arrives.
class CancelledPrint : public testing::TestWithParam<ResultFormat> {
 protected:
  void print(const std::string& text) {
    ResultOutput output(file_.get());
    std::unique_ptr<ResultReceiver> printer = make_result_printer(GetParam(), output, 0, false);
    CancelSource source;
    printer->start(source.token());
    printer->begin({{"t", TypeKind::Varchar}});
    source.cancel("enough");
    std::vector<Column> columns = {column_of_values(TypeKind::Varchar, {ScalarValue::of_text(TypeKind::Varchar, text)})};
    printer->add(Chunk(std::move(columns), 1));
    printer->end();
  }

  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{std::tmpfile(), std::fclose};
};

TEST_P(CancelledPrint, LongValueIsBrokenOff) {
  EXPECT_THROW(print(std::string(8 << 20, 'a')), Cancelled);
  EXPECT_THROW(print(std::string(8 << 20, '"')), Cancelled);
  EXPECT_LT(std::ftell(file_.get()), 8 << 20);
}

TEST_P(CancelledPrint, ShortValueIsPrinted) {
  print("short");
  EXPECT_GT(std::ftell(file_.get()), 5);
}

INSTANTIATE_TEST_SUITE_P(Formats, CancelledPrint,
                         testing::Values(ResultFormat::Csv, ResultFormat::Json, ResultFormat::JsonLines, ResultFormat::Box,
                                         ResultFormat::Markdown));

class PrintedText : public testing::Test {
 protected:
  std::string print(ResultFormat format, const std::string& text) {
    ResultOutput output(file_.get());
    std::unique_ptr<ResultReceiver> printer = make_result_printer(format, output, 0, false);
    printer->start({});
    printer->begin({{"t", TypeKind::Varchar}});
    std::vector<Column> columns = {column_of_values(TypeKind::Varchar, {ScalarValue::of_text(TypeKind::Varchar, text)})};
    printer->add(Chunk(std::move(columns), 1));
    printer->end();
    std::string printed(static_cast<size_t>(std::ftell(file_.get())), '\0');
    std::rewind(file_.get());
    printed.resize(std::fread(printed.data(), 1, printed.size(), file_.get()));
    std::rewind(file_.get());
    return printed;
  }

  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{std::tmpfile(), std::fclose};
};

// Blocks of a megabyte start in the middle of a character.
TEST_F(PrintedText, LongTextIsWholeAcrossBlocks) {
  std::string text = "x\"";
  for (int i = 0; i < 1'000'000; ++i) text += "é";
  std::string escaped = "x\\\"" + text.substr(2);
  EXPECT_TRUE(print(ResultFormat::JsonLines, text) == "{\"t\":\"" + escaped + "\"}\n");
  EXPECT_TRUE(print(ResultFormat::Csv, text) == "t\n\"x\"\"" + text.substr(2) + "\"\n");
  std::string rule;
  for (int i = 0; i < 1'000'004; ++i) rule += "─";
  std::string blanks(1'000'001, ' ');
  std::string box = "┌" + rule + "┐\n│ t" + blanks + " │\n├" + rule + "┤\n│ " + text + " │\n└" + rule + "┘\n1 row\n";
  EXPECT_TRUE(print(ResultFormat::Box, text) == box);
}

TEST_F(PrintedText, InvalidUtf8InJsonIsReplaced) {
  EXPECT_EQ(print(ResultFormat::JsonLines, "a\xff" "b"), "{\"t\":\"a\uFFFD" "b\"}\n");
  EXPECT_EQ(print(ResultFormat::JsonLines, "aéb"), "{\"t\":\"aéb\"}\n");
}

}  // namespace
}  // namespace pistachio
