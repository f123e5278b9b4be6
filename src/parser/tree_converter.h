// Converts PostgreSQL's parse tree of one statement to ours (ast.h), and rejects unsupported syntax by name. Used once per statement, by
// one thread, on a large stack; the text, the tokens and the rewritten statement must outlive it. The methods are in convert_*.cpp, by what
// they convert.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "parser/ast.h"
#include "parser/parse.h"
#include "parser/postgres_tree.h"
#include "parser/sql_lexer.h"
#include "parser/statement_rewrite.h"

namespace pistachio {

class TreeConverter {
 public:
  TreeConverter(std::string_view text, const std::vector<Token>& tokens, const RewrittenStatement& rewritten, const ParseLimits& limits,
                const CancelToken& token)
      : text_(text), tokens_(tokens), rewritten_(rewritten), limits_(limits), token_(token) {}

  ast::Statement convert(const Json& node);

 private:
  // ---- convert_statement.cpp, convert_definition.cpp
  ast::Statement statement(const Json& node, size_t first_token);
  ast::Statement describe(const Json& node);
  ast::Explain explain(const Json& body);
  size_t explained_token() const;
  ast::Set set(const Json& body);
  ast::CreateView create_view(const Json& body);
  ast::CreateTable create_table(const Json& body);
  ast::CreateTable create_table_as(const Json& body);
  ast::ColumnDefinition column_definition(const Json& body);
  ast::Insert insert(const Json& body);
  void column_rules(const Json& constraints, const std::string& column, ast::TableRules& rules);
  std::string_view constraint_name_of(const Json& constraint) const;
  ast::Drop drop(const Json& body);

  // ---- convert_change.cpp
  ast::QueryPtr select_from(ast::Select select, ast::TableReference from) const;
  ast::QueryPtr returning(const Json& body, const Json& relation);
  ast::QueryPtr marked_rows(const Json& relation, ast::ExpressionPtr condition);
  ast::QueryPtr assigned_rows(const Json& body, std::vector<ast::ExpressionPtr> values);
  ast::QueryPtr matched_rows(const Json& body, std::vector<ast::ExpressionPtr> values);
  std::vector<ast::TableReferencePtr> matched_tables(const Json& list, const std::string& changed);
  std::string changed_name(const Json& relation);
  ast::Update update(const Json& body);
  ast::Delete delete_rows(const Json& body);
  ast::Truncate truncate(const Json& body);
  ast::AlterTable rename(const Json& body);
  std::vector<ast::AlterTable> alter_table(const Json& body);
  ast::AlterTable alter_command(const Json& command);
  ast::CreateIndex create_index(const Json& body);
  ast::Transaction transaction(const Json& body) const;
  void table_constraint(const Json& constraint, ast::TableRules& rules);

  // ---- convert_copy.cpp
  void copy(const Json& body, ast::Statement& result);
  ast::TableFunction copied_file(std::string path, const std::vector<ast::Copy::Option>& options, int64_t at);
  ast::Insert copy_from(const Json& body, const std::vector<ast::Copy::Option>& options);
  ast::Copy copy_to(const Json& body, std::vector<ast::Copy::Option> options);
  ast::QueryPtr copied_query(const Json& body);
  ast::Copy::Option copy_option(const Json& body) const;
  std::string copy_value(const Json& node, int64_t option_position) const;

  std::string statement_words(size_t first_token) const;

  // ---- convert_query.cpp
  ast::QueryPtr query(const Json& node);        // {"SelectStmt": body}
  ast::QueryPtr query_body(const Json& body);   // body of a SelectStmt
  ast::QueryPtr plain_query(const Json& body);  // no set operation
  ast::Select select(const Json& body);
  ast::Values values(const Json& body);
  ast::SelectItem select_item(const Json& node);
  void query_clauses(const Json& body, ast::Query& result);
  void with_clause(const Json& body, ast::Query& result);
  ast::CommonTable common_table(const Json& body);
  ast::OrderItem order_item(const Json& node);
  std::vector<ast::OrderItem> order_items(const Json* list);
  void refuse_query_parts(const Json& body);

  // ---- convert_grouping.cpp
  void group_clause(const Json& list, bool distinct, ast::Select& result);
  std::vector<std::vector<size_t>> grouping_sets(const Json& node, ast::Select& result);
  int64_t query_position(const Json& body) const;

  // ---- convert_window.cpp
  ast::WindowDefinition window(const Json& body);
  std::optional<ast::WindowFrame> frame(const Json& body);
  // WINDOW and QUALIFY.
  void window_clause(const Json& list, ast::Select& result);
  // The marker of IGNORE NULLS or RESPECT NULLS, if that is what an argument stands for.
  const Marker* null_treatment(const Json& argument) const;

