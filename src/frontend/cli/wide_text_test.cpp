#include "frontend/cli/wide_text.h"

#include <gtest/gtest.h>

namespace pistachio {
namespace {

TEST(WideTextTest, RoundTrips) {
  for (std::string text : {"", "plain", "Grüße", "世界", "a\xF0\x9F\x8C\xB0z"}) EXPECT_EQ(to_utf8(to_wide(text)), text);
  EXPECT_EQ(to_wide("ü世").size(), 2u);
}

TEST(WideTextTest, InvalidCharactersAreReplaced) {
  EXPECT_EQ(to_wide("\xFF"), std::wstring(1, wchar_t{0xFFFD}));
  EXPECT_EQ(to_wide("a\xC3"), L"a" + std::wstring(1, wchar_t{0xFFFD}));
  EXPECT_EQ(to_wide("\xC0\x80").size(), 2u);                   // overlong encoding
  EXPECT_EQ(to_wide("\xED\xA0\x80")[0], wchar_t{0xFFFD});      // lone surrogate
  EXPECT_EQ(to_wide("\xF4\x90\x80\x80")[0], wchar_t{0xFFFD});  // beyond the last code point
  EXPECT_EQ(to_utf8(std::wstring(1, static_cast<wchar_t>(0x7FFFFFFF))), "\xEF\xBF\xBD");
}

}  // namespace
}  // namespace pistachio
