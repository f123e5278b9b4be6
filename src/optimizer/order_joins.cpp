// Orders inner joins. A region of inner joins is split into inputs and conditions and rebuilt: by dynamic programming over subsets for up
// to twelve inputs, greedily beyond (above 60: order_many_joins.cpp). The cost of an order is the sum of its intermediate cardinalities;
// cross products are used only where no condition connects the inputs.
#include <algorithm>
#include <bit>
#include <limits>
#include <map>

#include "base/check.h"
#include "optimizer/cardinality.h"
#include "optimizer/column_equality.h"
#include "optimizer/join_region.h"
#include "optimizer/rules.h"

namespace pistachio {

namespace {

constexpr size_t kMaxForDynamicProgramming = 12;
constexpr double kMuchSmaller = 4;
// Additional cost of a row of a cross product. Products of small tables save joins, but as build sides they are hash tables that outgrow
// the caches sooner than those of the tables.
constexpr double kProductWeight = 4;
using Inputs = uint64_t;  // a set of inputs

constexpr size_t kMaxInputs = 60;

bool is_inside_region(const LogicalNode& node) {
  const auto* join = node.as<LogicalJoin>();
  return join != nullptr && join->kind == JoinKind::Inner && !join->dependent;
}

void take_apart(LogicalPtr node, JoinRegion& region) {
  auto* join = node->as<LogicalJoin>();
  if (!is_inside_region(*node)) {
    region.inputs.push_back(std::move(node));
    return;
  }
  region.conditions.insert(region.conditions.end(), join->conditions.begin(), join->conditions.end());
  LogicalPtr left = std::move(node->children[0]);
  LogicalPtr right = std::move(node->children[1]);
  take_apart(std::move(left), region);
  take_apart(std::move(right), region);
}

class JoinOrderer {
 public:
  JoinOrderer(const CardinalityEstimator& estimator, JoinRegion region) : estimator_(estimator), region_(std::move(region)) {
    for (const LogicalPtr& input : region_.inputs) {
      rows_.push_back(estimator_.rows(*input));
      given_.push_back(output_set(*input));
    }
    put_composite_keys_first();
    std::vector<const LogicalNode*> nodes;
    for (const LogicalPtr& input : region_.inputs) nodes.push_back(input.get());
    for (const ExpressionPtr& condition : region_.conditions) {
      used_by_.push_back(inputs_of(*condition));
      estimates_.push_back(estimator_.estimate(*condition, nodes));
    }
  }

  LogicalPtr build() { return region_.inputs.size() <= kMaxForDynamicProgramming ? build_tree(best_order()) : build_greedily(); }

 private:
  struct Choice {
    double cost = std::numeric_limits<double>::infinity();
    Inputs left = 0;
    Inputs right = 0;
  };

  Inputs inputs_of(const Expression& condition) const {
    Inputs used = 0;
    for (ColumnId column : columns_of(condition)) {
      for (size_t i = 0; i < given_.size(); ++i) {
        if (given_[i].contains(column)) used |= Inputs{1} << i;
      }
    }
    return used;
  }

  // Of redundant equalities the first ones are used. Inputs connected by several equalities go first: together they may be a composite
  // key, whose selectivity is not the product of its parts.
  void put_composite_keys_first() {
    std::map<Inputs, int> in_common;
    for (const ExpressionPtr& condition : region_.conditions) {
      if (as_column_equality(*condition)) ++in_common[inputs_of(*condition)];
    }
    std::stable_sort(region_.conditions.begin(), region_.conditions.end(), [&](const ExpressionPtr& left, const ExpressionPtr& right) {
      auto rank = [&](const Expression& condition) { return as_column_equality(condition) ? in_common[inputs_of(condition)] : 0; };
      return rank(*left) > rank(*right);
    });
  }

