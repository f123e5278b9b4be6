// Binds a parsed query to its first logical plan.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/cancel_token.h"
#include "logical/logical_node.h"
#include "parser/ast.h"
#include "readers/read_options.h"

namespace pistachio {

// A view: a query under a name.
struct ViewDefinition {
  std::shared_ptr<const ast::Statement> statement;  // keeps the query alive
  const ast::Query* query = nullptr;
  std::vector<std::string> column_aliases;
};

// How the binder finds tables in FROM. May read files; throws UserError without a position, which the binder adds.
class TableResolver {
 public:
  virtual ~TableResolver() = default;
  // Null if there is no table of that name.
  virtual TablePtr find_table(const std::string& name) = 0;
  virtual const ViewDefinition* find_view(const std::string& name) = 0;
  // With options.format == Auto, the names of the files tell their format.
  virtual TablePtr open_files(const std::vector<std::string>& patterns, const ReadOptions& options) = 0;
  // Parquet files that may have different columns: a table for each set of columns, in the order of the files.
  virtual std::vector<TablePtr> open_unlike_files(const std::vector<std::string>& patterns, const ReadOptions& options) {
    return {open_files(patterns, options)};
  }
  // Besides main and public.
  virtual bool has_schema(const std::string&) { return false; }
  // information_schema.tables and the like; null if there is none.
  virtual TablePtr find_system_table(const std::vector<std::string>&) { return nullptr; }
  // For the error about an unknown name.
  virtual std::vector<std::string> table_names() = 0;
};

struct BindOptions {
  // Checked while binding: nested views can make a short statement large.
  CancelToken token;
  // INSERT: the types of the target columns, in order. Each value of VALUES is cast to them separately.
  std::vector<LogicalType> inserted;
  std::vector<std::string> inserted_names = {};
};

// Throws UserError, Cancelled.
LogicalPlan bind_query(const ast::Query& query, TableResolver& tables, const BindOptions& options);

// The type with this name. Throws UserError with its position.
LogicalType resolve_type(const ast::TypeName& name);

// An expression without columns: settings of a table function, VALUES of an INSERT.
ScalarValue bind_constant(const ast::Expression& expression, const CancelToken& token = {});

}  // namespace pistachio
