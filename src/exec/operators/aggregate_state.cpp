#include "exec/operators/aggregate_state.h"

#include <fmt/format.h>

#include <cmath>

#include "base/check.h"
#include "base/error.h"
#include "columns/order_words.h"
#include "columns/own_column.h"
#include "columns/row_selection.h"
#include "exec/core/growing_column.h"
#include "exec/operators/aggregate_results.h"
#include "exec/operators/any_value_state.h"
#include "exec/operators/bit_state.h"
#include "exec/operators/distinct_sketch_state.h"
#include "exec/operators/text_extreme_state.h"
#include "kernels/ops/compress.h"
#include "kernels/ops/gather_rows.h"
#include "kernels/ops/segment_extreme.h"
#include "kernels/ops/segment_moments.h"
#include "kernels/ops/segment_sum.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

// Typical state size of a new group.
constexpr int64_t kStateBytes = 32;

at::Tensor no_groups(at::ScalarType type, at::Device device) {
  return at::zeros({0}, at::TensorOptions(type).device(device));
}

at::Tensor no_groups(int64_t words, at::ScalarType type, at::Device device) {
  return at::zeros({0, words}, at::TensorOptions(type).device(device));
}

void grow(at::Tensor& tensor, int64_t groups) {
  tensor = with_room(tensor, tensor.size(0), groups);
}

int64_t bytes_of(std::initializer_list<at::Tensor> tensors) {
  int64_t bytes = 0;
  for (const at::Tensor& tensor : tensors) bytes += static_cast<int64_t>(tensor.nbytes());
  return bytes;
}

// Adds row counts; their sum cannot overflow 64 bits.
void add_counts(at::Tensor& counts, const at::Tensor& ids, const at::Tensor& more) {
  counts.index_add_(0, ids, more);
}

void count_rows(at::Tensor& counts, const GroupedRows& rows) {
  const bool has_nulls = rows.argument != nullptr && rows.argument->has_validity();
  if (rows.sizes == nullptr || has_nulls) {
    kernels::segment_count(counts, rows.ids, has_nulls ? rows.argument->validity() : at::Tensor());
    return;
  }
  const at::Tensor& sizes = rows.sizes->get();
  counts.narrow(0, 0, sizes.numel()).add_(sizes);
}

Column bigints(at::Tensor values) {
  return Column::fixed(TypeKind::BigInt, std::move(values));
}

class CountState final : public AggregateState {
 public:
  explicit CountState(at::Device device) : counts_(no_groups(at::kLong, device)) {}
  void set_groups(int64_t groups) override { grow(counts_, groups); }
  void update(const GroupedRows& rows) override { count_rows(counts_, rows); }
  std::vector<Column> columns_of(const at::Tensor& rows) const override { return {bigints(kernels::gather_rows(counts_, rows))}; }
  void add(const at::Tensor& ids, const std::vector<Column>& columns) override { add_counts(counts_, ids, columns[0].values()); }
  Column finish(const AggregateCall&, int64_t groups) const override {
    return Column::fixed(TypeKind::BigInt, counts_.narrow(0, 0, groups).clone());
  }
  int64_t memory_bytes() const override { return bytes_of({counts_}); }

 private:
  at::Tensor counts_;
};

// Sum and mean of integers and decimals, exact in 128 bits.
class ExactSumState final : public AggregateState {
 public:
  ExactSumState(LogicalType argument, at::Device device)
      : argument_(argument), sums_(no_groups(2, at::kLong, device)), counts_(no_groups(at::kLong, device)) {}
  void set_groups(int64_t groups) override {
    grow(sums_, groups);
    grow(counts_, groups);
  }
  void update(const GroupedRows& rows) override {
    kernels::segment_sum(sums_, rows.ids, rows.argument->values(), rows.argument->validity(), rows.fit);
    count_rows(counts_, rows);
  }
  bool fits(const Column& argument) const override { return kernels::sums_fit(sums_, argument.values(), argument.validity()); }
  std::vector<Column> columns_of(const at::Tensor& rows) const override {
    return {Column::fixed(LogicalType::decimal(38, 0), kernels::gather_rows(sums_, rows)), bigints(kernels::gather_rows(counts_, rows))};
  }
  void add(const at::Tensor& ids, const std::vector<Column>& columns) override {
    kernels::segment_sum(sums_, ids, columns[0].values());
    add_counts(counts_, ids, columns[1].values());
  }
  Column finish(const AggregateCall& call, int64_t groups) const override {
    at::Tensor counts = counts_.narrow(0, 0, groups);
    if (call.function->kind == AggregateKind::Count) return Column::fixed(TypeKind::BigInt, counts.clone());
    return exact_sum_result(call.function->kind, argument_, call.type, sums_.narrow(0, 0, groups).clone(), counts);
  }
  int64_t memory_bytes() const override { return bytes_of({sums_, counts_}); }

