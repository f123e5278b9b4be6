// * EXCLUDE, REPLACE and RENAME, and COLUMNS(...). See tree_converter.h.
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "parser/tree_converter.h"

namespace pistachio {

// The name of a column that RENAME or REPLACE changes.
std::string TreeConverter::changed_column(const Json& argument) const {
  if (kind_of(argument) != "ColumnRef")
    throw UserError("RENAME and REPLACE of * need names of columns behind AS", position(body_of(argument)));
  return names(find_field(body_of(argument), "fields")).back();
}

// The arguments are as statement_rewrite wrote them.
ast::ExpressionPtr TreeConverter::changed_star(const Json& call) {
  const Json& arguments = call.at("args");
  ast::Star result;
  const int64_t at = position(call);
  if (kind_of(arguments.front()) == "ColumnRef") {
    ast::ExpressionPtr plain = star(body_of(arguments.front()));
    ENSURE(plain != nullptr, "a changed star without a star");
    result.qualifier = std::move(std::get<ast::Star>(plain->node).qualifier);
  }
  const Marker* section = nullptr;
  for (size_t i = 1; i < arguments.size(); ++i) {
    const Json& argument = arguments[i];
    const Marker* next = nullptr;
    for (Marker::Kind kind : {Marker::Kind::StarExclude, Marker::Kind::StarReplace, Marker::Kind::StarRename}) {
      if (next == nullptr) next = find_marker(argument, kind);
    }
    if (next != nullptr) {
      section = next;
      continue;
    }
    ENSURE(section != nullptr, "a change of * without its kind");
    if (section->kind == Marker::Kind::StarExclude) {
      if (kind_of(argument) != "ColumnRef") throw UserError("EXCLUDE needs names of columns", position(body_of(argument)));
      result.excluded.push_back(names(find_field(body_of(argument), "fields")));
      continue;
    }
    if (i + 1 == arguments.size()) throw UserError("RENAME and REPLACE of * need AS", section->position);
    if (section->kind == Marker::Kind::StarReplace) {
      result.replaced.push_back({expression(argument), changed_column(arguments[i + 1])});
    } else {
      result.renamed.push_back({changed_column(argument), changed_column(arguments[i + 1])});
    }
    ++i;
  }
  return make(std::move(result), at);
}

ast::ExpressionPtr TreeConverter::columns_call(const Json& call) {
  const int64_t at = position(call);
  ast::Star result;
  const Json* arguments = find_field(call, "args");
  const std::string_view usage = "COLUMNS takes *, a pattern or a list of names";
  if (!flag(call, "agg_star")) {
    if (arguments == nullptr || arguments->size() != 1) throw UserError(std::string(usage), at);
    const Json& argument = arguments->front();
    const Json& body = body_of(argument);
    if (kind_of(argument) == "A_Const" && find_field(body, "sval") != nullptr) {
      result.pattern = std::string(text_field(body.at("sval"), "sval"));
    } else if (kind_of(argument) == "A_ArrayExpr") {
      for (const ast::ExpressionPtr& item : expressions(find_field(body, "elements"))) {
        const auto* literal = std::get_if<ast::Literal>(&item->node);
        if (literal == nullptr || literal->kind != ast::Literal::Kind::Text) throw UserError(std::string(usage), item->position);
        result.names.push_back(literal->text);
      }
    } else {
      ast::ExpressionPtr changed = kind_of(argument) == "ColumnRef"  ? star(body)
                                   : kind_of(argument) == "FuncCall" ? expression(argument)
                                                                     : nullptr;
      if (changed == nullptr || !std::holds_alternative<ast::Star>(changed->node)) throw UserError(std::string(usage), at);
      result = std::move(std::get<ast::Star>(changed->node));
    }
  }
  result.is_columns = true;
  return make(std::move(result), at);
}

}  // namespace pistachio