  // ---- convert_table.cpp
  ast::TableReferencePtr table(const Json& node);
  ast::TableReferencePtr join(const Json& node);
  ast::TableReferencePtr join_leaf(const Json& node);
  ast::TableReferencePtr one_join(const Json& body, ast::TableReferencePtr left, std::optional<ast::JoinTable::Kind> word);
  // SEMI or ANTI, if this is its marker.
  std::optional<ast::JoinTable::Kind> join_word(const Json& right) const;
  ast::TableReference named_table(const Json& body);
  ast::TableReference table_function(const Json& body);
  std::optional<ast::TableOption> table_option(const Json& node, const std::string& function);
  bool is_option_equation(const Json& body) const;
  void add_option_values(const Json& value, ast::TableOption& option);
  ast::TableReference subquery_table(const Json& body);
  void alias(const Json& body, ast::TableReference& result);
  std::vector<std::string> table_name(const Json& range_variable) const;

  // ---- convert_expression.cpp
  ast::ExpressionPtr expression(const Json& node);
  ast::ExpressionPtr optional_expression(const Json* node);
  std::vector<ast::ExpressionPtr> expressions(const Json* list);
  ast::ExpressionPtr column(const Json& body);
  ast::ExpressionPtr star(const Json& body);  // null: not a star
  ast::ExpressionPtr logical(const Json& body);
  ast::ExpressionPtr null_test(const Json& body);
  ast::ExpressionPtr boolean_test(const Json& body);
  ast::ExpressionPtr case_expression(const Json& body);
  ast::ExpressionPtr sublink(const Json& body);
  ast::ExpressionPtr row(const Json& body);
  ast::ExpressionPtr collate(const Json& body);

  // ---- convert_operator.cpp: the kinds of A_Expr
  ast::ExpressionPtr operator_expression(const Json& body);
  ast::ExpressionPtr plain_operator(const Json& body);
  ast::ExpressionPtr one_operator(const Json& body, ast::ExpressionPtr left);
  ast::ExpressionPtr pattern_operator(const Json& body, std::string_view kind);
  ast::ExpressionPtr between(const Json& body, std::string_view kind);
  ast::ExpressionPtr in_list(const Json& body);
  ast::ExpressionPtr any_or_all_of_list(const Json& body, bool any);
  std::string operator_name(const Json& body, const char* key = "name") const;

  // ---- convert_call.cpp
  ast::ExpressionPtr call(const Json& body);
  ast::ExpressionPtr call_of_list(const char* name, const Json& body, const char* key = "args");
  ast::ExpressionPtr value_function(const Json& body);
  std::string function_name(const Json& body) const;

  // ---- convert_star.cpp
  ast::ExpressionPtr changed_star(const Json& call);  // * EXCLUDE ...
  ast::ExpressionPtr columns_call(const Json& call);  // COLUMNS(...)
  std::string changed_column(const Json& argument) const;

  // ---- convert_literal.cpp
  ast::ExpressionPtr literal(const Json& body);
  std::string integer_text(const Json& constant) const;
  ast::ExpressionPtr cast(const Json& body);
  ast::TypeName type_name(const Json& body);
  void interval_modifiers(ast::TypeName& type) const;

  // ---- tree_converter.cpp: names, positions, refusals
  std::string name(std::string_view written) const;
  std::string name_of_node(const Json& node) const;  // {"String": ...}
  // The marker of this kind, if that is what a column's name stands for.
  const Marker* find_marker(const Json& column, Marker::Kind kind) const;
  // The marker of a call whose name stands for something else.
  const Marker* marker_of_call(const Json& call) const;
  std::vector<std::string> names(const Json* list) const;
  int64_t position(const Json& body) const;  // of its "location"
  size_t token_at(int64_t position) const;   // the first token that ends after it
  // Position of the first occurrence of these consecutive words; else the start of the statement.
  int64_t position_of(std::initializer_list<std::string_view> words) const;
  [[noreturn]] void refuse(std::string_view what, int64_t position) const;
  [[noreturn]] void refuse_words(std::initializer_list<std::string_view> words) const;
  template <typename Node>
  ast::ExpressionPtr make(Node node, int64_t position) const {
    return std::make_unique<ast::Expression>(ast::Expression{std::move(node), position});
  }

  // Counts levels during its lifetime; throws UserError beyond the limits of the tree, and Cancelled.
  class Descent {
   public:
    Descent(TreeConverter& converter, int64_t levels, int64_t chain_levels);
    ~Descent();
    Descent(const Descent&) = delete;
    Descent& operator=(const Descent&) = delete;

   private:
    TreeConverter& converter_;
    int64_t levels_;
    int64_t chain_levels_;
  };

  std::string_view text_;
  const std::vector<Token>& tokens_;
  const RewrittenStatement& rewritten_;
  const ParseLimits& limits_;
  const CancelToken& token_;
  int64_t depth_ = 0;        // levels that need recursion even if chains are followed in loops
  int64_t chain_depth_ = 0;  // all levels
};

}  // namespace pistachio
