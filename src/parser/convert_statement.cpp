// Statements: their kind, EXPLAIN, SET and SHOW, DESCRIBE, and the names of unsupported ones. See tree_converter.h.
#include <array>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "parser/tree_converter.h"

namespace pistachio {

namespace {

bool is_one_of(std::string_view text, const Token& token, std::initializer_list<std::string_view> words) {
  for (std::string_view word : words) {
    if (is_word(text, token, word)) return true;
  }
  return false;
}

std::string upper_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return result;
}

}  // namespace

ast::Statement TreeConverter::convert(const Json& node) {
  return rewritten_.describe == RewrittenStatement::Describe::No ? statement(node, 0) : describe(node);
}

ast::Statement TreeConverter::statement(const Json& node, size_t first_token) {
  const std::string_view kind = kind_of(node);
  const Json& body = body_of(node);
  ast::Statement result;
  result.position = tokens_[first_token].begin;
  result.text = text_.substr(static_cast<size_t>(result.position), static_cast<size_t>(tokens_.back().end - result.position));
  if (kind == "SelectStmt") {
    result.node = ast::SelectStatement{query_body(body)};
  } else if (kind == "ExplainStmt") {
    result.node = explain(body);
  } else if (kind == "ViewStmt") {
    result.node = create_view(body);
  } else if (kind == "CreateStmt") {
    result.node = create_table(body);
  } else if (kind == "CreateTableAsStmt" && text_field(body, "objtype") == "OBJECT_TABLE") {
    result.node = create_table_as(body);
  } else if (kind == "InsertStmt") {
    result.node = insert(body);
  } else if (kind == "UpdateStmt") {
    result.node = update(body);
  } else if (kind == "DeleteStmt") {
    result.node = delete_rows(body);
  } else if (kind == "TruncateStmt") {
    result.node = truncate(body);
  } else if (kind == "AlterTableStmt") {
    result.node = ast::AlterTables{alter_table(body)};
  } else if (kind == "RenameStmt") {
    ast::AlterTables changes;
    changes.changes.push_back(rename(body));
    result.node = std::move(changes);
  } else if (kind == "IndexStmt") {
    result.node = create_index(body);
  } else if (kind == "CreateSchemaStmt") {
    result.node = ast::CreateSchema{name(text_field(body, "schemaname")), flag(body, "if_not_exists")};
  } else if (kind == "CopyStmt") {
    copy(body, result);
  } else if (kind == "TransactionStmt") {
    result.node = transaction(body);
  } else if (kind == "DropStmt") {
    result.node = drop(body);
  } else if (kind == "VariableSetStmt") {
    result.node = set(body);
  } else if (kind == "VariableShowStmt") {
    result.node = ast::Show{name(text_field(body, "name"))};
  } else {
    refuse(statement_words(first_token), result.position);
  }
  return result;
}

// The statement's name: UPDATE, CREATE INDEX, DROP SCHEMA.
std::string TreeConverter::statement_words(size_t first_token) const {
  std::string words = upper_case(token_text(text_, tokens_[first_token]));
  if (!is_one_of(text_, tokens_[first_token], {"create", "alter", "drop", "comment", "refresh"})) return words;
  size_t i = first_token + 1;
  while (i < tokens_.size() &&
         is_one_of(text_, tokens_[i], {"or", "replace", "temp", "temporary", "unlogged", "unique", "global", "local"})) {
    ++i;
  }
  bool more = true;
  for (; more && i < tokens_.size() && tokens_[i].kind == Token::Kind::Word; ++i) {
    words += ' ' + upper_case(token_text(text_, tokens_[i]));
    more = is_one_of(text_, tokens_[i], {"materialized", "foreign", "event", "access", "text", "default"});
  }
  return words;
}

