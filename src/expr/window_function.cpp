#include "expr/window_function.h"

#include <fmt/format.h>

#include <array>

namespace pistachio {

namespace {

constexpr std::array kWindowFunctions = {
    WindowFunction{"row_number", WindowKind::RowNumber, 0, 0, false, "row_number() -> BIGINT", "Number of the row in its partition, from 1"},
    WindowFunction{"rank", WindowKind::Rank, 0, 0, false, "rank() -> BIGINT", "1 + the number of rows before the row's peers"},
    WindowFunction{"dense_rank", WindowKind::DenseRank, 0, 0, false, "dense_rank() -> BIGINT", "Number of the row's group of peers, from 1"},
    WindowFunction{"percent_rank", WindowKind::PercentRank, 0, 0, false, "percent_rank() -> DOUBLE",
                   "(rank - 1) / (rows of the partition - 1); 0 for a single row"},
    WindowFunction{"cume_dist", WindowKind::CumeDist, 0, 0, false, "cume_dist() -> DOUBLE",
                   "Share of the partition's rows that are not after the row"},
    WindowFunction{"ntile", WindowKind::Ntile, 1, 1, false, "ntile(buckets INTEGER) -> INTEGER",
                   "Number of the row's bucket, from 1, if the partition is divided as evenly as possible"},
    WindowFunction{"lag", WindowKind::Lag, 1, 3, true, "lag(x [, offset BIGINT [, otherwise]])",
                   "Value `offset` rows before the current row (1 by default); `otherwise`, or NULL, if there is no such row"},
    WindowFunction{"lead", WindowKind::Lead, 1, 3, true, "lead(x [, offset BIGINT [, otherwise]])",
                   "Value `offset` rows after the current row (1 by default); `otherwise`, or NULL, if there is no such row"},
    WindowFunction{"first_value", WindowKind::FirstValue, 1, 1, true, "first_value(x)", "Value of the first row of the frame"},
    WindowFunction{"last_value", WindowKind::LastValue, 1, 1, true, "last_value(x)", "Value of the last row of the frame"},
    WindowFunction{"nth_value", WindowKind::NthValue, 2, 2, true, "nth_value(x, n BIGINT)",
                   "Value of the n-th row of the frame, from 1; NULL if it has fewer rows"},
};

std::string bound_text(const FrameBound& bound, const std::function<std::string(ColumnId)>& name_of) {
  const bool precedes = bound.kind == FrameBound::Kind::Preceding;
  switch (bound.kind) {
    case FrameBound::Kind::UnboundedPreceding: return "UNBOUNDED PRECEDING";
    case FrameBound::Kind::CurrentRow: return "CURRENT ROW";
    case FrameBound::Kind::UnboundedFollowing: return "UNBOUNDED FOLLOWING";
    case FrameBound::Kind::Preceding:
    case FrameBound::Kind::Following: break;
  }
  if (bound.value) return expression_text(*bound.value, name_of);
  return fmt::format("{} {}", bound.count, precedes ? "PRECEDING" : "FOLLOWING");
}

}  // namespace

const WindowFunction* find_window_function(std::string_view name) {
  for (const WindowFunction& function : kWindowFunctions) {
    if (function.name == name) return &function;
  }
  return nullptr;
}

std::span<const WindowFunction> all_window_functions() {
  return kWindowFunctions;
}

bool uses_frame(WindowKind kind) {
  return kind == WindowKind::FirstValue || kind == WindowKind::LastValue || kind == WindowKind::NthValue || kind == WindowKind::Aggregate;
}

std::string_view window_function_name(const WindowCall& call) {
  if (call.aggregate != nullptr) return call.aggregate->name;
  if (call.kind == WindowKind::Concatenate) return "string_agg";
  for (const WindowFunction& function : kWindowFunctions) {
    if (function.kind == call.kind) return function.name;
  }
  return "";
}

void for_each_expression(WindowCall& call, const std::function<void(ExpressionPtr&)>& visit) {
  for (ExpressionPtr& argument : call.arguments) visit(argument);
  for (ExpressionPtr* expression : {&call.filter, &call.frame.begin.value, &call.frame.end.value, &call.frame.range_key}) {
    if (*expression) visit(*expression);
  }
}

std::string window_call_text(const WindowCall& call, const std::function<std::string(ColumnId)>& name_of) {
  std::vector<std::string> arguments;
  for (const ExpressionPtr& argument : call.arguments) arguments.push_back(expression_text(*argument, name_of));
  const bool counts_rows = call.aggregate != nullptr && call.aggregate->kind == AggregateKind::CountRows;
  std::string text = fmt::format("{}({}{}{}{})", window_function_name(call), call.distinct ? "DISTINCT " : "", counts_rows ? "*" : "",
                                 fmt::join(arguments, ", "), call.ignore_nulls ? " IGNORE NULLS" : "");
  if (call.filter) text += fmt::format(" FILTER (WHERE {})", expression_text(*call.filter, name_of));
  if (!uses_frame(call.kind)) return text;
  static constexpr std::string_view kUnits[] = {"ROWS", "RANGE", "GROUPS"};
  static constexpr std::string_view kExclusions[] = {"", " EXCLUDE CURRENT ROW", " EXCLUDE GROUP", " EXCLUDE TIES"};
  const WindowFrame& frame = call.frame;
  const bool is_default = frame.unit == WindowFrame::Unit::Range && frame.begin.kind == FrameBound::Kind::UnboundedPreceding &&
                          frame.end.kind == FrameBound::Kind::CurrentRow && frame.exclusion == WindowFrame::Exclusion::NoOthers;
  if (is_default) return text;
  return text + fmt::format(" {} BETWEEN {} AND {}{}", kUnits[static_cast<size_t>(frame.unit)], bound_text(frame.begin, name_of),
                            bound_text(frame.end, name_of), kExclusions[static_cast<size_t>(frame.exclusion)]);
}

}  // namespace pistachio
