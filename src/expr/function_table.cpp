#include "expr/function_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>

#include "base/error.h"
#include "expr/constant_comparison.h"
#include "expr/date_fields.h"
#include "expr/type_rules.h"

namespace pistachio {

namespace {

struct Table {
  std::map<std::string_view, std::vector<const Function*>> by_name;
  std::vector<const Function*> sorted;

  Table() {
    for (std::span<const Function> family :
         {arithmetic_functions(), comparison_functions(), number_functions(), text_functions(), pattern_functions(), date_functions()}) {
      for (const Function& function : family) {
        by_name[function.name].push_back(&function);
        sorted.push_back(&function);
      }
    }
    std::stable_sort(sorted.begin(), sorted.end(), [](const Function* left, const Function* right) { return left->name < right->name; });
  }
};

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
  return fmt::format("there is no function {}; SHOW FUNCTIONS lists what there is", name);
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
