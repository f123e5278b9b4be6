#include "frontend/cli/on_path_figures.h"

#include <gtest/gtest.h>

namespace pistachio {
namespace {

// Every rank has all of 1000 keys: 16,000 bytes arrive if senders deduplicate, 8,000 if their hosts do. The link takes 16 s for the former.
OnPathCellFigures cell_with(double off_seconds, double on_seconds, double auto_seconds) {
  OnPathCellFigures cell;
  cell.cell.data = {.model = KeyModel::Overlap, .key_bits = 32, .tuples = 100'000, .uniqueness = 0.01};
  cell.cell.gigabits = 10;
  cell.cell.link_limit = 1000;
  auto add = [&](const char* name, std::optional<DedupeAt> dedupes, double seconds, int64_t bytes) {
    OnPathRun run{.seconds = seconds};
    run.wire_bytes = bytes;
    cell.variants.push_back({{name, {}, dedupes}, {run}});
  };
  add("off", DedupeAt::SenderRank, off_seconds, 16'200);
  add("on", DedupeAt::SenderHost, on_seconds, 8'100);
  add("auto", std::nullopt, auto_seconds, 8'100);
  return cell;
}

const OnPathCheck* find(const std::vector<OnPathCheck>& checks, std::string_view rule) {
  for (const OnPathCheck& check : checks) {
    if (check.rule == rule) return &check;
  }
  return nullptr;
}

TEST(OnPathFiguresTest, AutoIsComparedWithTheBetter) {
  std::vector<OnPathCellFigures> cells = {cell_with(20, 10, 10.4)};
  EXPECT_TRUE(find(on_path_checks(cells), kAutoRule)->holds);
  cells = {cell_with(20, 10, 10.6)};
  std::vector<OnPathCheck> checks = on_path_checks(cells);
  EXPECT_FALSE(find(checks, kAutoRule)->holds);
  EXPECT_DOUBLE_EQ(find(checks, kAutoRule)->value, 1.06);
  cells[0].variants.pop_back();
  EXPECT_EQ(find(on_path_checks(cells), kAutoRule), nullptr);
}

TEST(OnPathFiguresTest, GainCountsOnlyWhereLinkIsBottleneck) {
  std::vector<OnPathCellFigures> cells = {cell_with(20, 13, 13)};
  EXPECT_TRUE(find(on_path_checks(cells), kGainRule)->holds);
  cells = {cell_with(20, 14, 14)};
  EXPECT_FALSE(find(on_path_checks(cells), kGainRule)->holds);
  cells = {cell_with(25, 19, 19)};  // 65 % of T
  EXPECT_EQ(find(on_path_checks(cells), kGainRule), nullptr);
  cells = {cell_with(20, 14, 14)};
  cells[0].cell.data.uniqueness = 0.8;  // the ranks of a host have few keys in common
  EXPECT_EQ(find(on_path_checks(cells), kGainRule), nullptr);
  cells = {cell_with(20, 14, 14)};
  cells[0].cell.link_limit = 0;
  EXPECT_EQ(find(on_path_checks(cells), kGainRule), nullptr);
}

TEST(OnPathFiguresTest, BytesAreComparedWithTheModel) {
  std::vector<OnPathCellFigures> cells = {cell_with(2, 1, 1)};
  std::vector<OnPathCheck> checks = on_path_checks(cells);
  ASSERT_EQ(std::count_if(checks.begin(), checks.end(), [](const OnPathCheck& own) { return own.rule == kBytesRule; }), 2);
  EXPECT_TRUE(find(checks, kBytesRule)->holds);
  EXPECT_NEAR(find(checks, kBytesRule)->value, 0.0125, 1e-6);
  cells[0].variants[0].runs[0].wire_bytes = 14'000;
  EXPECT_FALSE(find(on_path_checks(cells), kBytesRule)->holds);
}

TEST(OnPathFiguresTest, ThroughputCountsTuplesOfAllSources) {
  OnPathCellFigures cell = cell_with(20, 10, 10);
  EXPECT_DOUBLE_EQ(cell.tuples_per_second(cell.find("off")->middle()), 20'000);
  EXPECT_EQ(cell.find("none"), nullptr);
  EXPECT_DOUBLE_EQ(*cell.link_seconds(cell.find("off")->middle()), 16.2);
}

}  // namespace
}  // namespace pistachio
