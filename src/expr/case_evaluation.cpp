// CASE and COALESCE: each row takes its value from one branch, which is evaluated on no other rows where it may raise an error.
#include "columns/concatenate_columns.h"
#include "expr/evaluation_frame.h"
#include "kernels/ops/spread.h"

namespace pistachio {

namespace {

// Merges the results of subsets of the rows. Each part has a row per row of its mask, or one row for all.
class Merger {
 public:
  Merger(LogicalType type, int64_t rows, at::Device device)
      : type_(type), source_(at::full({rows}, -1, at::TensorOptions(at::kLong).device(device))) {}

  void add(const Argument& part, const at::Tensor& mask) {
    int64_t count = part.column.rows();
    at::Tensor places = part.is_constant ? at::full({kernels::count_true(mask)}, next_, source_.options())
                                         : at::arange(next_, next_ + count, source_.options());
    source_.masked_scatter_(mask, places);
    pieces_.push_back(part.column);
    next_ += count;
  }

  Argument finish() const {
    if (pieces_.empty()) return {null_column(type_, source_.numel(), source_.device()), false};
    return {take_rows_or_null(concatenate_columns(pieces_), source_, source_.ge(0)), false};
  }

 private:
  LogicalType type_;
  at::Tensor source_;
  std::vector<Column> pieces_;
  int64_t next_ = 0;
};

}  // namespace

// Computes all branches on all rows and takes each value from the branch of its row. On a GPU this avoids the synchronization that
// selecting rows needs; on a CPU it pays only if the branches cost nothing.
std::optional<Argument> ExpressionEvaluator::blend_case(const Expression& expression, Frame& frame) const {
  const std::vector<ExpressionPtr>& parts = expression.children();
  if (expression.type().is_text() || frame.rows() == 0) return std::nullopt;
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool is_condition = i % 2 == 0 && i + 1 < parts.size();
    if (may_raise(*parts[i], frame)) return std::nullopt;
    if (frame.device().is_cpu() && !is_condition && !parts[i]->is_constant() && parts[i]->kind() != ExpressionKind::Column) return std::nullopt;
  }
  at::Tensor values, valid;
  auto lay_over = [&](const Argument& part, const at::Tensor& hit) {
    const Column column = decode_dictionary(part.column);
    const bool may_be_null = valid.defined() || column.has_validity();
    const at::Tensor yes = at::ones({1}, hit.options());
    if (may_be_null) {
      valid = at::where(hit, column.has_validity() ? column.validity() : yes, valid.defined() ? valid : yes);
    }
    values = at::where(values.dim() == 2 ? hit.unsqueeze(1) : hit, column.values(), values);
  };
  const Column otherwise = decode_dictionary(evaluate(*parts.back(), frame).column);
  values = otherwise.values();
  if (otherwise.has_validity()) valid = otherwise.validity();
  // The first branch that applies wins, so it is laid over the others.
  for (size_t i = parts.size() - 1; i >= 2; i -= 2) {
    const at::Tensor hit = truth_of(evaluate(*parts[i - 2], frame), frame.rows()).is_true;
    lay_over(evaluate(*parts[i - 1], frame), hit);
  }
  return Argument{Column::fixed(expression.type(), std::move(values), std::move(valid)), false};
}

Argument ExpressionEvaluator::evaluate_case(const Expression& expression, Frame& frame) const {
  if (std::optional<Argument> blended = blend_case(expression, frame)) return std::move(*blended);
  const std::vector<ExpressionPtr>& parts = expression.children();
  at::Tensor open = at::ones({frame.rows()}, at::TensorOptions(at::kBool).device(frame.device()));
  Merger merger(expression.type(), frame.rows(), frame.device());
  int64_t left = frame.rows();
  for (size_t i = 0; i + 1 < parts.size() && left > 0; i += 2) {
    at::Tensor hit;
    if (left == frame.rows() || !may_raise(*parts[i], frame)) {
      hit = truth_of(evaluate(*parts[i], frame), frame.rows()).is_true.logical_and(open);
    } else {
      Argument condition = evaluate_selected(*parts[i], frame, open);
      hit = kernels::spread(truth_of(condition, left).is_true.contiguous(), open);
    }
    int64_t hits = kernels::count_true(hit);
    if (hits == 0) continue;
    if (hits == frame.rows()) return evaluate(*parts[i + 1], frame);
    merger.add(evaluate_selected(*parts[i + 1], frame, hit), hit);
    open = open.logical_and(hit.logical_not());
    left -= hits;
  }
  if (left > 0 && left == frame.rows()) return evaluate(*parts.back(), frame);
  if (left > 0) merger.add(evaluate_selected(*parts.back(), frame, open), open);
  return merger.finish();
}

Argument ExpressionEvaluator::evaluate_coalesce(const Expression& expression, Frame& frame) const {
  at::Tensor open = at::ones({frame.rows()}, at::TensorOptions(at::kBool).device(frame.device()));
  Merger merger(expression.type(), frame.rows(), frame.device());
  int64_t left = frame.rows();
  for (const ExpressionPtr& child : expression.children()) {
    if (left == 0) break;
    Argument part = evaluate_selected(*child, frame, open);
    if (is_null_constant(part)) continue;
    if (!part.column.has_validity() || (part.is_constant)) {
      if (left == frame.rows()) return part;
      merger.add(part, open);
      left = 0;
      break;
    }
    at::Tensor found = kernels::spread(part.column.validity().contiguous(), open);
    merger.add({select_rows(part.column, part.column.validity()), false}, found);
    open = open.logical_and(found.logical_not());
    left = kernels::count_true(open);
  }
  return merger.finish();
}

}  // namespace pistachio