// DESCRIBE t was rewritten to SELECT * FROM t: only that one table may follow.
ast::Statement TreeConverter::describe(const Json& node) {
  if (kind_of(node) != "SelectStmt") throw UserError("DESCRIBE needs a table, a file or a query", tokens_[1].begin);
  ast::Statement result = statement(node, 0);
  ast::QueryPtr described = std::move(std::get<ast::SelectStatement>(result.node).query);
  if (rewritten_.describe == RewrittenStatement::Describe::Table) {
    const auto* select = std::get_if<ast::Select>(&described->body);
    const bool plain = select != nullptr && select->from.size() == 1 && !std::holds_alternative<ast::JoinTable>(select->from[0]->node) &&
                       select->where == nullptr && select->group_by.empty() && !select->group_by_nothing && !select->grouping_sets &&
                       select->having == nullptr && described->order_by.empty() && described->limit == nullptr &&
                       described->offset == nullptr;
    if (!plain) throw UserError("DESCRIBE takes one table, one file or one query", result.position);
  }
  result.node = ast::Describe{std::move(described)};
  return result;
}

ast::Explain TreeConverter::explain(const Json& body) {
  ast::Explain result;
  if (const Json* options = find_field(body, "options")) {
    for (const Json& node : *options) {
      const Json& option = body_of(node);
      const std::string_view option_name = text_field(option, "defname");
      const Json* argument = find_field(option, "arg");
      const std::string_view value = argument == nullptr ? std::string_view() : text_field(body_of(*argument), "sval");
      const bool integer = argument != nullptr && kind_of(*argument) == "Integer";
      const std::string value_text = integer ? std::to_string(integer_field(body_of(*argument), "ival")) : lower_case(value);
      if (option_name == "analyze" || option_name == "analyse") {
        const bool on = argument == nullptr || value_text == "true" || value_text == "on" || value_text == "1";
        const bool off = value_text == "false" || value_text == "off" || value_text == "0";
        if (!on && !off) throw UserError("ANALYZE of EXPLAIN is true or false", position(option));
        result.analyze = on;
      } else if (option_name == "format" && (value_text == "json" || value_text == "text")) {
        result.format = value_text == "json" ? ast::Explain::Format::Json : ast::Explain::Format::Text;
      } else if (option_name == "format") {
        refuse("This format of EXPLAIN (only TEXT and JSON)", position(option));
      } else {
        refuse(upper_case(option_name) + " of EXPLAIN", position(option));
      }
    }
  }
  result.statement = std::make_unique<ast::Statement>(statement(body.at("query"), explained_token()));
  return result;
}

// Where the explained statement starts: after EXPLAIN, options in parentheses (unless they are the statement: EXPLAIN (SELECT 1)),
// ANALYZE and VERBOSE.
size_t TreeConverter::explained_token() const {
  size_t i = 1;
  if (is_sign(text_, tokens_[i], "(")) {
    int64_t depth = 0;
    size_t closing = i;
    for (; closing < tokens_.size(); ++closing) {
      if (is_sign(text_, tokens_[closing], "(")) ++depth;
      if (is_sign(text_, tokens_[closing], ")") && --depth == 0) break;
    }
    const bool query = is_one_of(text_, tokens_[2], {"select", "with", "values", "table"}) || is_sign(text_, tokens_[2], "(");
    if (!query && closing + 1 < tokens_.size()) i = closing + 1;
  }
  while (i + 1 < tokens_.size() && is_one_of(text_, tokens_[i], {"analyze", "analyse", "verbose"})) ++i;
  return i;
}

ast::Set TreeConverter::set(const Json& body) {
  const std::string_view kind = text_field(body, "kind");
  const int64_t at = tokens_.front().begin;
  if (flag(body, "is_local")) refuse("SET LOCAL", at);
  ast::Set result;
  result.name = kind == "VAR_RESET_ALL" ? "all" : name(text_field(body, "name"));
  if (kind == "VAR_RESET" || kind == "VAR_RESET_ALL" || kind == "VAR_SET_DEFAULT") return result;
  if (kind == "VAR_SET_CURRENT") refuse("SET ... FROM CURRENT", at);
  if (kind != "VAR_SET_VALUE") refuse("SET " + upper_case(text_field(body, "name")), at);
  const Json& values = body.at("args");
  if (values.size() != 1) refuse("A list of values in SET", at);
  const ast::ExpressionPtr value = expression(values.front());
  const auto* literal = std::get_if<ast::Literal>(&value->node);
  if (literal == nullptr || literal->kind == ast::Literal::Kind::Null) refuse("This value in SET", value->position);
  result.value = literal->text;
  return result;
}

}  // namespace pistachio
