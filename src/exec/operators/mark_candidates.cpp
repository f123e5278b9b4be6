// The pattern of a row is the bit set of its compared values that are NULL. A pair of rows with patterns p and q is unknown if and only if
// p | q is not empty and the compared values outside of p | q are equal. Such pairs are found by hash as well, in one table per set of
// values left to compare; p | q = 0 yields the matches. If pairs have no further conditions, one row represents all rows with the same
// keys, so that a left row has at most one candidate per table.
#include "exec/operators/mark_candidates.h"

#include <map>
#include <mutex>
#include <set>

#include "columns/row_selection.h"
#include "exec/operators/key_groups.h"
#include "exec/operators/key_table.h"
#include "expr/expression_evaluator.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

using Pattern = int64_t;

std::vector<JoinKey> all_keys(const PhysicalJoin& join) {
  std::vector<JoinKey> keys = join.keys;
  keys.insert(keys.end(), join.compared_keys.begin(), join.compared_keys.end());
  return keys;
}

std::vector<ExpressionPtr> side_of(const std::vector<JoinKey>& keys, ExpressionPtr JoinKey::*side) {
  std::vector<ExpressionPtr> expressions;
  for (const JoinKey& key : keys) expressions.push_back(key.*side);
  return expressions;
}

std::vector<Column> take_rows(const std::vector<Column>& columns, const at::Tensor& rows) {
  std::vector<Column> taken;
  for (const Column& column : columns) taken.push_back(take_rows(column, rows));
  return taken;
}

// The elements of `rows` at `places`; undefined `rows` means all rows.
at::Tensor rows_of_rows(const at::Tensor& rows, const at::Tensor& places) {
  return rows.defined() ? rows.index_select(0, places) : places;
}

// One row per distinct combination of keys; undefined if all are distinct.
at::Tensor first_of_each(const std::vector<Column>& keys, int64_t rows, at::Device device, const MemoryAccount& account,
                         const CancelToken& token) {
  KeyGroups groups = group_rows(keys, rows, device, account, token);
  return groups.row_of.numel() == rows ? at::Tensor() : groups.row_of;
}

class MarkCandidates final : public JoinCandidates {
 public:
  MarkCandidates(const PhysicalJoin& join, const std::vector<ColumnId>& left_layout, const std::vector<ColumnId>& right_layout,
                 const Chunk& build, const MemoryAccount& account, at::Device device, const CancelToken& token)
      : keys_(all_keys(join)),
        compared_(join.keys.size()),
        needs_all_pairs_(!join.conditions.empty()),
        account_(account),
        device_(device),
        token_(token),
        left_(side_of(keys_, &JoinKey::left), left_layout),
        build_rows_(build.rows()),
        build_keys_(ExpressionEvaluator(side_of(keys_, &JoinKey::right), right_layout).evaluate(build, token)),
        build_patterns_(patterns_of(build_keys_)) {
    for (Pattern pattern = 0; pattern < pattern_count(); ++pattern) {
      bool is_there = build_patterns_.defined() ? build_patterns_.eq(pattern).any().item<bool>() : pattern == 0;
      if (is_there) present_.push_back(pattern);
    }
  }

  std::unique_ptr<Search> search(const Chunk& left, const CancelToken& token) const override {
    return std::make_unique<MarkSearch>(*this, left, token);
  }

 private:
  // Build rows of one pattern, indexed by the keys that are left to compare.
  struct Table {
    at::Tensor rows;  // undefined: all
    int64_t count = 0;
    std::vector<size_t> places;  // indexes of the keys
    std::optional<KeyTable> by_keys;
    bool is_unknown = false;
  };

  // The left rows that are looked up in one table.
  struct Part {
    const Table* table = nullptr;
    at::Tensor rows;  // undefined: all
    int64_t count = 0;
  };

  class MarkSearch final : public Search {
   public:
    MarkSearch(const MarkCandidates& owner, const Chunk& left, const CancelToken& token) : owner_(owner), keys_(owner.left_.evaluate(left, token)) {
      // All left rows, even those with NULLs: in the tables of the empty pattern those find only unknown pairs, or none.
      add_parts(0, {}, left.rows());
      at::Tensor patterns = owner.patterns_of(keys_);
      if (!patterns.defined()) return;
      for (Pattern pattern = 1; pattern < owner.pattern_count(); ++pattern) {
        at::Tensor rows = patterns.eq(pattern).nonzero().view({-1});
        if (rows.numel() > 0) add_parts(pattern, rows, rows.numel());
      }
    }

