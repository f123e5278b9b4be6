// One writer that appends to a string; one method per kind of node in ast.h. See ast_text.h.
#include "parser/ast_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "parser/ast_writer.h"

namespace pistachio {

namespace {

bool is_plain_name(std::string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  return std::all_of(name.begin(), name.end(), [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

// Functions that the grammar only accepts without parentheses.
bool is_bare_function(std::string_view name) {
  constexpr std::array<std::string_view, 11> bare = {"current_date",   "current_time",    "current_timestamp", "localtime",
                                                     "localtimestamp", "current_role",    "current_user",      "user",
                                                     "session_user",   "current_catalog", "current_schema"};
  return std::find(bare.begin(), bare.end(), name) != bare.end();
}

}  // namespace

void AstWriter::write_name(std::string_view name) {
  if (is_plain_name(name)) return add(name);
  text += '"';
  for (char c : name) text.append(c == '"' ? 2 : 1, c);
  text += '"';
}

void AstWriter::write_names(const std::vector<std::string>& names, std::string_view separator) {
  write_list(names, separator, [this](const std::string& name) { write_name(name); });
}

void AstWriter::write_text(std::string_view value) {
  text += '\'';
  for (char c : value) text.append(c == '\'' ? 2 : 1, c);
  text += '\'';
}

void AstWriter::write_aliases(const std::vector<std::string>& aliases) {
  if (aliases.empty()) return;
  add("(");
  write_names(aliases, ", ");
  add(")");
}

void AstWriter::write_order(const std::vector<ast::OrderItem>& items) {
  write_list(items, ", ", [this](const ast::OrderItem& item) {
    write(*item.expression);
    if (item.descending) add(" DESC");
    if (item.nulls == ast::OrderItem::Nulls::First) add(" NULLS FIRST");
    if (item.nulls == ast::OrderItem::Nulls::Last) add(" NULLS LAST");
  });
}

void AstWriter::write(const ast::TypeName& type) {
  write_name(type.name);
  if (!type.interval_fields.empty()) add(" " + type.interval_fields);
  if (!type.modifiers.empty()) add(fmt::format("({})", fmt::join(type.modifiers, ", ")));
}

void AstWriter::write_node(const ast::Literal& node) {
  if (node.kind == ast::Literal::Kind::Text) return write_text(node.text);
  add(node.kind == ast::Literal::Kind::Null ? "NULL" : std::string_view(node.text));
}

void AstWriter::write_node(const ast::Star& node) {
  if (node.is_columns) add("COLUMNS(");
  if (node.pattern) {
    write_text(*node.pattern);
  } else if (!node.names.empty()) {
    add("[");
    write_list(node.names, ", ", [this](const std::string& name) { write_text(name); });
    add("]");
  } else {
    write_names(node.qualifier, ".");
    add(node.qualifier.empty() ? "*" : ".*");
    write_changes(node);
  }
  if (node.is_columns) add(")");
}

void AstWriter::write_changes(const ast::Star& node) {
  auto write_section = [&](const char* word, const auto& items, auto write_item) {
    if (items.empty()) return;
    add(word);
    write_list(items, ", ", write_item);
    add(")");
  };
  write_section(" EXCLUDE (", node.excluded, [this](const std::vector<std::string>& parts) { write_names(parts, "."); });
  write_section(" REPLACE (", node.replaced, [this](const ast::SelectItem& item) {
    write(*item.expression);
    add(" AS ");
    write_name(item.alias);
  });
  write_section(" RENAME (", node.renamed, [this](const ast::Star::Renaming& item) {
    write_name(item.from);
    add(" AS ");
    write_name(item.to);
  });
}

// A loop along the left side: a chain of operators is as deep as it is long.
void AstWriter::write_node(const ast::Operator& node) {
  std::vector<const ast::Operator*> chain = {&node};
  while (chain.back()->operands.size() >= 2) {
    const auto* left = std::get_if<ast::Operator>(&chain.back()->operands[0]->node);
    if (left == nullptr) break;
    chain.push_back(left);
  }
  text.append(chain.size(), '(');
  const ast::Operator& deepest = *chain.back();
  if (deepest.operands.size() == 1) {
    add(deepest.name);
    // A blank keeps two minus signs from becoming a comment.
    add(" ");
    write(*deepest.operands[0]);
    add(")");
    chain.pop_back();
  } else {
    write(*deepest.operands[0]);
  }
  for (size_t i = chain.size(); i-- > 0;) write_operator_end(*chain[i]);
}

void AstWriter::write_operator_end(const ast::Operator& node) {
  std::string sign = " " + node.name + " ";
  for (char& c : sign) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  add(sign);
  write(*node.operands[1]);
  if (node.operands.size() == 3) {
    add(" ESCAPE ");
    write(*node.operands[2]);
  }
  add(")");
}

void AstWriter::write_node(const ast::Logical& node) {
  add(node.kind == ast::Logical::Kind::Not ? "(NOT " : "(");
  write_expressions(node.operands, node.kind == ast::Logical::Kind::And ? " AND " : " OR ");
  add(")");
}

void AstWriter::write_node(const ast::Test& node) {
  constexpr std::array<std::string_view, 8> words = {"NULL",  "NOT NULL",  "TRUE",    "NOT TRUE",
                                                     "FALSE", "NOT FALSE", "UNKNOWN", "NOT UNKNOWN"};
  add("(");
  write(*node.operand);
  add(" IS ");
  add(words[static_cast<size_t>(node.kind)]);
  add(")");
}

void AstWriter::write_node(const ast::Between& node) {
  add("(");
  write(*node.operand);
  add(node.negated ? " NOT BETWEEN " : " BETWEEN ");
  if (node.symmetric) add("SYMMETRIC ");
  write(*node.low);
  add(" AND ");
  write(*node.high);
  add(")");
}

void AstWriter::write_node(const ast::InList& node) {
  add("(");
  write(*node.operand);
  add(node.negated ? " NOT IN (" : " IN (");
  write_expressions(node.list);
  add("))");
}

void AstWriter::write_node(const ast::Call& node) {
  write_name(node.name);
  if (node.arguments.empty() && is_bare_function(node.name)) return;
  if (node.name == "extract" && node.arguments.size() == 2) {
    add("(");
    write_expressions(node.arguments, " FROM ");
    return add(")");
  }
  add(node.distinct ? "(DISTINCT " : "(");
  if (node.star) add("*");
  write_expressions(node.arguments);
  if (!node.order_by.empty()) {
    add(node.within_group ? ") WITHIN GROUP (ORDER BY " : " ORDER BY ");
    write_order(node.order_by);
  }
  if (node.ignore_nulls) add(" IGNORE NULLS");
  add(")");
  if (node.filter != nullptr) {
    add(" FILTER (WHERE ");
    write(*node.filter);
    add(")");
  }
  if (node.over == nullptr) return;
  add(" OVER ");
  if (node.over->is_reference) return write_name(node.over->base);
  write_window(*node.over);
}

// In brackets.
void AstWriter::write_window(const ast::WindowDefinition& window) {
  add("(");
  const size_t begin = text.size();
  const auto begin_part = [&](std::string_view words) {
    if (text.size() > begin) add(" ");
    add(words);
  };
  if (!window.base.empty()) write_name(window.base);
  if (!window.partition_by.empty()) {
    begin_part("PARTITION BY ");
    write_expressions(window.partition_by);
  }
  if (!window.order_by.empty()) {
    begin_part("ORDER BY ");
    write_order(window.order_by);
  }
  if (window.frame) {
    begin_part("");
    write_frame(*window.frame);
  }
  add(")");
}

void AstWriter::write_frame(const ast::WindowFrame& frame) {
  constexpr std::array<std::string_view, 3> units = {"ROWS", "RANGE", "GROUPS"};
  constexpr std::array<std::string_view, 4> exclusions = {"", " EXCLUDE CURRENT ROW", " EXCLUDE GROUP", " EXCLUDE TIES"};
  add(units[static_cast<size_t>(frame.unit)]);
  add(" BETWEEN ");
  write_bound(frame.begin);
  add(" AND ");
  write_bound(frame.end);
  add(exclusions[static_cast<size_t>(frame.exclusion)]);
}

void AstWriter::write_bound(const ast::FrameBound& bound) {
  constexpr std::array<std::string_view, 5> words = {"UNBOUNDED PRECEDING", " PRECEDING", "CURRENT ROW", " FOLLOWING", "UNBOUNDED FOLLOWING"};
  if (bound.offset != nullptr) write(*bound.offset);
  add(words[static_cast<size_t>(bound.kind)]);
}

void AstWriter::write_node(const ast::Cast& node) {
  add("CAST(");
  write(*node.operand);
  add(" AS ");
  write(node.type);
  add(")");
}

void AstWriter::write_node(const ast::Case& node) {
  add("CASE");
  if (node.operand != nullptr) {
    add(" ");
    write(*node.operand);
  }
  for (const ast::Case::When& when : node.whens) {
    add(" WHEN ");
    write(*when.condition);
    add(" THEN ");
    write(*when.result);
  }
  if (node.otherwise != nullptr) {
    add(" ELSE ");
    write(*node.otherwise);
  }
  add(" END");
}

void AstWriter::write_node(const ast::Subquery& node) {
  using Kind = ast::Subquery::Kind;
  const bool compared = node.operand != nullptr;
  if (compared) {
    add("(");
    write(*node.operand);
    add(node.kind == Kind::In ? " IN " : " " + node.comparison + (node.kind == Kind::Any ? " ANY " : " ALL "));
  }
  add(node.kind == Kind::Exists ? "EXISTS (" : "(");
  write(*node.query);
  add(compared ? "))" : ")");
}

void AstWriter::write_node(const ast::Row& node) {
  add("ROW(");
  write_expressions(node.fields);
  add(")");
}

void AstWriter::write_alias(const ast::TableReference& table) {
  if (table.alias.empty()) return;
  add(" AS ");
  write_name(table.alias);
  write_aliases(table.column_aliases);
}

void AstWriter::write(const ast::TableReference& table) {
  std::visit([this](const auto& node) { write_node(node); }, table.node);
  write_alias(table);
}

void AstWriter::write_node(const ast::TableFunction& node) {
  write_name(node.name);
  add("(");
  write_expressions(node.arguments);
  for (const ast::TableOption& option : node.options) write_option(option);
  add(")");
}

void AstWriter::write_option(const ast::TableOption& option) {
  add(", ");
  write_name(option.name);
  add(" = ");
  const bool has_keys = !option.keys.empty();
  add(has_keys ? "{" : option.is_list ? "[" : "");
  for (size_t i = 0; i < option.values.size(); ++i) {
    if (i > 0) add(", ");
    if (has_keys) {
      write_text(option.keys[i]);
      add(": ");
    }
    write(*option.values[i]);
  }
  add(has_keys ? "}" : option.is_list ? "]" : "");
}

void AstWriter::write_node(const ast::SubqueryTable& node) {
  add(node.lateral ? "LATERAL (" : "(");
  write(*node.query);
  add(")");
}

void AstWriter::write_node(const ast::JoinTable& node) {
  std::vector<const ast::JoinTable*> chain = {&node};
  while (const auto* left = std::get_if<ast::JoinTable>(&chain.back()->left->node)) chain.push_back(left);
  text.append(chain.size(), '(');
  write(*chain.back()->left);
  for (size_t i = chain.size(); i-- > 0;) {
    if (i + 1 < chain.size()) write_alias(*chain[i]->left);
    write_join_end(*chain[i]);
  }
}

void AstWriter::write_join_end(const ast::JoinTable& node) {
  constexpr std::array<std::string_view, 7> words = {"", "LEFT ", "RIGHT ", "FULL ", "CROSS ", "SEMI ", "ANTI "};
  add(node.natural ? " NATURAL " : " ");
  add(words[static_cast<size_t>(node.kind)]);
  add("JOIN ");
  write(*node.right);
  if (node.condition != nullptr) {
    add(" ON ");
    write(*node.condition);
  }
  if (!node.using_columns.empty()) add(" USING ");
  write_aliases(node.using_columns);
  add(")");
}

void AstWriter::write(const ast::Query& query) {
  if (!query.with.empty()) {
    add(query.recursive ? "WITH RECURSIVE " : "WITH ");
    write_list(query.with, ", ", [this](const ast::CommonTable& table) {
      write_name(table.name);
      write_aliases(table.column_aliases);
      add(!table.materialized ? " AS (" : *table.materialized ? " AS MATERIALIZED (" : " AS NOT MATERIALIZED (");
      write(*table.query);
      add(")");
    });
    add(" ");
  }
  std::visit([this](const auto& node) { write_node(node); }, query.body);
  write_query_end(query);
}

void AstWriter::write_query_end(const ast::Query& query) {
  if (!query.order_by.empty()) {
    add(" ORDER BY ");
    write_order(query.order_by);
  }
  if (query.limit != nullptr && !query.with_ties) {
    add(" LIMIT ");
    write(*query.limit);
  }
  if (query.offset != nullptr) {
    add(" OFFSET ");
    write(*query.offset);
  }
  if (query.with_ties) {
    add(" FETCH FIRST (");
    write(*query.limit);
    add(") ROWS WITH TIES");
  }
}

void AstWriter::write(const ast::SelectItem& item) {
  write(*item.expression);
  if (item.alias.empty()) return;
  add(" AS ");
  write_name(item.alias);
}

void AstWriter::write_node(const ast::Select& node) {
  add("SELECT ");
  if (node.distinct) add("DISTINCT ");
  if (!node.distinct_on.empty()) {
    add("ON (");
    write_expressions(node.distinct_on);
    add(") ");
  }
  write_list(node.items, ", ", [this](const ast::SelectItem& item) { write(item); });
  if (!node.from.empty()) add(" FROM ");
  write_list(node.from, ", ", [this](const ast::TableReferencePtr& table) { write(*table); });
  if (node.where != nullptr) {
    add(" WHERE ");
    write(*node.where);
  }
  if (node.group_by_all) {
    add(" GROUP BY ALL");
  } else if (node.grouping_sets) {
    add(node.distinct_sets ? " GROUP BY DISTINCT GROUPING SETS (" : " GROUP BY GROUPING SETS (");
    write_list(*node.grouping_sets, ", ", [&](const std::vector<size_t>& set) {
      add("(");
      write_list(set, ", ", [&](size_t place) { write(*node.group_by[place]); });
      add(")");
    });
    add(")");
  } else if (!node.group_by.empty()) {
    add(" GROUP BY ");
    write_expressions(node.group_by);
  } else if (node.group_by_nothing) {
    add(" GROUP BY ()");
  }
  if (node.having != nullptr) {
    add(" HAVING ");
    write(*node.having);
  }
  if (!node.windows.empty()) add(" WINDOW ");
  write_list(node.windows, ", ", [this](const ast::WindowDefinition& window) {
    write_name(window.name);
    add(" AS ");
    write_window(window);
  });
  if (node.qualify != nullptr) {
    add(" QUALIFY ");
    write(*node.qualify);
  }
}

void AstWriter::write_node(const ast::Values& node) {
  add("VALUES ");
  write_list(node.rows, ", ", [this](const std::vector<ast::ExpressionPtr>& row) {
    add("(");
    write_expressions(row);
    add(")");
  });
}

void AstWriter::write_node(const ast::SetOperation& node) {
  constexpr std::array<std::string_view, 3> words = {") UNION ", ") INTERSECT ", ") EXCEPT "};
  std::vector<const ast::SetOperation*> chain = {&node};
  // A left operand with WITH is written like any query; the loop only follows chains of set operations.
  while (chain.back()->left->with.empty()) {
    const auto* left = std::get_if<ast::SetOperation>(&chain.back()->left->body);
    if (left == nullptr) break;
    chain.push_back(left);
  }
  text.append(chain.size(), '(');
  write(*chain.back()->left);
  for (size_t i = chain.size(); i-- > 0;) {
    const ast::SetOperation& operation = *chain[i];
    if (i + 1 < chain.size()) write_query_end(*operation.left);
    add(words[static_cast<size_t>(operation.kind)]);
    add(operation.all ? "ALL (" : "(");
    write(*operation.right);
    add(")");
  }
}

namespace {

template <typename Node>
std::string write_all(const Node& node) {
  AstWriter writer;
  writer.write(node);
  return std::move(writer.text);
}

}  // namespace

std::string to_text(const ast::Expression& expression) {
  return write_all(expression);
}
std::string to_text(const ast::TableReference& table) {
  return write_all(table);
}
std::string to_text(const ast::Query& query) {
  return write_all(query);
}
std::string to_text(const ast::Statement& statement) {
  return write_all(statement);
}
std::string to_text(const ast::TypeName& type) {
  return write_all(type);
}

}  // namespace pistachio
