#include "readers/json_records.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

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

TEST(JsonRecords, LayoutsEndRecords) {
  EXPECT_EQ(end_of_json_records(JsonLayout::Lines, "{}\n{\"a\""), 3U);
  EXPECT_EQ(end_of_json_records(JsonLayout::Array, "{\"a\":[1]}, {\"a\""), 9U);
  EXPECT_EQ(end_of_json_records(JsonLayout::Array, "{\"a\":\"]"), 0U);
  EXPECT_EQ(end_of_json_records(JsonLayout::Loose, "{} {} 12"), 5U);
}

TEST(JsonRecords, DeepNestingIsNoProblem) {
  const std::string deep = "{\"a\":" + std::string(1 << 20, '[') + std::string(1 << 20, ']') + "}";
  EXPECT_EQ(end_of_json_records(JsonLayout::Loose, deep), deep.size());
}

}  // namespace
}  // namespace pistachio