    std::optional<RowPairs> next(int64_t most) override {
      for (; next_part_ < parts_.size(); ++next_part_) {
        const Part& part = parts_[next_part_];
        if (!search_) search_ = start(part);
        if (!found_) found_ = search_->next(most);
        if (found_) {
          RowPairs pairs = *found_;
          if (part.rows.defined()) {
            pairs.left = part.rows.index_select(0, pairs.left);
            pairs.has_each_left_row = false;
          }
          if (part.table->rows.defined()) pairs.right = part.table->rows.index_select(0, pairs.right);
          pairs.is_unknown = part.table->is_unknown;
          found_.reset();
          return pairs;
        }
        search_.reset();
      }
      return std::nullopt;
    }

   private:
    void add_parts(Pattern pattern, const at::Tensor& rows, int64_t count) {
      std::set<Pattern> joint;
      for (Pattern build : owner_.present_) joint.insert(pattern | build);
      for (Pattern both : joint) parts_.push_back({&owner_.table(pattern, both), rows, count});
    }

    std::unique_ptr<Search> start(const Part& part) const {
      if (!part.table->by_keys) return search_all(part.count, part.table->count, owner_.device_);
      std::vector<Column> keys;
      for (size_t place : part.table->places) keys.push_back(part.rows.defined() ? take_rows(keys_[place], part.rows) : keys_[place]);
      return part.table->by_keys->search(std::move(keys));
    }

    const MarkCandidates& owner_;
    std::vector<Column> keys_;
    std::vector<Part> parts_;
    size_t next_part_ = 0;
    std::unique_ptr<Search> search_;
    std::optional<RowPairs> found_;  // pairs of search_ that could not be returned
  };

  Pattern pattern_count() const { return Pattern{1} << (keys_.size() - compared_); }

  // int64 [rows]; undefined: no value is NULL.
  at::Tensor patterns_of(const std::vector<Column>& keys) const {
    at::Tensor patterns;
    for (size_t i = compared_; i < keys.size(); ++i) {
      if (!keys[i].has_validity()) continue;
      at::Tensor bits = keys[i].validity().logical_not().to(at::kLong).mul_(Pattern{1} << (i - compared_));
      patterns = patterns.defined() ? patterns.add_(bits) : bits;
    }
    return patterns;
  }

  // The build rows for left rows of pattern `left`, such that `both` is the union of both patterns. Built on first use: most left sides
  // have no NULLs.
  const Table& table(Pattern left, Pattern both) const {
    std::lock_guard lock(mutex_);
    std::unique_ptr<Table>& known = tables_[{left, both}];
    if (!known) known = make_table(left, both);
    return *known;
  }

  std::unique_ptr<Table> make_table(Pattern left, Pattern both) const {
    auto made = std::make_unique<Table>();
    made->is_unknown = both != 0;
    made->count = build_rows_;
    if (build_patterns_.defined()) {
      made->rows = build_patterns_.bitwise_or(left).eq(both).nonzero().view({-1});
      made->count = made->rows.numel();
    }
    std::vector<JoinKey> keys;
    std::vector<Column> columns;
    for (size_t place = 0; place < keys_.size(); ++place) {
      if (place >= compared_ && ((both >> (place - compared_)) & 1) != 0) continue;
      made->places.push_back(place);
      keys.push_back(keys_[place]);
      columns.push_back(made->rows.defined() ? take_rows(build_keys_[place], made->rows) : build_keys_[place]);
    }
    if (keys.empty()) {
      if (!needs_all_pairs_ && made->count > 1) {
        made->rows = rows_of_rows(made->rows, at::zeros({1}, at::TensorOptions(at::kLong).device(device_)));
        made->count = 1;
      }
      return made;
    }
    at::Tensor first = needs_all_pairs_ ? at::Tensor() : first_of_each(columns, made->count, device_, account_, token_);
    if (first.defined()) {
      made->rows = rows_of_rows(made->rows, first);
      made->count = first.numel();
      columns = take_rows(columns, first);
    }
    made->by_keys.emplace(std::move(keys), std::move(columns), account_);
    made->by_keys->build(token_);
    return made;
  }

  std::vector<JoinKey> keys_;  // join keys, then compared keys
  size_t compared_;            // index of the first compared key
  bool needs_all_pairs_;
  const MemoryAccount& account_;
  at::Device device_;
  CancelToken token_;  // tables are built while the left side is read
  ExpressionEvaluator left_;
  int64_t build_rows_;
  std::vector<Column> build_keys_;
  at::Tensor build_patterns_;  // undefined: no value is NULL
  std::vector<Pattern> present_;
  mutable std::mutex mutex_;
  mutable std::map<std::pair<Pattern, Pattern>, std::unique_ptr<Table>> tables_;  // guarded by mutex_
};

}  // namespace

std::unique_ptr<JoinCandidates> make_mark_candidates(const PhysicalJoin& join, const std::vector<ColumnId>& left_layout,
                                                     const std::vector<ColumnId>& right_layout, const Chunk& build,
                                                     const MemoryAccount& account, at::Device device, const CancelToken& token) {
  return std::make_unique<MarkCandidates>(join, left_layout, right_layout, build, account, device, token);
}

}  // namespace pistachio