 private:
  LogicalType argument_;
  at::Tensor sums_;
  at::Tensor counts_;
};

// Groups whose floating-point inputs contain an infinity or NaN; a non-finite result of any other group is an overflow. Such an input makes
// the running result non-finite for good, so as long as results are finite no row needs to be checked.
class NonFiniteGroups {
 public:
  // After `values` were added to `state`, which has a row per group.
  void note(const at::Tensor& state, const at::Tensor& ids, const at::Tensor& values, const at::Tensor& validity = {}) {
    bool has_few_groups = state.numel() <= values.numel() / 4;
    if ((has_few_groups && is_finite(state)) || is_finite(values)) return;
    at::Tensor chosen = values.isfinite().logical_not();
    if (validity.defined()) chosen = chosen.logical_and(validity);
    if (!groups_.defined()) groups_ = no_groups(at::kBool, state.device());
    grow(groups_, state.size(0));
    groups_.index_fill_(0, ids.masked_select(chosen), true);
  }

  // Throws UserError if one of the groups (int64) overflowed; `results` has one row per group.
  void check(const at::Tensor& groups, const at::Tensor& results, const char* what) const {
    if (is_finite(results)) return;
    at::Tensor overflowed = results.isfinite().logical_not();
    if (overflowed.dim() > 1) overflowed = overflowed.any(1);
    if (groups_.defined()) {
      // Groups beyond groups_ were created later and hold finite inputs only.
      at::Tensor is_known = groups.lt(groups_.size(0));
      at::Tensor noted = groups_.index_select(0, groups.clamp_max(groups_.size(0) - 1)).logical_and(is_known);
      overflowed = overflowed.logical_and(noted.logical_not());
    }
    if (kernels::count_true(overflowed) > 0) throw UserError(fmt::format("{} out of range", what));
  }

  int64_t memory_bytes() const { return groups_.defined() ? bytes_of({groups_}) : 0; }

 private:
  // One vectorized pass; false too for finite numbers whose sum overflows.
  static bool is_finite(const at::Tensor& numbers) { return std::isfinite(numbers.sum(at::kDouble).item<double>()); }

  at::Tensor groups_;  // bool, per group; undefined before the first non-finite input, and possibly shorter than the state
};

class FloatingSumState final : public AggregateState {
 public:
  explicit FloatingSumState(at::Device device) : sums_(no_groups(at::kDouble, device)), counts_(no_groups(at::kLong, device)) {}
  void set_groups(int64_t groups) override {
    grow(sums_, groups);
    grow(counts_, groups);
  }
  void update(const GroupedRows& rows) override {
    kernels::segment_sum_float(sums_, rows.ids, rows.argument->values(), rows.argument->validity());
    non_finite_.note(sums_, rows.ids, rows.argument->values(), rows.argument->validity());
    count_rows(counts_, rows);
  }
  std::vector<Column> columns_of(const at::Tensor& rows) const override {
    at::Tensor sums = kernels::gather_rows(sums_, rows);
    // The receiver treats a non-finite partial sum as a non-finite input.
    non_finite_.check(rows, sums, "sum");
    return {Column::fixed(TypeKind::Double, std::move(sums)), bigints(kernels::gather_rows(counts_, rows))};
  }
  void add(const at::Tensor& ids, const std::vector<Column>& columns) override {
    kernels::segment_sum_float(sums_, ids, columns[0].values());
    non_finite_.note(sums_, ids, columns[0].values());
    add_counts(counts_, ids, columns[1].values());
  }
  Column finish(const AggregateCall& call, int64_t groups) const override {
    at::Tensor counts = counts_.narrow(0, 0, groups);
    if (call.function->kind == AggregateKind::Count) return Column::fixed(TypeKind::BigInt, counts.clone());
    at::Tensor values = sums_.narrow(0, 0, groups).clone();
    non_finite_.check(at::arange(groups, counts.options()), values, "sum");
    return floating_sum_result(call.function->kind, values, counts);
  }
  int64_t memory_bytes() const override { return bytes_of({sums_, counts_}) + non_finite_.memory_bytes(); }

