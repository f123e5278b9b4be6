// What a session knows about its tables in memory besides their rows: defaults, checks and keys. Plain values; a transaction copies them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "parser/ast.h"

namespace pistachio {

struct TableRules {
  // By column; the pointers keep the statement alive that the expression is a part of.
  std::map<std::string, std::shared_ptr<const ast::Expression>> defaults;
  std::vector<ast::TableRules::Check> checks;
  std::vector<ast::TableRules::Key> keys;

  const ast::TableRules::Key* primary_key() const;
  // Also in the text of checks: they are parsed again with the new name.
  void rename_column(const std::string& from, const std::string& to);
  // Forgets the column's default and the rules that use it.
  void drop_column(const std::string& column);
};

// An expression as SQL without the brackets around all of it.
std::string without_brackets(const std::string& expression);

}  // namespace pistachio
