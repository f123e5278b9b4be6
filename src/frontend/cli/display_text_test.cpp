#include "frontend/cli/display_text.h"

#include <gtest/gtest.h>

namespace pistachio {
namespace {

TEST(DisplayText, WideCharactersTakeTwoColumns) {
  EXPECT_EQ(display_width(""), 0U);
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("grün"), 4U);
  EXPECT_EQ(display_width("日本語"), 6U);
  EXPECT_EQ(display_width("e\u0301"), 1U);  // a combining accent
  EXPECT_EQ(display_width("\xff\xc3"), 2U);
}

TEST(DisplayText, CutTextEndsInEllipsis) {
  EXPECT_EQ(cut_to_width("abc", 3), "abc");
  EXPECT_EQ(cut_to_width("abcd", 3), "ab…");
  EXPECT_EQ(cut_to_width("日本語", 6), "日本語");
  EXPECT_EQ(cut_to_width("日本語", 5), "日本…");
  EXPECT_EQ(cut_to_width("日本語", 4), "日…");
}

}  // namespace
}  // namespace pistachio
