#include "expr/function.h"

#include <ATen/ATen.h>

#include "base/check.h"
#include "columns/row_selection.h"
#include "columns/scalar_access.h"

namespace pistachio {

Column Argument::expanded(int64_t rows) const {
  if (!is_constant || rows == 1) return column;
  return take_rows(column, at::zeros({rows}, at::kLong));
}

ScalarValue Argument::constant() const {
  ENSURE(is_constant);
  return value_at(column, 0);
}

}  // namespace pistachio
