#include "storage/scan_threshold.h"

#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

bool may_have_nulls(const ParquetColumn& column, const ColumnChunkInfo& chunk) {
  return column.max_definition > 0 && chunk.nulls != 0;
}

}  // namespace

FilterOutcome evaluate_threshold(const Column& column, const ScanThreshold& threshold) {
  FilterOutcome outcome = evaluate_filter(column, threshold.filter);
  if (!threshold.passes_nulls || !column.has_validity() || outcome.all) return outcome;
  at::Tensor nulls = column.validity().logical_not();
  if (outcome.none) return {.mask = std::move(nulls)};
  return {.mask = nulls.logical_or_(outcome.mask)};
}

bool may_pass(const ScanThreshold& threshold, const ParquetColumn& column, const ColumnChunkInfo& chunk) {
  if (threshold.passes_nulls && may_have_nulls(column, chunk)) return true;
  if (threshold.filter.kind == ColumnFilter::Kind::Never) return false;
  return !chunk.minimum || !chunk.maximum || may_match(threshold.filter, *chunk.minimum, *chunk.maximum, chunk.exact_bounds);
}

bool may_pass(const ScanThreshold& threshold, const ParquetColumn& column, const ColumnChunkInfo& chunk, const PageRange& page) {
  if (threshold.passes_nulls && may_have_nulls(column, chunk)) return true;
  if (page.only_nulls || threshold.filter.kind == ColumnFilter::Kind::Never) return false;
  return !page.minimum || may_match(threshold.filter, *page.minimum, *page.maximum, page.exact);
}

}  // namespace pistachio
