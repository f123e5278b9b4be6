#include "exec/operators/join_shape.h"

#include <algorithm>

namespace pistachio {

namespace {

// Hashes, order and offsets of a hash table, and computed keys.
constexpr int64_t kTableBytesPerRow = 64;
// When rows with equal keys are treated as one: the group table that finds them, while it grows.
constexpr int64_t kGroupingBytesPerRow = 256;

}  // namespace

JoinShape::JoinShape(const PhysicalJoin& join, const std::vector<ColumnId>& layout, std::vector<ColumnId> left, std::vector<ColumnId> right,
                     std::vector<LogicalType> types_of_left, std::vector<LogicalType> types_of_right)
    : plan(join),
      left_layout(std::move(left)),
      right_layout(std::move(right)),
      left_types(std::move(types_of_left)),
      right_types(std::move(types_of_right)) {
  const ColumnSet given(layout.begin(), layout.end());
  auto places_in = [&](const std::vector<ColumnId>& side) {
    std::vector<size_t> places;
    for (size_t i = 0; i < side.size(); ++i) {
      if (given.contains(side[i])) places.push_back(i);
    }
    return places;
  };
  left_places = places_in(left_layout);
  right_places = places_in(right_layout);
  gives_mark = plan.kind == JoinKind::Mark && given.contains(plan.mark);
}

bool JoinShape::gives_pairs() const {
  return plan.kind == JoinKind::Inner || plan.kind == JoinKind::Left || plan.kind == JoinKind::Right || plan.kind == JoinKind::Full ||
         plan.kind == JoinKind::Single;
}

bool JoinShape::asks_for_matched_build_rows() const {
  return plan.kind == JoinKind::Right || plan.kind == JoinKind::Full || plan.kind == JoinKind::RightSemi || plan.kind == JoinKind::RightAnti;
}

bool JoinShape::asks_for_left_matches() const {
  return plan.kind != JoinKind::Inner && plan.kind != JoinKind::Right && plan.kind != JoinKind::RightSemi &&
         plan.kind != JoinKind::RightAnti;
}

bool JoinShape::asks_for_any_match() const {
  const bool is_question = plan.kind == JoinKind::Semi || plan.kind == JoinKind::Anti || plan.kind == JoinKind::RightSemi ||
                           plan.kind == JoinKind::RightAnti || plan.kind == JoinKind::Mark;
  return is_question && plan.conditions.empty();
}

int64_t JoinShape::bytes_of_table(int64_t bytes, int64_t rows) const {
  if (!has_table()) return bytes;
  return std::max(bytes, rows * (asks_for_any_match() ? kGroupingBytesPerRow : kTableBytesPerRow));
}

int64_t JoinShape::bytes_kept(int64_t bytes, int64_t rows) const {
  return bytes + (has_table() ? rows * kTableBytesPerRow : 0);
}

// Without keys and bounds, every row is a candidate.
bool JoinShape::has_table() const {
  return !plan.keys.empty() || !plan.compared_keys.empty() || !plan.bounds.empty();
}

bool JoinShape::wants_left_rows(int64_t build_rows) const {
  return build_rows > 0 || plan.kind == JoinKind::Left || plan.kind == JoinKind::Full || plan.kind == JoinKind::Anti ||
         plan.kind == JoinKind::Mark || plan.kind == JoinKind::Single;
}

}  // namespace pistachio
