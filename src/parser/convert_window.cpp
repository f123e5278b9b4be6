// OVER, the WINDOW clause, QUALIFY, and IGNORE NULLS. The last two are not in PostgreSQL's grammar: statement_rewrite passes QUALIFY through it
// as an entry of the WINDOW clause with a marker name, and IGNORE NULLS as an argument with one. See tree_converter.h.
#include <array>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "parser/tree_converter.h"

namespace pistachio {

namespace {

// PostgreSQL's frameOptions (nodes/parsenodes.h).
constexpr int64_t frame_was_written = 0x00001;
constexpr int64_t frame_of_rows = 0x00004;
constexpr int64_t frame_of_groups = 0x00008;
constexpr int64_t excludes_current_row = 0x08000;
constexpr int64_t excludes_group = 0x10000;
constexpr int64_t excludes_ties = 0x20000;

using BoundKind = ast::FrameBound::Kind;
using BoundBits = std::array<std::pair<int64_t, BoundKind>, 5>;
constexpr BoundBits begin_bits = {{{0x00020, BoundKind::UnboundedPreceding},
                                   {0x00080, BoundKind::UnboundedFollowing},
                                   {0x00200, BoundKind::CurrentRow},
                                   {0x00800, BoundKind::Preceding},
                                   {0x02000, BoundKind::Following}}};
constexpr BoundBits end_bits = {{{0x00040, BoundKind::UnboundedPreceding},
                                 {0x00100, BoundKind::UnboundedFollowing},
                                 {0x00400, BoundKind::CurrentRow},
                                 {0x01000, BoundKind::Preceding},
                                 {0x04000, BoundKind::Following}}};

BoundKind bound_kind(int64_t options, const BoundBits& bits) {
  for (const auto& [bit, kind] : bits) {
    if ((options & bit) != 0) return kind;
  }
  fail_check(__FILE__, __LINE__, "a frame without a bound");
}

}  // namespace

ast::WindowDefinition TreeConverter::window(const Json& body) {
  ast::WindowDefinition result;
  result.position = position(body);
  result.name = name(text_field(body, "name"));
  result.base = name(text_field(body, "refname"));
  result.partition_by = expressions(find_field(body, "partitionClause"));
  result.order_by = order_items(find_field(body, "orderClause"));
  result.frame = frame(body);
  return result;
}

std::optional<ast::WindowFrame> TreeConverter::frame(const Json& body) {
  const int64_t options = integer_field(body, "frameOptions");
  if ((options & frame_was_written) == 0) return std::nullopt;
  ast::WindowFrame result;
  if ((options & frame_of_rows) != 0) result.unit = ast::WindowFrame::Unit::Rows;
  if ((options & frame_of_groups) != 0) result.unit = ast::WindowFrame::Unit::Groups;
  if ((options & excludes_current_row) != 0) result.exclusion = ast::WindowFrame::Exclusion::CurrentRow;
  if ((options & excludes_group) != 0) result.exclusion = ast::WindowFrame::Exclusion::Group;
  if ((options & excludes_ties) != 0) result.exclusion = ast::WindowFrame::Exclusion::Ties;
  result.begin.kind = bound_kind(options, begin_bits);
  result.end.kind = bound_kind(options, end_bits);
  result.begin.offset = optional_expression(find_field(body, "startOffset"));
  result.end.offset = optional_expression(find_field(body, "endOffset"));
  return result;
}

void TreeConverter::window_clause(const Json& list, ast::Select& result) {
  for (const Json& node : list) {
    const Json& body = body_of(node);
    const Marker* marker = rewritten_.find_marker(text_field(body, "name"));
    if (marker == nullptr || marker->kind != Marker::Kind::Qualify) {
      result.windows.push_back(window(body));
      continue;
    }
    std::vector<ast::ExpressionPtr> conditions = expressions(find_field(body, "partitionClause"));
    if (conditions.size() != 1) throw UserError("QUALIFY takes one condition", marker->position);
    if (result.qualify != nullptr) throw UserError("there are two QUALIFY clauses", marker->position);
    result.qualify = std::move(conditions[0]);
  }
}

const Marker* TreeConverter::null_treatment(const Json& argument) const {
  const Marker* ignores = find_marker(argument, Marker::Kind::IgnoreNulls);
  return ignores != nullptr ? ignores : find_marker(argument, Marker::Kind::RespectNulls);
}

}  // namespace pistachio
