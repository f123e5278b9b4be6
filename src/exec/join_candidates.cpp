#include "exec/join_candidates.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "columns/column_compare.h"
#include "columns/column_hash.h"
#include "columns/order_words.h"
#include "columns/row_selection.h"
#include "data/concatenate_columns.h"
#include "expr/expression_evaluator.h"
#include "kernels/ops/compress.h"
#include "kernels/ops/join_build.h"
#include "kernels/ops/join_probe.h"
#include "kernels/ops/sort_order.h"

namespace pistachio {

namespace {

template <typename Condition>
std::vector<ExpressionPtr> side_of(const std::vector<Condition>& conditions, ExpressionPtr Condition::*side) {
  std::vector<ExpressionPtr> expressions;
  for (const Condition& condition : conditions) expressions.push_back(condition.*side);
  return expressions;
}

// Rows whose keys can match at all: no NULL among those that are not null-safe. Undefined: all.
at::Tensor matchable(const std::vector<Column>& columns, const std::vector<JoinKey>& keys) {
  at::Tensor valid;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!keys[i].null_safe) valid = both_valid(valid, columns[i].validity());
  }
  return valid;
}

// Whether equal hashes mean equal keys. NULLs that cannot match are left out of both sides and do not count.
bool hashes_decide(const std::vector<Column>& columns, const std::vector<JoinKey>& keys) {
  return columns.size() == 1 && hash_is_exact(columns[0].type()) && !(keys[0].null_safe && columns[0].has_validity());
}

class HashCandidates final : public JoinCandidates {
 public:
  HashCandidates(const PhysicalJoin& join, const std::vector<ColumnId>& left_layout, const std::vector<ColumnId>& right_layout,
                 const Chunk& build, const MemoryAccount& account)
      : keys_(join.keys),
        left_(side_of(join.keys, &JoinKey::left), left_layout),
        memory_(account.reserve_now(build.rows() * 40, ReservationKind::Held)) {  // hashes, order, buckets
    build_keys_ = ExpressionEvaluator(side_of(join.keys, &JoinKey::right), right_layout).evaluate(build);
    exact_ = hashes_decide(build_keys_, keys_);
    int64_t key_bytes = 0;
    for (size_t i = 0; i < keys_.size(); ++i) {
      bool is_kept_anyway = keys_[i].right->kind() == ExpressionKind::Column && !build_keys_[i].is_dictionary();
      if (!is_kept_anyway) key_bytes += build_keys_[i].memory_bytes();
    }
    key_memory_ = account.reserve_now(key_bytes, ReservationKind::Held);
    std::tie(offsets_, order_, hashes_) = kernels::join_build(hash_rows(build_keys_), matchable(build_keys_, keys_));
    if (!exact_) std::transform(build_keys_.begin(), build_keys_.end(), build_keys_.begin(), decode_dictionary);
  }

  std::unique_ptr<Search> search(const Chunk& left) const override { return std::make_unique<HashSearch>(*this, left); }

 private:
  class HashSearch final : public Search {
   public:
    HashSearch(const HashCandidates& owner, const Chunk& left) : owner_(owner), rows_(left.rows()), keys_(owner.left_.evaluate(left)) {
      hashes_ = hash_rows(keys_);
      valid_ = matchable(keys_, owner.keys_);
      exact_ = owner.exact_ && hashes_decide(keys_, owner.keys_);
      if (!exact_) std::transform(keys_.begin(), keys_.end(), keys_.begin(), decode_dictionary);
    }

    std::optional<RowPairs> next(int64_t most) override {
      if (next_ >= rows_) return std::nullopt;
      RowPairs pairs;
      std::tie(pairs.left, pairs.right, next_) =
          kernels::join_probe(owner_.offsets_, owner_.order_, owner_.hashes_, hashes_, valid_, next_, most);
      if (exact_ || pairs.left.numel() == 0) return pairs;
      at::Tensor equal = verify(pairs);
      if (kernels::count_true(equal) == equal.numel()) return pairs;
      return RowPairs{kernels::compress(pairs.left, equal), kernels::compress(pairs.right, equal)};
    }

   private:
    at::Tensor verify(const RowPairs& pairs) const {
      at::Tensor equal;
      for (size_t i = 0; i < keys_.size(); ++i) {
        Column left = take_rows(keys_[i], pairs.left);
        Column right = take_rows(owner_.build_keys_[i], pairs.right);
        at::Tensor same = owner_.keys_[i].null_safe ? same_rows(left, right) : compare_columns(left, Comparison::Equal, right);
        equal = equal.defined() ? equal.logical_and(same) : same;
      }
      return equal;
    }

    const HashCandidates& owner_;
    int64_t rows_;
    std::vector<Column> keys_;
    at::Tensor hashes_;
    at::Tensor valid_;
    bool exact_ = false;
    int64_t next_ = 0;
  };

  const std::vector<JoinKey>& keys_;
  ExpressionEvaluator left_;
  Reservation memory_;
  Reservation key_memory_;
  std::vector<Column> build_keys_;
  bool exact_ = false;
  at::Tensor offsets_;
  at::Tensor order_;
  at::Tensor hashes_;
};

