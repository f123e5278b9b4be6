// GROUP BY: GROUPING SETS, ROLLUP and CUBE become the list of sets they stand for. See tree_converter.h.
#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "base/error.h"
#include "parser/tree_converter.h"

namespace pistachio {

namespace {

using Sets = std::vector<std::vector<size_t>>;

// PostgreSQL's limit: CUBE of twelve expressions.
constexpr size_t most_grouping_sets = 4096;

void check_set_count(size_t count, int64_t position) {
  if (count > most_grouping_sets) throw UserError(fmt::format("GROUP BY has more than {} grouping sets", most_grouping_sets), position);
}

// Every set of `left` united with every set of `right`.
Sets combine_sets(const Sets& left, const Sets& right, int64_t position) {
  check_set_count(left.size() * right.size(), position);
  Sets combined;
  for (const std::vector<size_t>& first : left) {
    for (const std::vector<size_t>& second : right) {
      combined.push_back(first);
      combined.back().insert(combined.back().end(), second.begin(), second.end());
    }
  }
  return combined;
}

bool is_implicit_row(const Json& node) {
  return kind_of(node) == "RowExpr" && text_field(body_of(node), "row_format") == "COERCE_IMPLICIT_CAST";
}

}  // namespace

void TreeConverter::group_clause(const Json& list, bool distinct, ast::Select& result) {
  if (list.size() == 1 && kind_of(list.front()) == "ColumnRef" && find_marker(list.front(), Marker::Kind::All) != nullptr) {
    result.group_by_all = true;
    return;
  }
  bool has_sets = false;
  Sets sets = {{}};
  for (const Json& node : list) {
    const bool is_set = kind_of(node) == "GroupingSet";
    const bool is_nothing = is_set && text_field(body_of(node), "kind") == "GROUPING_SET_EMPTY";
    result.group_by_nothing = result.group_by_nothing || is_nothing;
    has_sets = has_sets || (is_set && !is_nothing);
    sets = combine_sets(sets, grouping_sets(node, result), is_set ? position(body_of(node)) : -1);
  }
  if (!has_sets) return;
  result.group_by_nothing = false;
  result.grouping_sets = std::move(sets);
  result.distinct_sets = distinct;
}

// The sets of one item of GROUP BY; its expressions are added to group_by.
Sets TreeConverter::grouping_sets(const Json& node, ast::Select& result) {
  const Descent descent(*this, 1, 1);
  const Json& body = body_of(node);
  if (kind_of(node) != "GroupingSet") {
    std::vector<size_t> places;
    auto add = [&](ast::ExpressionPtr expression) {
      places.push_back(result.group_by.size());
      result.group_by.push_back(std::move(expression));
    };
    // (a, b) is one item of two expressions.
    if (is_implicit_row(node)) {
      for (ast::ExpressionPtr& field : expressions(find_field(body, "args"))) add(std::move(field));
    } else {
      add(expression(node));
    }
    return {std::move(places)};
  }
  const std::string_view kind = text_field(body, "kind");
  if (kind == "GROUPING_SET_EMPTY") return {{}};
  Sets sets;
  if (kind == "GROUPING_SET_SETS") {
    for (const Json& item : body.at("content")) {
      for (std::vector<size_t>& set : grouping_sets(item, result)) sets.push_back(std::move(set));
      check_set_count(sets.size(), position(body));
    }
    return sets;
  }
  if (kind == "GROUPING_SET_CUBE") {
    sets = {{}};
    for (const Json& item : body.at("content")) {
      Sets choice = grouping_sets(item, result);
      choice.emplace_back();
      sets = combine_sets(sets, choice, position(body));
    }
    return sets;
  }
  std::vector<size_t> prefix;
  sets.push_back(prefix);
  for (const Json& item : body.at("content")) {
    const Sets next = grouping_sets(item, result);
    prefix.insert(prefix.end(), next.front().begin(), next.front().end());
    sets.push_back(prefix);
    check_set_count(sets.size(), position(body));
  }
  return sets;
}

}  // namespace pistachio
