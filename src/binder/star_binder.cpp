// The select list with * and COLUMNS(...) expanded to the columns of the tables.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "binder/expression_copy.h"
#include "binder/name_match.h"
#include "binder/query_binder.h"
#include "binder/syntax_walk.h"
#include "expr/regular_expression.h"

namespace pistachio {

namespace {

bool same_name(const std::string& written, const std::string& name) {
  return written == name || (may_be_unquoted(written) && matches_without_case(written, name));
}

// The first COLUMNS of an expression; null if there is none.
const ast::Star* find_columns(const ast::Expression& expression) {
  if (const auto* star = std::get_if<ast::Star>(&expression.node)) return star->is_columns ? star : nullptr;
  const ast::Star* found = nullptr;
  for_each_child(expression, [&](const ast::Expression& child) {
    if (found == nullptr) found = find_columns(child);
  });
  return found;
}

std::string text_of(const ast::Star& star) {
  std::string text = star.pattern.value_or("*");
  for (const std::string& part : star.qualifier) text += "." + part;
  for (const std::string& name : star.names) text += "," + name;
  for (const std::vector<std::string>& parts : star.excluded) text += "-" + parts.back();
  return text;
}

}  // namespace

// One * or COLUMNS.
class QueryBinder::StarExpansion {
 public:
  StarExpansion(const ast::Star& star, const NameScope& scope, int64_t position) : star_(star), scope_(scope), position_(position) {}

  // The columns it stands for. Those that cannot be read go to `left_out`.
  std::vector<ListedColumn> expand(size_t place, std::vector<OmittedColumn>& left_out) {
    std::optional<std::string> of_table;
    if (!star_.qualifier.empty()) {
      of_table = scope_.find_table(star_.qualifier.back(), position_);
      if (!of_table) refuse_at(fmt::format("there is no table {} in FROM", star_.qualifier.back()), position_);
    }
    if (star_.qualifier.empty() && scope_.columns().empty()) refuse_at("SELECT * needs a FROM", position_);
    std::optional<RegularExpression> pattern;
    if (star_.pattern) pattern.emplace(compile_pattern());
    std::vector<ListedColumn> listed;
    for (const ScopeColumn& column : scope_.columns()) {
      const bool is_given = of_table ? column.table == *of_table : !column.needs_table;
      if (!is_given || !is_wanted(column, pattern) || is_excluded(column)) continue;
      if (!column.unsupported.empty()) {
        left_out.push_back({column.name, column.unsupported, place + listed.size()});
        continue;
      }
      listed.push_back(change(column));
    }
    refuse_unused();
    if (listed.empty() && star_.is_columns) refuse_at("COLUMNS matches no column", position_);
    if (listed.empty() && !star_.excluded.empty()) refuse_at("EXCLUDE leaves no column of *", position_);
    return listed;
  }

 private:
  RegularExpression compile_pattern() const {
    try {
      return RegularExpression(*star_.pattern, {});
    } catch (const UserError& error) {
      refuse_at(error.message(), position_);
    }
  }

  bool is_wanted(const ScopeColumn& column, const std::optional<RegularExpression>& pattern) {
    if (pattern) return pattern->matches_part(column.name);
    if (star_.names.empty()) return true;
    bool wanted = false;
    for (const std::string& name : star_.names) {
      if (!same_name(name, column.name)) continue;
      wanted = true;
      used_.insert(&name);
    }
    return wanted;
  }

  bool is_excluded(const ScopeColumn& column) {
    bool excluded = false;
    for (const std::vector<std::string>& parts : star_.excluded) {
      if (!same_name(parts.back(), column.name)) continue;
      if (parts.size() > 1 && !same_name(parts[parts.size() - 2], column.table)) continue;
      used_.insert(&parts.back());
      excluded = true;
    }
    return excluded;
  }

