// Orders inner joins of very many inputs greedily over the edges of the join graph. The edge whose join has the lowest estimated
// cardinality goes first; among equals the one that joins the fewest inputs, so that a long chain becomes a balanced tree. Unconnected
// parts are combined by cross products at the end, small ones first. Merging two parts only visits the conditions of the smaller one.
#include <algorithm>
#include <queue>
#include <tuple>
#include <unordered_map>

#include "base/stop_if_cancelled.h"
#include "optimizer/join_region.h"

namespace pistachio {

namespace {

// A set of joined inputs.
struct Part {
  LogicalPtr plan;
  double rows = 1;
  size_t inputs = 1;
  size_t first = 0;                // the first of its inputs, as written
  std::vector<size_t> conditions;  // that use one of its inputs
};

// Priority of a candidate join: the lowest goes first.
using Rank = std::tuple<double, size_t, size_t>;  // rows, inputs, index of the condition or part

class ManyJoinsOrderer {
 public:
  ManyJoinsOrderer(const CardinalityEstimator& estimator, JoinRegion region, const CancelToken& token)
      : estimator_(estimator), conditions_(std::move(region.conditions)), token_(token) {
    std::unordered_map<int32_t, size_t> input_of_column;
    for (size_t i = 0; i < region.inputs.size(); ++i) {
      for (ColumnId column : output_columns(*region.inputs[i])) input_of_column.emplace(column.value, i);
      double rows = estimator_.rows(*region.inputs[i]);
      parts_.push_back({.plan = std::move(region.inputs[i]), .rows = rows, .first = i, .conditions = {}});
      part_of_input_.push_back(i);
    }
    for (size_t i = 0; i < conditions_.size(); ++i) {
      stop_if_cancelled(token_);
      add_condition(i, input_of_column);
    }
  }

  LogicalPtr build() {
    join_along_edges();
    multiply_rest();
    if (single_.empty()) return std::move(parts_[find(0)].plan);
    return make_node(LogicalFilter{std::move(single_)}, std::move(parts_[find(0)].plan));
  }

 private:
  void add_condition(size_t place, const std::unordered_map<int32_t, size_t>& input_of_column) {
    std::vector<size_t> used;
    for (ColumnId column : columns_of(*conditions_[place])) {
      auto found = input_of_column.find(column.value);
      if (found != input_of_column.end() && std::find(used.begin(), used.end(), found->second) == used.end()) used.push_back(found->second);
    }
    if (used.size() < 2) single_.push_back(conditions_[place]);
    std::vector<const LogicalNode*> nodes;
    for (size_t input : used) nodes.push_back(parts_[input].plan.get());
    estimates_.push_back(used.size() < 2 ? ConditionEstimate{} : estimator_.estimate(*conditions_[place], nodes));
    for (size_t input : used) parts_[input].conditions.push_back(place);
    is_joined_.push_back(used.size() < 2);
    inputs_of_condition_.push_back(std::move(used));
  }

  // The part that currently contains an input.
  size_t find(size_t input) {
    while (part_of_input_[input] != input) input = part_of_input_[input] = part_of_input_[part_of_input_[input]];
    return input;
  }

  Rank rank_of(size_t condition) {
    const Part& left = parts_[find(inputs_of_condition_[condition][0])];
    const Part& right = parts_[find(inputs_of_condition_[condition][1])];
    return {std::max(1.0, left.rows * right.rows * estimates_[condition].share), left.inputs + right.inputs, condition};
  }

  void join_along_edges() {
    std::priority_queue<Rank, std::vector<Rank>, std::greater<>> edges;
    for (size_t i = 0; i < conditions_.size(); ++i) {
      if (inputs_of_condition_[i].size() == 2) edges.push(rank_of(i));
    }
    while (!edges.empty()) {
      Rank before = edges.top();
      edges.pop();
      size_t condition = std::get<2>(before);
      if (is_joined_[condition]) continue;
      // Its parts may have grown since it was queued.
      Rank now = rank_of(condition);
      if (now > before) {
        edges.push(now);
        continue;
      }
      join(find(inputs_of_condition_[condition][0]), find(inputs_of_condition_[condition][1]));
    }
  }

  void multiply_rest() {
    std::priority_queue<Rank, std::vector<Rank>, std::greater<>> left;
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (find(i) == i) left.emplace(parts_[i].rows, parts_[i].inputs, i);
    }
    while (left.size() > 1) {
      size_t first = std::get<2>(left.top());
      left.pop();
      size_t second = std::get<2>(left.top());
      left.pop();
      size_t joined = join(first, second);
      left.emplace(parts_[joined].rows, parts_[joined].inputs, joined);
    }
  }

  // Returns the index of the merged part.
  size_t join(size_t one, size_t other) {
    stop_if_cancelled(token_);
    if (parts_[one].conditions.size() < parts_[other].conditions.size()) std::swap(one, other);
    part_of_input_[other] = one;
    Part& large = parts_[one];
    Part& small = parts_[other];
    std::vector<size_t> met;
    for (size_t condition : small.conditions) {
      if (is_joined_[condition]) continue;
      const std::vector<size_t>& used = inputs_of_condition_[condition];
      is_joined_[condition] = std::all_of(used.begin(), used.end(), [&](size_t input) { return find(input) == one; });
      (is_joined_[condition] ? met : large.conditions).push_back(condition);
    }
    std::sort(met.begin(), met.end());
    LogicalJoin node{.kind = JoinKind::Inner};
    std::vector<const ConditionEstimate*> estimates;
    for (size_t condition : met) {
      estimates.push_back(&estimates_[condition]);
      if (known_.add(estimates_[condition])) node.conditions.push_back(conditions_[condition]);
    }
    large.rows = std::max(1.0, large.rows * small.rows * joint_share(std::move(estimates)));
    large.inputs += small.inputs;
    if (small.first < large.first) std::swap(large.plan, small.plan);
    large.first = std::min(large.first, small.first);
    large.plan = make_node(std::move(node), std::move(large.plan), std::move(small.plan));
    small.conditions.clear();
    return one;
  }

  const CardinalityEstimator& estimator_;
  std::vector<ExpressionPtr> conditions_;
  const CancelToken& token_;
  std::vector<ExpressionPtr> single_;  // conditions on at most one input
  std::vector<Part> parts_;            // by representative input
  std::vector<size_t> part_of_input_;  // union-find
  std::vector<std::vector<size_t>> inputs_of_condition_;
  std::vector<ConditionEstimate> estimates_;
  std::vector<bool> is_joined_;  // conditions already used
  KnownEqualities known_;
};

}  // namespace

LogicalPtr order_many_joins(const CardinalityEstimator& estimator, JoinRegion region, const CancelToken& token) {
  return ManyJoinsOrderer(estimator, std::move(region), token).build();
}

}  // namespace pistachio
