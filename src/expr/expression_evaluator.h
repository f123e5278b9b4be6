// Evaluates expressions on chunks as kernel calls over whole columns. Common subexpressions are computed once per chunk. NULLs and errors
// follow SQL: a branch that may raise an error is evaluated only on the rows that reach it (subqueries are joins, evaluated before).
// Functions of one dictionary column run once per entry. Immutable after construction; thread-safe.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "base/cancel_token.h"
#include "data/chunk.h"
#include "expr/constant_arguments.h"
#include "expr/entry_results.h"
#include "expr/expression.h"
#include "expr/function.h"

namespace pistachio {

class ExpressionEvaluator {
 public:
  // `layout[i]` is the column at position i of chunks.
  ExpressionEvaluator(std::vector<ExpressionPtr> expressions, const std::vector<ColumnId>& layout);

  // One column per expression, of the chunk's length. Throws UserError with the position of the failing expression, and Cancelled: the
  // token is checked at each subexpression, and inside functions of long text.
  std::vector<Column> evaluate(const Chunk& chunk, const CancelToken& token = {}) const;
  // For one BOOLEAN expression: bool [rows], true where it is true.
  at::Tensor evaluate_condition(const Chunk& chunk, const CancelToken& token = {}) const;

  const std::vector<ExpressionPtr>& expressions() const { return expressions_; }

 private:
  class Frame;

  Argument evaluate(const Expression& expression, Frame& frame) const;
  Argument evaluate_node(const Expression& expression, Frame& frame) const;
  Argument constant_argument(const Expression& constant, const Frame& frame) const;
  Argument evaluate_call(const Expression& expression, Frame& frame) const;
  Argument evaluate_cast(const Expression& expression, Frame& frame) const;
  Argument evaluate_logical(const Expression& expression, Frame& frame) const;
  Argument evaluate_case(const Expression& expression, Frame& frame) const;
  Argument evaluate_coalesce(const Expression& expression, Frame& frame) const;
  bool may_raise(const Expression& whole, const Frame& frame) const;
  // Computes all branches without selecting rows; nullopt if that could raise an error or does not pay.
  std::optional<Argument> blend_case(const Expression& expression, Frame& frame) const;
  // Evaluates the expression only on the rows of the mask.
  Argument evaluate_selected(const Expression& expression, Frame& frame, const at::Tensor& mask) const;

  std::vector<ExpressionPtr> expressions_;
  std::unordered_map<int32_t, size_t> positions_;
  // Subexpressions that occur more than once, mapped to a representative.
  std::unordered_map<const Expression*, const Expression*> shared_;
  std::shared_ptr<EntryResults> entry_results_ = std::make_shared<EntryResults>();
  std::shared_ptr<ConstantArguments> constants_ = std::make_shared<ConstantArguments>();
};

// The value of an expression without columns.
ScalarValue evaluate_constant(const ExpressionPtr& expression, const CancelToken& token = {});
// The same; nothing for text of more than `longest_text` bytes.
std::optional<ScalarValue> evaluate_short_constant(const ExpressionPtr& expression, int64_t longest_text, const CancelToken& token);

}  // namespace pistachio