  ListedColumn change(const ScopeColumn& column) {
    ListedColumn listed{.item = nullptr, .column = &column, .name = column.name, .position = position_};
    for (const ast::Star::Renaming& renaming : star_.renamed) {
      if (!same_name(renaming.from, column.name)) continue;
      used_.insert(&renaming.from);
      listed.name = renaming.to;
    }
    for (const ast::SelectItem& item : star_.replaced) {
      if (!same_name(item.alias, column.name)) continue;
      used_.insert(&item.alias);
      listed.item = &item;
      listed.column = nullptr;
    }
    return listed;
  }

  void refuse_unused() const {
    auto check = [&](const std::string& name, std::string_view word) {
      if (!used_.contains(&name)) refuse_at(fmt::format("{} names a column that * does not have: {}", word, name), position_);
    };
    for (const std::vector<std::string>& parts : star_.excluded) check(parts.back(), "EXCLUDE");
    for (const ast::SelectItem& item : star_.replaced) check(item.alias, "REPLACE");
    for (const ast::Star::Renaming& renaming : star_.renamed) check(renaming.from, "RENAME");
    for (const std::string& name : star_.names) check(name, "COLUMNS");
  }

  const ast::Star& star_;
  const NameScope& scope_;
  const int64_t position_;
  std::set<const std::string*> used_;
};

std::vector<ListedColumn> QueryBinder::expand_list(const ast::Select& select, const NameScope& scope,
                                                   std::vector<OmittedColumn>& left_out) {
  std::vector<ListedColumn> list;
  for (const ast::SelectItem& item : select.items) {
    const ast::Expression& expression = *item.expression;
    if (const auto* star = std::get_if<ast::Star>(&expression.node)) {
      for (ListedColumn& listed : StarExpansion(*star, scope, expression.position).expand(list.size(), left_out))
        list.push_back(std::move(listed));
      continue;
    }
    if (find_columns(expression) == nullptr) {
      list.push_back({.item = &item, .column = nullptr, .name = item.alias, .position = expression.position});
      continue;
    }
    for (ast::ExpressionPtr& copy : copy_for_columns(expression, scope)) {
      made_items_.push_back({std::move(copy), item.alias});
      list.push_back({.item = &made_items_.back(), .column = nullptr, .name = item.alias, .position = expression.position});
    }
  }
  return list;
}

std::vector<const ast::Expression*> QueryBinder::expand_columns(const ast::Expression& expression, const NameScope& scope) {
  if (find_columns(expression) == nullptr) return {&expression};
  std::vector<const ast::Expression*> expanded;
  for (ast::ExpressionPtr& copy : copy_for_columns(expression, scope)) {
    made_items_.push_back({std::move(copy), ""});
    expanded.push_back(made_items_.back().expression.get());
  }
  return expanded;
}

// A copy of the expression for each column that its COLUMNS stands for.
std::vector<ast::ExpressionPtr> QueryBinder::copy_for_columns(const ast::Expression& expression, const NameScope& scope) {
  const ast::Star& columns = *find_columns(expression);
  std::vector<OmittedColumn> unreadable;
  std::vector<ast::ExpressionPtr> copies;
  for (const ListedColumn& listed : StarExpansion(columns, scope, expression.position).expand(0, unreadable)) {
    if (listed.item != nullptr) refuse_at("REPLACE inside COLUMNS is not supported in an expression", expression.position);
    copies.push_back(copy_expression(expression, [&](const ast::Star& star, int64_t position) -> ast::ExpressionPtr {
      if (!star.is_columns || text_of(star) != text_of(columns)) refuse_at("all COLUMNS of an expression must be the same", position);
      ast::ColumnName name;
      if (!listed.column->table.empty()) name.parts.push_back(listed.column->table);
      name.parts.push_back(listed.column->name);
      return std::make_unique<ast::Expression>(ast::Expression{std::move(name), position});
    }));
  }
  return copies;
}

}  // namespace pistachio