  // Cardinality of the join of a set of inputs, independent of the order.
  double rows_of(Inputs set) {
    auto known = set_rows_.find(set);
    if (known != set_rows_.end()) return known->second;
    double rows = 1;
    for (size_t i = 0; i < rows_.size(); ++i) {
      if ((set >> i & 1) != 0) rows *= rows_[i];
    }
    std::vector<const ConditionEstimate*> inside;
    for (size_t i = 0; i < used_by_.size(); ++i) {
      if ((used_by_[i] & ~set) == 0 && std::popcount(used_by_[i]) > 1) inside.push_back(&estimates_[i]);
    }
    return set_rows_[set] = std::max(1.0, rows * joint_share(std::move(inside)));
  }

  bool connected(Inputs left, Inputs right) const {
    return std::any_of(used_by_.begin(), used_by_.end(),
                       [&](Inputs used) { return (used & left) != 0 && (used & right) != 0 && (used & ~(left | right)) == 0; });
  }

  std::map<Inputs, Choice> best_order() {
    std::map<Inputs, Choice> best;
    size_t count = region_.inputs.size();
    for (size_t i = 0; i < count; ++i) best[Inputs{1} << i] = {0, 0, 0};
    Inputs all = (Inputs{1} << count) - 1;
    for (Inputs set = 1; set <= all; ++set) {
      if (std::popcount(set) < 2) continue;
      Choice chosen;
      for (bool allow_products : {false, true}) {
        // Each split once: the half with the lowest input is on the left.
        for (Inputs left = (set - 1) & set; left != 0; left = (left - 1) & set) {
          Inputs right = set & ~left;
          if ((left & (set & -set)) == 0) continue;
          if (!allow_products && !connected(left, right)) continue;
          auto first = best.find(left);
          auto second = best.find(right);
          if (first == best.end() || second == best.end()) continue;
          // The build side is read and retained before the first row is produced: a small weight breaks ties in favour of a smaller one.
          double cost = first->second.cost + second->second.cost + rows_of(set) + 0.1 * std::min(rows_of(left), rows_of(right));
          if (allow_products) cost += kProductWeight * rows_of(set);
          if (cost < chosen.cost) chosen = {cost, left, right};
        }
        if (chosen.left != 0) break;
      }
      if (chosen.left != 0) best[set] = chosen;
    }
    return best;
  }

  LogicalPtr join(LogicalPtr left, Inputs left_set, LogicalPtr right, Inputs right_set) {
    LogicalJoin node{.kind = JoinKind::Inner};
    Inputs both = left_set | right_set;
    // Equalities within each side already hold, and those implied need not be checked.
    KnownEqualities known;
    for (size_t i = 0; i < used_by_.size(); ++i) {
      bool holds = (used_by_[i] & ~left_set) == 0 || (used_by_[i] & ~right_set) == 0;
      if (holds) known.add(estimates_[i]);
    }
    for (size_t i = 0; i < used_by_.size(); ++i) {
      bool fits = (used_by_[i] & ~both) == 0 && (used_by_[i] & left_set) != 0 && (used_by_[i] & right_set) != 0;
      if (!fits) continue;
      if (!known.add(estimates_[i])) continue;
      node.conditions.push_back(region_.conditions[i]);
    }
    return make_node(std::move(node), std::move(left), std::move(right));
  }

  LogicalPtr build_tree(const std::map<Inputs, Choice>& best) {
    Inputs all = (Inputs{1} << region_.inputs.size()) - 1;
    return with_rest(build_set(best, all));
  }

  LogicalPtr build_set(const std::map<Inputs, Choice>& best, Inputs set) {
    if (std::popcount(set) == 1) return std::move(region_.inputs[static_cast<size_t>(std::countr_zero(set))]);
    const Choice& choice = best.at(set);
    LogicalPtr left = build_set(best, choice.left);
    LogicalPtr right = build_set(best, choice.right);
    return join(std::move(left), choice.left, std::move(right), choice.right);
  }

