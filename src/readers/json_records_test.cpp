#include "readers/json_records.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"
#include "readers/json_splitter.h"

namespace pistachio {
namespace {

std::string unescaped(std::string_view text) {
  std::string made;
  unescape_json(text, [&](std::string_view piece) { made += piece; });
  return made;
}

TEST(JsonText, EscapesResolve) {
  EXPECT_EQ(unescaped("plain"), "plain");
  EXPECT_EQ(unescaped(R"(a\n\t\"\\\/b)"), "a\n\t\"\\/b");
  EXPECT_EQ(unescaped(R"(\u00e9\ud83d\ude00)"), "\xC3\xA9\xF0\x9F\x98\x80");
  EXPECT_EQ(unescaped(R"(\ud83d!)"), "\xEF\xBF\xBD!");
  EXPECT_EQ(unescaped("cut\\"), "cut\\");
  EXPECT_EQ(unescaped("\\u12"), "u12");
}

TEST(JsonText, ValuesEnd) {
  auto end_of = [](std::string_view text) {
    const JsonValue value = read_json_value(text.data(), text.data() + text.size());
    return value.end == nullptr ? -1 : value.end - text.data();
  };
  EXPECT_EQ(end_of(R"({"a":"}"},1)"), 9);
  EXPECT_EQ(end_of(R"("a\"b" )"), 6);
  EXPECT_EQ(end_of("-1.5e3,"), 6);
  EXPECT_EQ(end_of("null}"), 4);
  for (std::string_view damaged : {"", "[1", "{\"a", "\"a\\\"", "01a", "1.", "tru", "-"}) EXPECT_EQ(end_of(damaged), -1) << damaged;
}

TEST(JsonText, DamageIsNoCut) {
  auto damage_of = [](std::string_view text) {
    const JsonValue value = read_json_value(text.data(), text.data() + text.size());
    EXPECT_EQ(value.end, nullptr) << text;
    return value.damage == nullptr ? -1 : value.damage - text.data();
  };
  for (std::string_view cut : {"[1", "{\"a\":[", "\"a", "\"a\\", "tru", "-", "[\"]"}) EXPECT_EQ(damage_of(cut), -1) << cut;
  EXPECT_EQ(damage_of("{\"a\":[1}}"), 7);
  EXPECT_EQ(damage_of("[{]"), 2);
  EXPECT_EQ(damage_of("\"a\nb\""), 2);
  EXPECT_EQ(damage_of("[\"\xC3\xA9 is long enough\tfor words\"]"), 19);
  EXPECT_EQ(damage_of("oops,"), 0);
}

// Brackets of both kinds, deeper than one word of bits.
TEST(JsonText, DeepBracketsKeepTheirKind) {
  for (size_t depth : {63U, 64U, 65U, 128U, 129U, 200U}) {
    std::string text;
    std::string closing;
    for (size_t i = 0; i < depth; ++i) {
      const bool is_object = i % 3 == 0 || i % 7 == 2;
      text += is_object ? '{' : '[';
      closing.insert(closing.begin(), is_object ? '}' : ']');
    }
    text += closing;
    EXPECT_EQ(read_json_value(text.data(), text.data() + text.size()).end, text.data() + text.size()) << depth;
    for (size_t wrong = depth; wrong < 2 * depth; ++wrong) {
      std::string damaged = text;
      damaged[wrong] = text[wrong] == '}' ? ']' : '}';
      EXPECT_EQ(read_json_value(damaged.data(), damaged.data() + damaged.size()).damage, damaged.data() + wrong) << depth;
    }
  }
}

size_t first_cut(JsonLayout layout, std::string_view text, bool ends_file = false) {
  return JsonSplitter(layout).end_of_records(text, {.file = "f.json", .first_line = 1}, ends_file);
}

TEST(JsonSplitter, CutsBehindWholeRecords) {
  EXPECT_EQ(first_cut(JsonLayout::Lines, "{}\n{\"a\""), 3U);
  EXPECT_EQ(first_cut(JsonLayout::Lines, "{}\n{\"a\"", true), 7U);
  EXPECT_EQ(first_cut(JsonLayout::Array, "{\"a\":[1]}, {\"a\""), 11U);
  EXPECT_EQ(first_cut(JsonLayout::Array, "{\"a\":\"]"), 0U);
  EXPECT_EQ(first_cut(JsonLayout::Array, "1, 23 ", false), 6U);
  EXPECT_EQ(first_cut(JsonLayout::Loose, "{} {} 12"), 6U);
  EXPECT_EQ(first_cut(JsonLayout::Loose, "{} {} 12", true), 8U);
}

// What the splitter makes of a file's text in pieces of some bytes: the error, or nothing.
std::string problem_in_pieces(JsonLayout layout, std::string_view text, size_t piece) {
  JsonSplitter splitter(layout);
  size_t done = 0;
  try {
    for (size_t end = std::min(piece, text.size());; end = std::min(end + piece, text.size())) {
      const size_t cut = splitter.end_of_records(text.substr(done, end - done), {.file = "f.json", .first_line = 1}, end == text.size());
      done += cut;
      if (end == text.size()) break;
    }
  } catch (const DataError& error) {
    return error.what();
  }
  EXPECT_EQ(done, text.size());
  return "";
}

TEST(JsonSplitter, DamageIsFoundWhereverBlocksEnd) {
  const std::pair<std::string_view, std::string_view> arrays[] = {
      {"{\"a\":1}, [2, 3] ,\"]\", 12, null ] \n", ""},
      {"]", ""},
      {"{\"a\":1},{\"a\":2}", "the file ends within its array"},
      {"", "the file ends within its array"},
      {"1,", "the file ends within its array"},
      {"1,{\"a\"", "the file ends within a record"},
      {"1,,2]", "it is not JSON at ',2]'"},
      {",2]", "it is not JSON at ','"},
      {"1,]", "it is not JSON at ']'"},
      {"1 2]", "a comma between elements of the array is missing"},
      {"1] 2", "text follows the array"},
      {"1]]", "text follows the array"},
      {"{\"a\":[1}}, 2]", "it is not JSON at '}"},
      {"\"a\nb\"]", "it is not JSON at '\\x0a"},
      {"1, oops ]", "it is not JSON"},
  };
  for (const auto& [text, problem] : arrays) {
    for (size_t piece = 1; piece < 20; ++piece) {
      const std::string found = problem_in_pieces(JsonLayout::Array, text, piece);
      const std::string wanted(
          problem.substr(0, problem.find(" at '") == std::string_view::npos ? problem.size() : problem.find('\'') + 2));
      EXPECT_TRUE(problem.empty() ? found.empty() : found.find(wanted) != std::string::npos) << text << " / " << piece << ": " << found;
    }
  }
  EXPECT_EQ(problem_in_pieces(JsonLayout::Loose, "{} 1 \"x\"[]", 3), "");
  EXPECT_NE(problem_in_pieces(JsonLayout::Loose, "{},{}", 3), "");
}

TEST(JsonSplitter, DeepNestingIsNoProblem) {
  const std::string deep = "{\"a\":" + std::string(1 << 20, '[') + std::string(1 << 20, ']') + "}";
  EXPECT_EQ(first_cut(JsonLayout::Loose, deep), deep.size());
}

}  // namespace
}  // namespace pistachio