// Gives the pairs of each left row with the build rows at [begin, begin + count) of an order.
class SpanSearch final : public JoinCandidates::Search {
 public:
  // `order` undefined: the build rows as they are.
  SpanSearch(at::Tensor begins, at::Tensor counts, at::Tensor order)
      : begins_(std::move(begins)), order_(std::move(order)), ends_(counts.cumsum(0)), skipped_(ends_ - counts) {
    total_ = ends_.numel() == 0 ? 0 : ends_[-1].item<int64_t>();
  }

  std::optional<RowPairs> next(int64_t most) override {
    if (next_ >= total_) return std::nullopt;
    int64_t end = total_ - next_ > most ? next_ + most : total_;
    at::Tensor numbers = at::arange(next_, end, ends_.options());
    next_ = end;
    at::Tensor left = at::searchsorted(ends_, numbers, false, true);
    at::Tensor place = numbers - skipped_.index_select(0, left) + begins_.index_select(0, left);
    return RowPairs{left, order_.defined() ? order_.index_select(0, place) : place};
  }

 private:
  at::Tensor begins_;
  at::Tensor order_;
  at::Tensor ends_;     // of each left row among all pairs
  at::Tensor skipped_;  // the pairs of the rows before
  int64_t total_ = 0;
  int64_t next_ = 0;
};

// The build side is ordered by the value of the first bound. A second bound on another value is searched in the running maximum of that
// value: before the place found there no row can reach the bound. With spans that hardly overlap (validity periods, price bands) little
// is left to check.
class RangeCandidates final : public JoinCandidates {
 public:
  RangeCandidates(const PhysicalJoin& join, const std::vector<ColumnId>& left_layout, const std::vector<ColumnId>& right_layout,
                  const Chunk& build, const MemoryAccount& account)
      : bounds_(join.bounds),
        left_(side_of(join.bounds, &JoinBound::left), left_layout),
        memory_(account.reserve_now(build.rows() * 48, ReservationKind::Held)) {  // order, words, and what sorting them takes
    std::vector<Column> values = ExpressionEvaluator(side_of(join.bounds, &JoinBound::right), right_layout).evaluate(build);
    at::Tensor valid;
    for (const Column& value : values) valid = both_valid(valid, value.validity());
    std::vector<at::Tensor> words;
    for (const Column& value : values) words.push_back(order_words(value)[0]);
    if (valid.defined()) {
      for (at::Tensor& word : words) word = kernels::compress(word, valid);
    }
    order_ = kernels::sort_order({words[0]});
    for (at::Tensor& word : words) word = word.index_select(0, order_);
    ordered_ = words[0];
    if (words.size() > 1) greatest_ = std::get<0>(words[1].cummax(0));
    if (valid.defined()) order_ = valid.nonzero().view({-1}).index_select(0, order_);
  }

  std::unique_ptr<Search> search(const Chunk& left) const override {
    std::vector<Column> values = left_.evaluate(left);
    at::Tensor begins = at::zeros({left.rows()}, order_.options());
    at::Tensor ends = at::full({left.rows()}, ordered_.numel(), order_.options());
    at::Tensor valid;
    for (size_t i = 0; i < bounds_.size(); ++i) {
      at::Tensor words = order_words(values[i])[0].contiguous();
      valid = both_valid(valid, values[i].validity());
      if (bounds_[i].is_upper) {
        ends = at::searchsorted(ordered_, words, false, bounds_[i].is_inclusive);
      } else {
        begins = at::searchsorted(i == 0 ? ordered_ : greatest_, words, false, !bounds_[i].is_inclusive);
      }
    }
    at::Tensor counts = (ends - begins).clamp_min(0);
    if (valid.defined()) counts = counts.masked_fill(valid.logical_not(), 0);
    return std::make_unique<SpanSearch>(begins, counts, order_);
  }

 private:
  const std::vector<JoinBound>& bounds_;
  ExpressionEvaluator left_;
  Reservation memory_;
  at::Tensor order_;     // build rows, by the value of the first bound
  at::Tensor ordered_;   // the words of that value
  at::Tensor greatest_;  // the greatest word of the second bound's value up to each place
};

class AllCandidates final : public JoinCandidates {
 public:
  AllCandidates(int64_t rows, at::Device device) : rows_(rows), options_(at::TensorOptions(at::kLong).device(device)) {}

  std::unique_ptr<Search> search(const Chunk& left) const override {
    return std::make_unique<SpanSearch>(at::zeros({left.rows()}, options_), at::full({left.rows()}, rows_, options_), at::Tensor());
  }

 private:
  int64_t rows_;
  at::TensorOptions options_;
};

}  // namespace

std::unique_ptr<JoinCandidates> make_join_candidates(const PhysicalJoin& join, const std::vector<ColumnId>& left_layout,
                                                     const std::vector<ColumnId>& right_layout, const Chunk& build,
                                                     const MemoryAccount& account, at::Device device) {
  if (!join.keys.empty()) return std::make_unique<HashCandidates>(join, left_layout, right_layout, build, account);
  if (!join.bounds.empty()) return std::make_unique<RangeCandidates>(join, left_layout, right_layout, build, account);
  return std::make_unique<AllCandidates>(build.rows(), device);
}

}  // namespace pistachio
