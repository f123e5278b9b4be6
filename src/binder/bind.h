// From a parsed query to its first logical plan.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/cancel_token.h"
#include "logical/logical_node.h"
#include "parser/ast.h"

namespace pistachio {

// A view: a query under a name.
struct ViewDefinition {
  std::shared_ptr<const ast::Statement> statement;  // keeps the query alive
  const ast::Query* query = nullptr;
  std::vector<std::string> column_aliases;
};

// How the binder finds what FROM names. May read files; throws UserError (without position, the binder adds it).
class TableResolver {
 public:
  virtual ~TableResolver() = default;
  // Null if there is none of that name.
  virtual TablePtr find_table(const std::string& name) = 0;
  virtual const ViewDefinition* find_view(const std::string& name) = 0;
  virtual TablePtr open_files(const std::vector<std::string>& patterns) = 0;
  // For the message about an unknown name.
  virtual std::vector<std::string> table_names() = 0;
};

struct BindOptions {
  // Asked while it binds: views over views can make a short text large.
  CancelToken token;
  // INSERT: the types of the columns that are filled, in order. VALUES take them, each value by itself.
  std::vector<LogicalType> inserted;
};

// Throws UserError, Cancelled.
LogicalPlan bind_query(const ast::Query& query, TableResolver& tables, const BindOptions& options);

// The type that a name means. Throws UserError with its position.
LogicalType resolve_type(const ast::TypeName& name);

// An expression without columns: settings of a table function, VALUES of an INSERT.
ScalarValue bind_constant(const ast::Expression& expression);

}  // namespace pistachio
