// Writes syntax trees as SQL; see ast_text.h. One writer that appends to a string, with one method per kind of node in ast.h: queries and
// expressions in ast_text.cpp, statements in ast_statement_text.cpp.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "parser/ast.h"

namespace pistachio {

class AstWriter {
 public:
  void write(const ast::Expression& expression) {
    std::visit([this](const auto& node) { write_node(node); }, expression.node);
  }
  void write(const ast::TableReference& table);
  void write(const ast::Query& query);
  void write(const ast::Statement& statement) {
    std::visit([this](const auto& node) { write_node(node); }, statement.node);
  }
  void write(const ast::TypeName& type);

  std::string text;

 private:
  // ---- pieces
  void add(std::string_view piece) { text += piece; }
  void write_name(std::string_view name);
  void write_names(const std::vector<std::string>& names, std::string_view separator);
  void write_text(std::string_view value);
  void write_aliases(const std::vector<std::string>& aliases);
  void write_order(const std::vector<ast::OrderItem>& items);
  void write_window(const ast::WindowDefinition& window);
  void write_frame(const ast::WindowFrame& frame);
  void write_bound(const ast::FrameBound& bound);
  template <typename Items, typename Write>
  void write_list(const Items& items, std::string_view separator, Write write_item) {
    bool first = true;
    for (const auto& item : items) {
      if (!first) add(separator);
      first = false;
      write_item(item);
    }
  }
  void write_expressions(const std::vector<ast::ExpressionPtr>& list, std::string_view separator = ", ") {
    write_list(list, separator, [this](const ast::ExpressionPtr& item) { write(*item); });
  }

  // ---- expressions
  void write_node(const ast::Literal& node);
  void write_node(const ast::ColumnName& node) { write_names(node.parts, "."); }
  void write_node(const ast::Star& node);
  void write_changes(const ast::Star& node);
  void write_node(const ast::Operator& node);
  void write_node(const ast::Logical& node);
  void write_node(const ast::Test& node);
  void write_node(const ast::Between& node);
  void write_node(const ast::InList& node);
  void write_node(const ast::Call& node);
  void write_node(const ast::Cast& node);
  void write_node(const ast::Case& node);
  void write_node(const ast::Subquery& node);
  void write_node(const ast::Row& node);
  void write_operator_end(const ast::Operator& node);

  // ---- tables
  void write_node(const ast::NamedTable& node) { write_names(node.parts, "."); }
  void write_node(const ast::FileTable& node) { write_text(node.path); }
  void write_node(const ast::TableFunction& node);
  void write_option(const ast::TableOption& option);
  void write_node(const ast::SubqueryTable& node);
  void write_node(const ast::JoinTable& node);
  void write_join_end(const ast::JoinTable& node);
  void write_alias(const ast::TableReference& table);

  // ---- queries
  void write(const ast::SelectItem& item);
  void write_node(const ast::Select& node);
  void write_node(const ast::Values& node);
  void write_node(const ast::SetOperation& node);
  void write_query_end(const ast::Query& query);

  // ---- statements
  void write_node(const ast::SelectStatement& node) { write(*node.query); }
  void write_node(const ast::CreateView& node);
  void write_node(const ast::CreateTable& node);
  void write_node(const ast::Insert& node);
  void write_returning(const ast::Query* returning);
  void write_node(const ast::Update& node);
  void write_node(const ast::Delete& node);
  void write_node(const ast::Truncate& node);
  void write_node(const ast::AlterTables& node);
  void write_node(const ast::CreateIndex& node);
  void write_node(const ast::CreateSchema& node);
  void write_node(const ast::Copy& node);
  void write_node(const ast::Transaction& node);
  void write_node(const ast::Drop& node);
  void write_node(const ast::Explain& node);
  void write_node(const ast::Set& node);
  void write_node(const ast::Show& node);
  void write_node(const ast::Describe& node);
};

}  // namespace pistachio
