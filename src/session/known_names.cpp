#include "session/known_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "expr/aggregate_function.h"
#include "expr/function_table.h"
#include "expr/window_function.h"

namespace pistachio {

namespace {

// Operators are functions too, but are not written as calls.
bool is_called_by_name(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](unsigned char letter) { return std::isalnum(letter) != 0 || letter == '_'; });
}

std::string_view null_rule_text(NullRule rule) {
  switch (rule) {
    case NullRule::Strict: return "NULL on NULL input";
    case NullRule::Own: return "as described";
  }
  return "";
}

constexpr std::array<std::string_view, 5> kShownLists = {"all", "functions", "links", "rules", "tables"};

}  // namespace

std::vector<FunctionFacts> function_facts() {
  std::vector<FunctionFacts> facts;
  for (const Function* function : all_functions()) {
    facts.push_back({function->name, is_called_by_name(function->name) ? "function" : "operator", function->signature,
                     null_rule_text(function->null_rule), function->description});
  }
  const AggregateFunction& rows = count_rows_aggregate();
  facts.push_back({rows.name, "aggregate", rows.signature, "counted", rows.description});
  for (const AggregateFunction& function : all_aggregates())
    facts.push_back({function.name, "aggregate", function.signature, "left out", function.description});
  for (const WindowFunction& function : all_window_functions()) {
    facts.push_back({function.name, "window", function.signature, function.may_ignore_nulls ? "counted, unless IGNORE NULLS" : "as described",
                     function.description});
  }
  return facts;
}

std::vector<std::string> function_names() {
  std::set<std::string> names;
  for (const Function* function : all_functions()) {
    if (is_called_by_name(function->name)) names.emplace(function->name);
  }
  for (const AggregateFunction& function : all_aggregates()) names.emplace(function.name);
  for (const WindowFunction& function : all_window_functions()) names.emplace(function.name);
  return {names.begin(), names.end()};
}

std::span<const std::string_view> shown_lists() {
  return kShownLists;
}

}  // namespace pistachio
