#include "storage/column_filter.h"

#include <ATen/core/Tensor.h>

#include "columns/column_compare.h"
#include "kernels/ops/compress.h"
#include "kernels/ops/dictionary_gather.h"

namespace pistachio {

namespace {

FilterOutcome outcome_of_validity(const Column& column) {
  if (!column.has_validity()) return {.all = true};
  return {.mask = column.validity()};
}

}  // namespace

FilterOutcome evaluate_filter(const Column& column, const ColumnFilter& filter) {
  if (filter.kind == ColumnFilter::Kind::Never) return {.none = true};
  if (filter.kind == ColumnFilter::Kind::NotNull) return outcome_of_validity(column);
  at::Tensor mask;
  if (column.is_dictionary()) {
    at::Tensor entries = compare_with_constant(*column.dictionary_column(), filter.comparison, filter.constant);
    // Not worth waiting for a GPU.
    if (entries.is_cpu()) {
      int64_t passing = kernels::count_true(entries);
      if (passing == 0) return {.none = true};
      if (passing == entries.numel()) return outcome_of_validity(column);
    }
    mask = kernels::dictionary_gather(entries, column.codes());
  } else {
    mask = compare_with_constant(column, filter.comparison, filter.constant);
  }
  if (column.has_validity()) mask = mask.logical_and(column.validity());
  return {.mask = std::move(mask)};
}

}  // namespace pistachio
