// Shared by the binder's tests: a few tables, and the plan, types or error of a statement bound over them as text.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/error.h"
#include "binder/bind.h"
#include "parser/parse.h"
#include "tests/support/logical_plan_text.h"

namespace pistachio {

class FakeTables final : public TableResolver {
 public:
  void add(const std::string& name, std::vector<TableColumnInfo> columns) {
    tables_[name] = Table::of_chunks(name, std::move(columns), {}, {});
  }
  void add_view(const std::string& name, std::string_view sql, std::vector<std::string> aliases = {}) {
    auto statement = std::make_shared<const ast::Statement>(std::move(parse_statements(sql).at(0)));
    views_[name] = {statement, std::get<ast::SelectStatement>(statement->node).query.get(), std::move(aliases)};
  }

  TablePtr find_table(const std::string& name) override {
    auto found = tables_.find(name);
    return found == tables_.end() ? nullptr : found->second;
  }
  const ViewDefinition* find_view(const std::string& name) override {
    auto found = views_.find(name);
    return found == views_.end() ? nullptr : &found->second;
  }
  TablePtr open_files(const std::vector<std::string>& patterns, const ReadOptions&) override {
    throw UserError(patterns.at(0) + " does not exist");
  }
  std::vector<std::string> table_names() override {
    std::vector<std::string> names;
    for (const auto& [name, table] : tables_) names.push_back(name);
    for (const auto& [name, view] : views_) names.push_back(name);
    return names;
  }

 private:
  std::map<std::string, TablePtr> tables_;
  std::map<std::string, ViewDefinition> views_;
};

// Tables t(a INTEGER, b BIGINT, s VARCHAR, d DECIMAL(10,2)), u(a INTEGER, c SMALLINT), Mixed(Name VARCHAR, NAME VARCHAR, Id INTEGER).
class BindTest : public ::testing::Test {
 protected:
  BindTest() {
    tables.add("t", {{"a", TypeKind::Integer, ""}, {"b", TypeKind::BigInt, ""},
                     {"s", TypeKind::Varchar, ""}, {"d", LogicalType::decimal(10, 2), ""}});
    tables.add("u", {{"a", TypeKind::Integer, ""}, {"c", TypeKind::SmallInt, ""}});
    tables.add("Mixed", {{"Name", TypeKind::Varchar, ""}, {"NAME", TypeKind::Varchar, ""}, {"Id", TypeKind::Integer, ""}});
  }

  LogicalPlan bind(std::string_view sql) {
    std::vector<ast::Statement> statements = parse_statements(sql);
    return bind_query(*std::get<ast::SelectStatement>(statements.at(0).node).query, tables, {});
  }

  std::string plan_of(std::string_view sql) {
    LogicalPlan plan = bind(sql);
    return "\n" + logical_text(plan);
  }

  // "name TYPE, name TYPE"
  std::string columns_of(std::string_view sql) {
    try {
      LogicalPlan plan = bind(sql);
      std::string made;
      for (const OutputColumn& column : plan.output)
        made += fmt::format("{}{} {}", made.empty() ? "" : ", ", column.name, plan.columns.type(column.id).to_string());
      return made;
    } catch (const UserError& error) {
      return "ERROR " + error.message();
    }
  }

  // The message, and the statement's text from the error position on.
  std::string error_of(std::string_view sql) {
    try {
      bind(sql);
    } catch (const UserError& error) {
      return fmt::format("{} [{}]", error.message(), error.position() ? sql.substr(static_cast<size_t>(*error.position())) : "nowhere");
    }
    return "no error";
  }

  FakeTables tables;
};

}  // namespace pistachio
