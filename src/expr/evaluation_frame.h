// State shared by the nodes of an expression during evaluation: the rows, results computed so far, and the truth of conditions.
// Private to ExpressionEvaluator; one thread, for the duration of one chunk.
#pragma once

#include <map>
#include <unordered_map>

#include "columns/decode_dictionary.h"
#include "columns/row_selection.h"
#include "expr/expression_evaluator.h"
#include "kernels/ops/compress.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

// The rows an expression is evaluated on: a chunk, or selected rows of another frame, whose columns are then selected lazily.
class ExpressionEvaluator::Frame {
 public:
  Frame(const Chunk& chunk, const CancelToken& token) : token_(token), chunk_(&chunk), rows_(chunk.rows()), device_(chunk.device()) {}
  Frame(Frame& parent, at::Tensor mask)
      : token_(parent.token_), parent_(&parent), mask_(std::move(mask)), rows_(kernels::count_true(mask_)), device_(parent.device_) {}

  int64_t rows() const { return rows_; }
  at::Device device() const { return device_; }
  const Column& column(size_t position) {
    if (parent_ == nullptr) return chunk_->column(position);
    auto found = selected_.find(position);
    if (found == selected_.end()) found = selected_.emplace(position, select_rows(parent_->column(position), mask_, rows_)).first;
    return found->second;
  }

  const CancelToken& token() const { return token_; }

  std::unordered_map<const Expression*, Argument> known;

 private:
  const CancelToken& token_;
  const Chunk* chunk_ = nullptr;
  Frame* parent_ = nullptr;
  at::Tensor mask_;
  int64_t rows_;
  at::Device device_;
  std::map<size_t, Column> selected_;
};

inline bool is_null_constant(const Argument& argument) {
  if (argument.value != nullptr) return argument.value->is_null;
  return argument.is_constant && argument.column.has_validity() && !argument.column.validity().item<bool>();
}

struct Truth {
  at::Tensor is_true;
  at::Tensor is_false;  // undefined: the opposite of is_true
};

inline Truth truth_of(const Argument& argument, int64_t rows) {
  Column column = decode_dictionary(argument.expanded(rows));
  if (!column.has_validity()) return {column.values(), {}};
  return {column.values().logical_and(column.validity()), column.values().logical_not().logical_and_(column.validity())};
}

}  // namespace pistachio
