// Concatenates columns like concatenate_columns(), in copies that threads make concurrently: the constructor allocates the result, copy()
// fills in one piece. Only for the CPU, and for pieces large enough to be worth a task.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <vector>

#include "data/column.h"

namespace pistachio {

class ColumnAssembly {
 public:
  // At least one piece; all are of one type.
  explicit ColumnAssembly(const std::vector<Column>& pieces);

  // Once for each piece; different pieces by any threads concurrently. The piece itself is released.
  void copy(size_t piece);
  // After all pieces were copied.
  Column finish() const;

 private:
  void copy_text(size_t piece, const Column& column);

  std::vector<std::optional<Column>> pieces_;
  std::shared_ptr<const Column> dictionary_;  // null: the result is not coded
  LogicalType type_;
  // Where each piece begins in the result.
  std::vector<int64_t> rows_;
  std::vector<int64_t> bytes_;          // text
  std::vector<bool> brings_its_bytes_;  // text: consecutive pieces may share their bytes, which are copied once
  at::Tensor main_;                     // values, codes or the bytes of text
  at::Tensor begins_;
  at::Tensor ends_;
  at::Tensor validity_;  // undefined if there are no NULLs
};

}  // namespace pistachio