 private:
  NonFiniteGroups non_finite_;
  at::Tensor sums_;
  at::Tensor counts_;
};

class MomentState final : public AggregateState {
 public:
  MomentState(AggregateKind kind, at::Device device) : kind_(kind), moments_(no_groups(3, at::kDouble, device)) {}
  void set_groups(int64_t groups) override { grow(moments_, groups); }
  void update(const GroupedRows& rows) override {
    kernels::segment_moments(moments_, rows.ids, rows.argument->values(), rows.argument->validity());
    non_finite_.note(moments_, rows.ids, rows.argument->values(), rows.argument->validity());
  }
  std::vector<Column> columns_of(const at::Tensor& rows) const override {
    at::Tensor chosen = moments_.index_select(0, rows);
    non_finite_.check(rows, chosen, "variance");
    std::vector<Column> columns;
    for (int64_t i = 0; i < 3; ++i) columns.push_back(Column::fixed(TypeKind::Double, chosen.select(1, i).contiguous()));
    return columns;
  }
  void add(const at::Tensor& ids, const std::vector<Column>& columns) override {
    kernels::moments_merge(moments_, ids, at::stack({columns[0].values(), columns[1].values(), columns[2].values()}, 1));
    // A group with a non-finite input has a non-finite mean.
    non_finite_.note(moments_, ids, columns[1].values());
  }
  Column finish(const AggregateCall&, int64_t groups) const override {
    at::Tensor moments = moments_.narrow(0, 0, groups);
    non_finite_.check(at::arange(groups, at::TensorOptions(at::kLong).device(moments.device())), moments, "variance");
    return moment_result(kind_, moments);
  }
  int64_t memory_bytes() const override { return bytes_of({moments_}) + non_finite_.memory_bytes(); }

 private:
  NonFiniteGroups non_finite_;
  AggregateKind kind_;
  at::Tensor moments_;
};

class ExtremeState final : public AggregateState {
 public:
  ExtremeState(LogicalType type, bool take_max, at::Device device)
      : type_(type),
        take_max_(take_max),
        best_(type.is_wide() ? no_groups(2, at::kLong, device) : no_groups(type.scalar_type(), device)),
        seen_(no_groups(at::kBool, device)) {}
  void set_groups(int64_t groups) override {
    grow(best_, groups);
    grow(seen_, groups);
    groups_ = groups;
  }
  void update(const GroupedRows& rows) override { add_rows(rows.ids, *rows.argument); }
  std::vector<Column> columns_of(const at::Tensor& rows) const override {
    return {Column::fixed(type_, kernels::gather_rows(best_, rows), kernels::gather_rows(seen_, rows))};
  }
  void add(const at::Tensor& ids, const std::vector<Column>& columns) override { add_rows(ids, columns[0]); }
  Column finish(const AggregateCall&, int64_t groups) const override {
    at::Tensor seen = seen_.narrow(0, 0, groups).clone();
    bool all = kernels::count_true(seen) == groups;
    return Column::fixed(type_, best_.narrow(0, 0, groups).clone(), all ? at::Tensor() : seen);
  }
  int64_t memory_bytes() const override { return bytes_of({best_, seen_}); }

 private:
  void add_rows(const at::Tensor& ids, const Column& rows) {
    // Narrowed to the groups in use: the kernel has a fast path for a single group.
    at::Tensor best = best_.narrow(0, 0, groups_), seen = seen_.narrow(0, 0, groups_);
    kernels::segment_extreme(best, seen, ids, rows.values(), take_max_, rows.validity());
  }

  LogicalType type_;
  bool take_max_;
  at::Tensor best_;
  at::Tensor seen_;
  int64_t groups_ = 0;
};

