#include "exec/window/window_ranking.h"

#include "base/check.h"
#include "base/error.h"
#include "columns/decode_dictionary.h"
#include "columns/row_selection.h"
#include "kernels/ops/compress.h"
#include "kernels/ops/gather_rows.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

// Buckets are as equal as possible, and the first ones have a row more. The number of buckets is that of the partition's first row.
Column bucket_numbers(const Column& buckets_of_rows, const at::Tensor& number, const at::Tensor& size, const at::Tensor& first_row) {
  const Column plain = take_rows(decode_dictionary(buckets_of_rows), first_row);
  at::Tensor wrong = plain.values().le(0);
  if (plain.has_validity()) wrong = wrong.logical_and(plain.validity());
  if (kernels::count_true(wrong) > 0) throw UserError("ntile needs at least one bucket");
  const at::Tensor buckets = plain.values().clamp_min(1);  // NULLs have any value
  const at::Tensor rows = at::floor_divide(size, buckets), longer = size - rows * buckets;
  const at::Tensor rows_in_longer = longer * (rows + 1);
  const at::Tensor in_longer = at::floor_divide(number, rows + 1);
  const at::Tensor in_others = longer + at::floor_divide(number - rows_in_longer, rows.clamp_min(1));
  const at::Tensor bucket = at::where(number.lt(rows_in_longer), in_longer, in_others) + 1;
  return Column::fixed(TypeKind::Integer, bucket.to(at::kInt), plain.validity());
}

}  // namespace

Column rank_places(const WindowCall& call, const WindowPlan::CallPlaces& places, const OrderedWindow& window) {
  const Segments& partitions = window.partitions();
  auto peers = [&]() -> const Segments& { return window.peers(call.order_keys); };
  switch (call.kind) {
    case WindowKind::RowNumber: return Column::fixed(call.type, (window.places() - partitions.begins).add_(1));
    case WindowKind::Rank: return Column::fixed(call.type, (peers().begins - partitions.begins).add_(1));
    case WindowKind::DenseRank: {
      if (call.order_keys == 0) return Column::fixed(call.type, at::ones_like(window.places()));
      const at::Tensor group = window.peer_starts(call.order_keys).cumsum(0);
      return Column::fixed(call.type, group - kernels::gather_rows(group, partitions.begins) + 1);
    }
    case WindowKind::PercentRank: {
      const at::Tensor before = (peers().begins - partitions.begins).to(at::kDouble);
      const at::Tensor others = (partitions.ends - partitions.begins - 1).clamp_min(1).to(at::kDouble);
      return Column::fixed(call.type, before / others);
    }
    case WindowKind::CumeDist: {
      const at::Tensor upto = (peers().ends - partitions.begins).to(at::kDouble);
      return Column::fixed(call.type, upto / (partitions.ends - partitions.begins).to(at::kDouble));
    }
    case WindowKind::Ntile:
      return bucket_numbers(window.values(places.arguments[0]), window.places() - partitions.begins, partitions.ends - partitions.begins,
                            kernels::gather_rows(window.order(), partitions.begins));
    default: break;
  }
  fail_check(__FILE__, __LINE__, "not a ranking function");
}

}  // namespace pistachio
