// See table_rules.h.
#include "session/table_rules.h"

#include <algorithm>

#include "parser/sql_lexer.h"

namespace pistachio {

namespace {

// Checks are SQL text: a name token of this name is the column, unless it is a function or behind a point.
template <typename Visit>
void for_each_use(const std::string& condition, const std::string& column, const Visit& visit) {
  SqlLexer lexer(condition);
  for (Token token; lexer.next(token);) {
    const bool is_name = token.kind == Token::Kind::Word || token.kind == Token::Kind::QuotedName;
    if (is_name && name_of_token(condition, token) == column) visit(token);
  }
}

}  // namespace

std::string without_brackets(const std::string& expression) {
  if (!expression.starts_with('(') || !expression.ends_with(')')) return expression;
  SqlLexer lexer(expression);
  int64_t depth = 0;
  for (Token token; lexer.next(token);) {
    depth += is_sign(expression, token, "(") ? 1 : is_sign(expression, token, ")") ? -1 : 0;
    // (a) AND (b)
    if (depth == 0 && token.end != static_cast<int64_t>(expression.size())) return expression;
  }
  return expression.substr(1, expression.size() - 2);
}

const ast::TableRules::Key* TableRules::primary_key() const {
  auto found = std::find_if(keys.begin(), keys.end(), [](const ast::TableRules::Key& key) { return key.is_primary; });
  return found == keys.end() ? nullptr : &*found;
}

void TableRules::rename_column(const std::string& from, const std::string& to) {
  if (auto known = defaults.extract(from)) {
    known.key() = to;
    defaults.insert(std::move(known));
  }
  for (ast::TableRules::Key& key : keys) std::replace(key.columns.begin(), key.columns.end(), from, to);
  std::string quoted = "\"";
  for (char c : to) quoted.append(c == '"' ? 2 : 1, c);
  quoted += '"';
  for (ast::TableRules::Check& check : checks) {
    std::string renamed;
    int64_t copied = 0;
    for_each_use(check.condition, from, [&](const Token& token) {
      renamed += check.condition.substr(static_cast<size_t>(copied), static_cast<size_t>(token.begin - copied)) + quoted;
      copied = token.end;
    });
    check.condition = renamed + check.condition.substr(static_cast<size_t>(copied));
  }
}

void TableRules::drop_column(const std::string& column) {
  defaults.erase(column);
  std::erase_if(keys, [&](const ast::TableRules::Key& key) {
    return std::find(key.columns.begin(), key.columns.end(), column) != key.columns.end();
  });
  std::erase_if(checks, [&](const ast::TableRules::Check& check) {
    bool uses = false;
    for_each_use(check.condition, column, [&](const Token&) { uses = true; });
    return uses;
  });
}

}  // namespace pistachio
