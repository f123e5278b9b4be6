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

// Evaluates the filter on the entries once half as many rows have come. False: on the rows instead.
bool evaluate_entries(const Column& column, const ColumnFilter& filter, EntryOutcome& known) {
  if (known.dictionary != column.dictionary_column()) known = {column.dictionary_column(), {}};
  if (known.mask.defined()) return true;
  known.rows_before += column.rows();
  if (column.device().is_cpu() && known.rows_before < known.dictionary->rows() / 2) return false;
  known.mask = compare_with_constant(*known.dictionary, filter.comparison, filter.constant);
  if (known.mask.is_cpu()) known.passing = kernels::count_true(known.mask);
  return true;
}

}  // namespace

FilterOutcome evaluate_filter(const Column& column, const ColumnFilter& filter, EntryOutcome* known) {
  if (filter.kind == ColumnFilter::Kind::Never) return {.none = true};
  if (filter.kind == ColumnFilter::Kind::NotNull) return outcome_of_validity(column);
  at::Tensor mask;
  EntryOutcome own;
  EntryOutcome& entries = known == nullptr ? own : *known;
  if (column.is_dictionary() && evaluate_entries(column, filter, entries)) {
    // Not worth waiting for a GPU.
    if (entries.mask.is_cpu()) {
      if (entries.passing == 0) return {.none = true};
      if (entries.passing == entries.mask.numel()) return outcome_of_validity(column);
    }
    mask = kernels::dictionary_gather(entries.mask, column.codes());
  } else {
    mask = compare_with_constant(column, filter.comparison, filter.constant);
  }
  if (column.has_validity()) mask = mask.logical_and(column.validity());
  return {.mask = std::move(mask)};
}

}  // namespace pistachio