// Intervals with different fields may have equal lengths (1 month, 30 days). They compare by length, then by fields, so that the result
// does not depend on row order. Length and fields together exceed the 128 bits that segment_extreme compares, so the two are compared one
// after the other.
class IntervalExtremeState final : public AggregateState {
 public:
  IntervalExtremeState(bool take_max, at::Device device)
      : take_max_(take_max),
        lengths_(no_groups(2, at::kLong, device)),
        best_(no_groups(2, at::kLong, device)),
        has_length_(no_groups(at::kBool, device)),
        seen_(no_groups(at::kBool, device)) {}
  void set_groups(int64_t groups) override {
    for (at::Tensor* own : {&lengths_, &best_, &has_length_, &seen_}) grow(*own, groups);
  }
  void update(const GroupedRows& rows) override { compete(rows.ids, *rows.argument); }
  std::vector<Column> columns_of(const at::Tensor& rows) const override {
    return {Column::fixed(TypeKind::Interval, kernels::gather_rows(best_, rows), kernels::gather_rows(seen_, rows))};
  }
  void add(const at::Tensor& ids, const std::vector<Column>& columns) override { compete(ids, columns[0]); }
  Column finish(const AggregateCall&, int64_t groups) const override {
    return Column::fixed(TypeKind::Interval, best_.narrow(0, 0, groups).clone(), seen_.narrow(0, 0, groups).clone());
  }
  int64_t memory_bytes() const override { return bytes_of({lengths_, best_, has_length_, seen_}); }

 private:
  void compete(const at::Tensor& ids, const Column& challengers) {
    at::Tensor own = interval_lengths(challengers.values());
    at::Tensor before = kernels::gather_rows(lengths_, ids);
    kernels::segment_extreme(lengths_, has_length_, ids, own, take_max_, challengers.validity());
    at::Tensor after = kernels::gather_rows(lengths_, ids);
    // Where the length has improved, the fields of the previous best are invalid.
    seen_.index_fill_(0, kernels::compress(ids, before.ne(after).any(1)), false);
    at::Tensor as_good = own.eq(after).all(1);
    if (challengers.has_validity()) as_good = as_good.logical_and(challengers.validity());
    kernels::segment_extreme(best_, seen_, ids, challengers.values(), take_max_, as_good);
  }

  bool take_max_;
  at::Tensor lengths_;  // days and microseconds of the day (interval_lengths)
  at::Tensor best_;
  at::Tensor has_length_;
  at::Tensor seen_;  // of best_
};

}  // namespace

const at::Tensor& GroupSizes::get() {
  if (!sizes_.defined()) {
    sizes_ = at::zeros({groups_}, ids_.options());
    kernels::segment_count(sizes_, ids_);
  }
  return sizes_;
}

int64_t AggregateState::most_bytes_with(int64_t rows) const {
  // A full tensor is copied into one of twice the size; both exist meanwhile.
  return 3 * memory_bytes() + rows * kStateBytes;
}

std::unique_ptr<AggregateState> make_aggregate_state(const AggregateCall& call, at::Device device) {
  AggregateKind kind = call.function->kind;
  LogicalType argument = argument_type(call);
  bool is_max = kind == AggregateKind::Max || kind == AggregateKind::BoolOr;
  switch (kind) {
    case AggregateKind::CountRows:
    case AggregateKind::Count: return std::make_unique<CountState>(device);
    case AggregateKind::Sum:
    case AggregateKind::Average:
      if (argument.is_floating()) return std::make_unique<FloatingSumState>(device);
      return std::make_unique<ExactSumState>(argument, device);
    case AggregateKind::Min:
    case AggregateKind::Max:
    case AggregateKind::BoolAnd:
    case AggregateKind::BoolOr:
      if (argument.is_text()) return std::make_unique<TextExtremeState>(argument, is_max, device);
      if (argument.kind() == TypeKind::Interval) return std::make_unique<IntervalExtremeState>(is_max, device);
      return std::make_unique<ExtremeState>(argument, is_max, device);
    case AggregateKind::VarianceSample:
    case AggregateKind::VariancePopulation:
    case AggregateKind::StddevSample:
    case AggregateKind::StddevPopulation: return std::make_unique<MomentState>(kind, device);
    case AggregateKind::AnyValue: return std::make_unique<AnyValueState>(argument, device);
    case AggregateKind::BitAnd: return std::make_unique<BitState>(argument, kernels::BitOp::And, device);
    case AggregateKind::BitOr: return std::make_unique<BitState>(argument, kernels::BitOp::Or, device);
    case AggregateKind::BitXor: return std::make_unique<BitState>(argument, kernels::BitOp::Xor, device);
    case AggregateKind::ApproxCountDistinct: return std::make_unique<DistinctSketchState>(device);
    case AggregateKind::Ordered:         // the optimizer lowers it
    case AggregateKind::CountIf: break;  // the binder makes it a count
  }
  fail_check(__FILE__, __LINE__, "unknown aggregate");
}

}  // namespace pistachio
