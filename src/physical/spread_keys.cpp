#include "physical/spread_keys.h"

#include <algorithm>

#include "base/stop_if_cancelled.h"

namespace pistachio {

namespace {

using Move = PhysicalExchange::Kind;

PhysicalExchange* repartition_below(const PhysicalNode& join, size_t side) {
  auto* exchange = std::get_if<PhysicalExchange>(&join.children[side]->node);
  return exchange != nullptr && exchange->kind == Move::Repartition && !exchange->spreads ? exchange : nullptr;
}

class KeySpreading {
 public:
  KeySpreading(PhysicalPlan& plan, double least_rows, const CancelToken& token) : plan_(plan), least_rows_(least_rows), token_(token) {}

  // `is_free`: nothing above, up to the next exchange, relies on the distribution of the node's rows.
  void visit(PhysicalNode& node, bool is_free) {
    stop_if_cancelled(token_);
    for (size_t i = 0; i < node.children.size(); ++i) visit(*node.children[i], frees_child(node, i, is_free));
    if (is_free && node.as<PhysicalJoin>() != nullptr) spread(node);
    // The distribution below may have changed.
    if (is_free && !node.children.empty()) node.distribution = given_distribution(node, plan_);
  }

 private:
  static bool frees_child(const PhysicalNode& node, size_t child, bool is_free) {
    if (node.as<PhysicalExchange>() != nullptr) return true;
    if (node.as<PhysicalFilter>() != nullptr || node.as<PhysicalProject>() != nullptr || node.as<PhysicalUnion>() != nullptr) return is_free;
    // Partial sums are merged later, wherever their rows were. Without calls it removes duplicates, which must be on one rank.
    if (const auto* aggregate = node.as<PhysicalAggregate>())
      return is_free && aggregate->stage == AggregateStage::Partial && !aggregate->calls.empty() &&
             std::none_of(aggregate->calls.begin(), aggregate->calls.end(), [](const AggregateCall& call) { return call.distinct; });
    if (const auto* sort = node.as<PhysicalSort>()) return is_free && sort->on_each_rank;
    if (const auto* limit = node.as<PhysicalLimit>()) return is_free && limit->on_each_rank;
    // The probe side of a join with a replicated build side.
    if (node.as<PhysicalJoin>() != nullptr)
      return is_free && child == 0 && node.children[1]->distribution.kind == Distribution::Kind::Replicated;
    return false;
  }

  void spread(PhysicalNode& node) {
    const auto& join = *node.as<PhysicalJoin>();
    // Build rows that are output themselves must be on one rank only.
    bool gives_build_rows = join.kind == JoinKind::Right || join.kind == JoinKind::Full || !gives_left_columns(join.kind);
    PhysicalExchange* probe = repartition_below(node, 0);
    const PhysicalExchange* build = repartition_below(node, 1);
    if (gives_build_rows || probe == nullptr || build == nullptr) return;
    if (node.children[0]->estimated_rows < least_rows_) return;
    probe->spreads = true;
    auto made = std::make_unique<PhysicalNode>();
    PhysicalPtr below = std::move(node.children[1]);
    made->layout = below->layout;
    made->estimated_rows = below->estimated_rows;
    made->node = PhysicalExchange{.kind = Move::SpreadBuild, .keys = build->keys, .number = plan_.exchanges++, .partner = probe->number};
    made->children.push_back(std::move(below));
    made->distribution = given_distribution(*made, plan_);
    node.children[1] = std::move(made);
  }

  PhysicalPlan& plan_;
  double least_rows_;
  const CancelToken& token_;
};

}  // namespace

void spread_frequent_keys(PhysicalPlan& plan, double least_rows, const CancelToken& token) {
  KeySpreading spreading(plan, least_rows, token);
  // Readers of a CTE may rely on its distribution.
  for (const PhysicalPtr& shared : plan.shared) {
    if (shared) spreading.visit(*shared, false);
  }
  spreading.visit(*plan.root, false);
}

}  // namespace pistachio
