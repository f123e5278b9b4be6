#include "expr/function_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <deque>
#include <map>
#include <memory>

#include "base/error.h"
#include "expr/aggregate_function.h"
#include "expr/constant_comparison.h"
#include "expr/date_fields.h"
#include "expr/function_families.h"
#include "expr/nearest_name.h"
#include "expr/type_rules.h"
#include "expr/window_function.h"

namespace pistachio {

namespace {

struct Table {
  std::map<std::string_view, std::vector<const Function*>> by_name;
  std::vector<const Function*> sorted;
  std::deque<Function> copies;    // under other names
  std::deque<std::string> texts;  // their signatures

  void add_alias(const FunctionAlias& alias);
  Table() {
    for (std::span<const Function> family :
         {arithmetic_functions(), comparison_functions(), number_functions(), text_functions(), pattern_functions(), checksum_functions(),
          similarity_functions(), date_functions(), date_format_functions(), special_number_functions(), cast_functions()}) {
      for (const Function& function : family) {
        by_name[function.name].push_back(&function);
        sorted.push_back(&function);
      }
    }
    for (const FunctionAlias& alias : function_aliases()) add_alias(alias);
    std::stable_sort(sorted.begin(), sorted.end(), [](const Function* left, const Function* right) { return left->name < right->name; });
  }
};

void Table::add_alias(const FunctionAlias& alias) {
  const std::vector<const Function*> originals = by_name[alias.name];
  for (const Function* original : originals) {
    Function& copy = copies.emplace_back(*original);
    copy.name = alias.alias;
    // length(text VARCHAR) -> BIGINT becomes len(text VARCHAR) -> BIGINT; an operator has its operands between signs.
    const std::string_view rest = original->signature;
    const bool is_call = rest.starts_with(alias.name) && rest.substr(alias.name.size()).starts_with('(');
    copy.signature = texts.emplace_back(is_call ? fmt::format("{}{}", alias.alias, rest.substr(alias.name.size()))
                                                : fmt::format("{}(...), the same as {}", alias.alias, rest));
    by_name[alias.alias].push_back(&copy);
    sorted.push_back(&copy);
  }
}

const Table& table() {
  static const Table functions;
  return functions;
}

std::string describe_arguments(const std::vector<ExpressionPtr>& arguments) {
  std::vector<std::string> types;
  for (const ExpressionPtr& argument : arguments) types.push_back(argument->is_untyped() ? "unknown" : argument->type().to_string());
  return fmt::format("{}", fmt::join(types, ", "));
}

// Operators and special forms reach the function table under the parser's names: name the feature that the user wrote, not that name.
std::string describe_missing(std::string_view name) {
  const bool is_operator = !std::isalpha(static_cast<unsigned char>(name.front())) || name.find(' ') != std::string_view::npos;
  if (is_operator) return fmt::format("the operator {} is not supported", name);
  if (name == "timezone") return "AT TIME ZONE is not supported: a TIMESTAMP WITH TIME ZONE is shown in UTC";
  NearestName nearest(name);
  for (const auto& [known, functions] : table().by_name) nearest.consider(known);
  for (const AggregateFunction& aggregate : all_aggregates()) nearest.consider(aggregate.name);
  for (const WindowFunction& window : all_window_functions()) nearest.consider(window.name);
  if (!nearest.nearest().empty()) return fmt::format("there is no function {}; did you mean {}?", name, nearest.nearest());
  return fmt::format("there is no function {}; SHOW FUNCTIONS lists all", name);
}

// Comparisons and arithmetic, where an untyped literal next to a number is a number.
bool takes_numbers(std::string_view name) {
  constexpr std::string_view names[] = {"=", "<>", "<", "<=", ">", ">=", "is distinct from", "is not distinct from",
                                        "+", "-",  "*", "/",  "%", "mod"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

std::span<const Function* const> find_functions(std::string_view name) {
  auto found = table().by_name.find(name);
  if (found == table().by_name.end()) return {};
  return found->second;
}

const std::vector<const Function*>& all_functions() {
  return table().sorted;
}

ExpressionPtr make_call(std::string_view name, std::vector<ExpressionPtr> arguments, int64_t position) {
  std::optional<int64_t> where = position >= 0 ? std::optional(position) : std::nullopt;
  // The field determines the result type, so each field is a separate function.
  bool takes_field = (name == "extract" || name == "date_part") && arguments.size() == 2 && arguments[0]->is_constant() &&
                     !arguments[0]->value().is_null && arguments[0]->type().kind() == TypeKind::Varchar;
  if (takes_field) {
    try {
      return make_call(extract_function_name(parse_date_field(arguments[0]->value().text)), {arguments[1]}, position);
    } catch (const UserError& error) {
      throw UserError(error.message(), error.position() ? error.position() : where);
    }
  }
  std::span<const Function* const> overloads = find_functions(name);
  if (overloads.empty()) throw UserError(describe_missing(name), where);
  bool any_decimal = std::any_of(arguments.begin(), arguments.end(),
                                 [](const ExpressionPtr& argument) { return argument->type().kind() == TypeKind::Decimal; });
  if (any_decimal) {
    if (takes_numbers(name)) {
      for (ExpressionPtr& argument : arguments) argument = as_decimal_literal(std::move(argument));
    }
    if (ExpressionPtr comparison = compare_with_long_constant(name, arguments, position)) return comparison;
  }
  if (ExpressionPtr comparison = compare_with_distant_moment(name, arguments, position)) return comparison;
  std::vector<LogicalType> types;
  std::unique_ptr<bool[]> literals = std::make_unique<bool[]>(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    types.push_back(any_decimal ? narrow_constant_type(*arguments[i]) : arguments[i]->type());
    literals[i] = arguments[i]->is_untyped();
  }
  for (const Function* function : overloads) {
    std::optional<FunctionTypes> match = function->resolve(types, {literals.get(), arguments.size()});
    if (!match) continue;
    for (size_t i = 0; i < arguments.size(); ++i) arguments[i] = coerce(std::move(arguments[i]), match->arguments[i]);
    return Expression::call(*function, std::move(arguments), match->result, position);
  }
  std::vector<std::string_view> candidates;
  for (const Function* function : overloads) candidates.push_back(function->signature);
  throw UserError(fmt::format("{} does not take ({}); candidates: {}", name, describe_arguments(arguments), fmt::join(candidates, "; ")),
                  where);
}

}  // namespace pistachio
