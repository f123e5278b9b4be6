#include "frontend/bench/svg_chart.h"

#include <gtest/gtest.h>

namespace pistachio {
namespace {

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(SvgChartTest, BarsHaveMarksAndParts) {
  BarChart chart{.title = "a < b & c", .mark_name = "T_min", .bars = {}};
  chart.bars.push_back({"4 columns", "blocking", 2, "2 s", 1, {{"storage", 1}, {"link", 0.5}}});
  chart.bars.push_back({"4 columns", "deferred", 1, "1 s", {}, {}});
  std::string drawn = draw(chart);
  EXPECT_TRUE(drawn.starts_with("<svg "));
  EXPECT_TRUE(drawn.ends_with("</svg>\n"));
  EXPECT_NE(drawn.find("a &lt; b &amp; c"), std::string::npos);
  EXPECT_NE(drawn.find(">4 columns: deferred</text>"), std::string::npos);
  EXPECT_EQ(count(drawn, "<line "), 2u);  // of the mark and of its legend
  EXPECT_EQ(count(drawn, "<rect "), 1u + 2 + 2 + 2);  // background, bars, parts, their legend
}

TEST(SvgChartTest, LinesHaveAPointForEachFigure) {
  LineChart chart{.title = "t", .x_title = "x", .y_title = "y", .doubling_x = true, .x_ticks = {{4096, "4 KiB"}}, .series = {}};
  chart.series.push_back({"one", {{4096, 1}, {16384, 3}}});
  chart.series.push_back({"two", {{4096, 2}}});
  std::string drawn = draw(chart);
  EXPECT_EQ(count(drawn, "<polyline "), 2u);
  EXPECT_EQ(count(drawn, "<circle "), 3u);
  EXPECT_EQ(count(drawn, ">4 KiB<"), 1u);
  EXPECT_EQ(drawn.find("nan"), std::string::npos);
}

TEST(SvgChartTest, ChartsAreStacked) {
  LineChart chart{.title = "first", .x_title = "x", .y_title = "y", .doubling_x = true, .x_ticks = {}, .series = {{"one", {{1, 1}}}}};
  std::string one = draw(chart);
  std::string two = draw(std::vector<LineChart>{chart, chart});
  EXPECT_EQ(count(two, "<svg "), 1u);
  EXPECT_EQ(count(two, "<g transform=\"translate(0,"), 2u);
  EXPECT_EQ(count(two, ">first<"), 2u);
  EXPECT_NE(one.find("height=\"420\""), std::string::npos);
  EXPECT_NE(two.find("height=\"840\""), std::string::npos);
}

TEST(SvgChartTest, EmptyInputDrawsNothing) {
  EXPECT_EQ(draw(BarChart{}).find("nan"), std::string::npos);
  EXPECT_EQ(draw(LineChart{}).find("nan"), std::string::npos);
  EXPECT_EQ(draw(LineChart{}).find("inf"), std::string::npos);
}

}  // namespace
}  // namespace pistachio
