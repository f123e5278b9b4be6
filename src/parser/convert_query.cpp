// SELECT, VALUES, set operations, WITH, ORDER BY and LIMIT. See tree_converter.h.
#include <algorithm>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "parser/tree_converter.h"

namespace pistachio {

namespace {

bool is_set_operation(const Json& body) {
  return text_field(body, "op") != "SETOP_NONE";
}

// An operand of a set operation with WITH, ORDER BY or LIMIT was in parentheses and is a separate query, not part of the chain.
bool continues_chain(const Json& body) {
  return is_set_operation(body) && find_field(body, "sortClause") == nullptr && find_field(body, "limitCount") == nullptr &&
         find_field(body, "limitOffset") == nullptr && find_field(body, "withClause") == nullptr;
}

}  // namespace

ast::QueryPtr TreeConverter::query(const Json& node) {
  const std::string_view kind = kind_of(node);
  ENSURE(!kind.empty(), "a query without a node");
  if (kind == "InsertStmt" || kind == "UpdateStmt" || kind == "DeleteStmt") refuse("A statement that changes data inside a query", -1);
  if (kind != "SelectStmt") refuse("This statement as a query", -1);
  return query_body(body_of(node));
}

// a UNION b UNION c is deep on its left side: descend in a loop, then build upwards.
ast::QueryPtr TreeConverter::query_body(const Json& body) {
  const Descent nested(*this, 1, 1);
  if (!is_set_operation(body)) return plain_query(body);
  std::vector<const Json*> chain = {&body};
  while (continues_chain(chain.back()->at("larg"))) chain.push_back(&chain.back()->at("larg"));
  const Descent descent(*this, 0, static_cast<int64_t>(chain.size()));
  ast::QueryPtr result = query_body(chain.back()->at("larg"));
  for (size_t i = chain.size(); i-- > 0;) {
    const Json& link = *chain[i];
    const std::string_view kind = text_field(link, "op");
    ast::SetOperation operation;
    operation.kind = kind == "SETOP_UNION"       ? ast::SetOperation::Kind::Union
                     : kind == "SETOP_INTERSECT" ? ast::SetOperation::Kind::Intersect
                                                 : ast::SetOperation::Kind::Except;
    operation.all = flag(link, "all");
    auto combined = std::make_unique<ast::Query>();
    combined->position = result->position;
    operation.left = std::move(result);
    operation.right = query_body(link.at("rarg"));
    combined->body = std::move(operation);
    query_clauses(link, *combined);
    result = std::move(combined);
  }
  return result;
}

ast::QueryPtr TreeConverter::plain_query(const Json& body) {
  auto result = std::make_unique<ast::Query>();
  result->position = query_position(body);
  if (find_field(body, "valuesLists") != nullptr) {
    result->body = values(body);
  } else {
    result->body = select(body);
  }
  query_clauses(body, *result);
  return result;
}

// The tree does not say where a SELECT starts: searches backwards from its first column (VALUES: its first value), tracking brackets.
int64_t TreeConverter::query_position(const Json& body) const {
  const Json* rows = find_field(body, "valuesLists");
  const Json* list = rows != nullptr ? find_field(body_of(rows->front()), "items") : find_field(body, "targetList");
  int64_t from = -1;
  if (list != nullptr && !list->empty() && !list->front().empty()) from = position(body_of(list->front()));
  if (from < 0) return tokens_.front().begin;
  int64_t depth = 0;
  for (size_t i = std::min(token_at(from), tokens_.size() - 1) + 1; i-- > 0;) {
    const Token& token = tokens_[i];
    if (is_sign(text_, token, ")")) ++depth;
    if (is_sign(text_, token, "(")) --depth;
    if (depth <= 0 && is_word(text_, token, rows != nullptr ? "values" : "select")) return token.begin;
  }
  return tokens_.front().begin;
}

ast::Select TreeConverter::select(const Json& body) {
  refuse_query_parts(body);
  ast::Select result;
  if (const Json* distinct = find_field(body, "distinctClause")) {
    // Plain DISTINCT is a list of one null node.
    result.distinct = true;
    if (!distinct->front().empty()) result.distinct_on = expressions(distinct);
  }
  const Json* items = find_field(body, "targetList");
  if (items == nullptr) throw UserError("SELECT needs at least one column", position_of({"select"}));
  for (const Json& node : *items) result.items.push_back(select_item(body_of(node)));
  if (const Json* from = find_field(body, "fromClause")) {
    for (const Json& node : *from) result.from.push_back(table(node));
  }
  result.where = optional_expression(find_field(body, "whereClause"));
  if (const Json* groups = find_field(body, "groupClause")) group_clause(*groups, flag(body, "groupDistinct"), result);
  result.having = optional_expression(find_field(body, "havingClause"));
  if (const Json* windows = find_field(body, "windowClause")) window_clause(*windows, result);
  return result;
}

ast::SelectItem TreeConverter::select_item(const Json& body) {
  ast::SelectItem result;
  result.alias = name(text_field(body, "name"));
  const Json& value = body.at("val");
  if (kind_of(value) == "ColumnRef") result.expression = star(body_of(value));
  if (result.expression == nullptr) result.expression = expression(value);
  return result;
}

ast::Values TreeConverter::values(const Json& body) {
  ast::Values result;
  for (const Json& row : body.at("valuesLists")) result.rows.push_back(expressions(find_field(body_of(row), "items")));
  return result;
}

void TreeConverter::refuse_query_parts(const Json& body) {
  if (find_field(body, "intoClause") != nullptr) refuse("SELECT INTO", position_of({"into"}));
}

void TreeConverter::query_clauses(const Json& body, ast::Query& result) {
  with_clause(body, result);
  result.order_by = order_items(find_field(body, "sortClause"));
  result.with_ties = text_field(body, "limitOption") == "LIMIT_OPTION_WITH_TIES";
  result.limit = optional_expression(find_field(body, "limitCount"));
  // LIMIT ALL and LIMIT NULL
  if (result.limit != nullptr) {
    const auto* literal = std::get_if<ast::Literal>(&result.limit->node);
    if (literal != nullptr && literal->kind == ast::Literal::Kind::Null) result.limit.reset();
  }
  result.offset = optional_expression(find_field(body, "limitOffset"));
  if (const Json* locking = find_field(body, "lockingClause")) {
    const std::string_view strength = text_field(body_of(locking->front()), "strength");
    if (strength == "LCS_FORSHARE") refuse_words({"for", "share"});
    if (strength == "LCS_FORKEYSHARE") refuse_words({"for", "key", "share"});
    if (strength == "LCS_FORNOKEYUPDATE") refuse_words({"for", "no", "key", "update"});
    refuse_words({"for", "update"});
  }
}

void TreeConverter::with_clause(const Json& body, ast::Query& result) {
  const Json* with = find_field(body, "withClause");
  if (with == nullptr) return;
  result.recursive = flag(*with, "recursive");
  result.position = position(*with);
  for (const Json& node : with->at("ctes")) result.with.push_back(common_table(body_of(node)));
}

ast::CommonTable TreeConverter::common_table(const Json& body) {
  ast::CommonTable result;
  result.position = position(body);
  result.name = name(text_field(body, "ctename"));
  result.column_aliases = names(find_field(body, "aliascolnames"));
  if (find_field(body, "search_clause") != nullptr) refuse("SEARCH", position_of({"search"}));
  if (find_field(body, "cycle_clause") != nullptr) refuse("CYCLE", position_of({"cycle"}));
  const std::string_view materialized = text_field(body, "ctematerialized");
  if (materialized == "CTEMaterializeAlways") result.materialized = true;
  if (materialized == "CTEMaterializeNever") result.materialized = false;
  const Json& inner = body.at("ctequery");
  if (kind_of(inner) != "SelectStmt") refuse("A statement that changes data in WITH", result.position);
  result.query = query(inner);
  return result;
}

std::vector<ast::OrderItem> TreeConverter::order_items(const Json* list) {
  std::vector<ast::OrderItem> result;
  if (list == nullptr) return result;
  for (const Json& node : *list) result.push_back(order_item(body_of(node)));
  return result;
}

ast::OrderItem TreeConverter::order_item(const Json& body) {
  ast::OrderItem result;
  const std::string_view direction = text_field(body, "sortby_dir");
  const std::string_view nulls = text_field(body, "sortby_nulls");
  if (direction == "SORTBY_USING") refuse("ORDER BY ... USING", position(body));
  result.expression = expression(body.at("node"));
  result.descending = direction == "SORTBY_DESC";
  result.nulls = nulls == "SORTBY_NULLS_FIRST"  ? ast::OrderItem::Nulls::First
                 : nulls == "SORTBY_NULLS_LAST" ? ast::OrderItem::Nulls::Last
                                                : ast::OrderItem::Nulls::Default;
  return result;
}

}  // namespace pistachio