  LogicalPtr build_greedily() {
    struct Part {
      LogicalPtr plan;
      Inputs set;
    };
    std::vector<Part> parts;
    for (size_t i = 0; i < region_.inputs.size(); ++i) parts.push_back({std::move(region_.inputs[i]), Inputs{1} << i});
    while (parts.size() > 1) {
      size_t first = 0;
      size_t second = 1;
      double least = std::numeric_limits<double>::infinity();
      for (bool allow_products : {false, true}) {
        for (size_t i = 0; i < parts.size(); ++i) {
          for (size_t j = i + 1; j < parts.size(); ++j) {
            if (!allow_products && !connected(parts[i].set, parts[j].set)) continue;
            double rows = rows_of(parts[i].set | parts[j].set);
            if (rows < least) {
              least = rows;
              first = i;
              second = j;
            }
          }
        }
        if (least < std::numeric_limits<double>::infinity()) break;
      }
      Inputs both = parts[first].set | parts[second].set;
      LogicalPtr joined = join(std::move(parts[first].plan), parts[first].set, std::move(parts[second].plan), parts[second].set);
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(second));
      parts[first] = {std::move(joined), both};
    }
    return with_rest(std::move(parts[0].plan));
  }

  // Conditions on at most one input.
  LogicalPtr with_rest(LogicalPtr plan) {
    std::vector<ExpressionPtr> rest;
    for (size_t i = 0; i < used_by_.size(); ++i) {
      if (std::popcount(used_by_[i]) < 2) rest.push_back(region_.conditions[i]);
    }
    if (rest.empty()) return plan;
    return make_node(LogicalFilter{std::move(rest)}, std::move(plan));
  }

  const CardinalityEstimator& estimator_;
  JoinRegion region_;
  std::vector<double> rows_;
  std::vector<ColumnSet> given_;
  std::vector<Inputs> used_by_;
  std::vector<ConditionEstimate> estimates_;
  std::map<Inputs, double> set_rows_;
};

// All regions share one estimator, so that a chain of nested regions does not estimate its lower part again at every level. Its cached
// estimates stay valid: regions are ordered bottom-up, and it only sees their inputs, which are final by then.
LogicalPtr order(const CardinalityEstimator& estimator, LogicalPtr node, const CancelToken& token) {
  stop_if_cancelled(token);
  if (!is_inside_region(*node)) {
    for (LogicalPtr& child : node->children) child = order(estimator, std::move(child), token);
    return node;
  }
  JoinRegion region;
  take_apart(std::move(node), region);
  for (LogicalPtr& input : region.inputs) input = order(estimator, std::move(input), token);
  if (region.inputs.size() > kMaxInputs) return order_many_joins(estimator, std::move(region), token);
  return JoinOrderer(estimator, std::move(region)).build();
}

}  // namespace

void order_joins(LogicalPlan& plan, const CancelToken& token) {
  const CardinalityEstimator estimator(plan);
  for_each_root(plan, [&](LogicalPtr& root) {
    LogicalPtr taken = std::move(root);
    root = order(estimator, std::move(taken), token);
  });
}

namespace {

// The equivalent kind with the sides swapped.
std::optional<JoinKind> turned_round(JoinKind kind) {
  switch (kind) {
    case JoinKind::Inner: return JoinKind::Inner;
    case JoinKind::Full: return JoinKind::Full;
    case JoinKind::Left: return JoinKind::Right;
    case JoinKind::Right: return JoinKind::Left;
    case JoinKind::Semi: return JoinKind::RightSemi;
    case JoinKind::Anti: return JoinKind::RightAnti;
    default: return std::nullopt;
  }
}

}  // namespace

void choose_build_sides(LogicalPlan& plan, const CancelToken& token) {
  CardinalityEstimator estimator(plan);
  auto choose = [&](LogicalPtr& node) {
    auto* join = node->as<LogicalJoin>();
    if (join == nullptr) return;
    std::optional<JoinKind> turned = turned_round(join->kind);
    // The right side is the build side. Swapped outer joins track matches of build rows, which is cheap. Swapped semi and anti joins
    // output build rows only after the probe side has ended, so the gain must be larger.
    bool gives_one_side = join->kind == JoinKind::Semi || join->kind == JoinKind::Anti;
    double factor = gives_one_side ? kMuchSmaller : 1;
    if (!turned || estimator.rows(node->left()) * factor >= estimator.rows(node->right())) return;
    std::swap(node->children[0], node->children[1]);
    join->kind = *turned;
  };
  for_each_root(plan, [&](LogicalPtr& root) { for_each_node(root, token, choose); });
}

}  // namespace pistachio
