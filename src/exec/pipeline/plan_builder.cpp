#include "exec/pipeline/plan_builder.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/stop_if_cancelled.h"
#include "columns/scalar_access.h"
#include "exec/exchange/exchange_read.h"
#include "exec/exchange/ordered_read.h"
#include "exec/operators/combine_operator.h"
#include "exec/operators/filter_project.h"
#include "exec/operators/group_limit.h"
#include "exec/operators/hash_aggregate.h"
#include "exec/operators/join_operator.h"
#include "exec/operators/limit.h"
#include "exec/operators/recursion.h"
#include "exec/operators/scan_operator.h"
#include "exec/operators/shared_rows.h"
#include "exec/operators/sort.h"
#include "exec/operators/union_repeat.h"
#include "exec/pipeline/scan_order.h"
#include "exec/window/window_operator.h"

namespace pistachio {

namespace {

class PlanBuilder {
 public:
  PlanBuilder(const PhysicalPlan& plan, int rank, const CancelToken& token)
      : plan_(plan),
        rank_(rank),
        token_(token),
        scan_numbers_(scans_in_order_of_need(plan)),
        scans_of_files_(count_scans_of_files(scan_numbers_)) {}

  ExecutablePlan build() {
    collect_filters(*plan_.root);
    for (const PhysicalPtr& shared : plan_.shared) {
      if (shared) collect_filters(*shared);
    }
    made_.filter_numbers = plan_.filters;
    made_.top_filters = plan_.top_filters;
    made_.root = build_if_here(*plan_.root);
    made_.root_reads = {reads_.begin(), reads_.end()};
    made_.root_makes_filters = {makes_filters_.begin(), makes_filters_.end()};
    return std::move(made_);
  }

 private:
  OperatorPtr build(const PhysicalNode& node) {
    stop_if_cancelled(token_);
    OperatorPtr made = std::visit([&](const auto& own) { return build_node(node, own); }, node.node);
    made_.steps.push_back({&node, made.get()});
    return made;
  }

  // Null if the node runs on another rank. Stages below it may still run here.
  OperatorPtr build_if_here(const PhysicalNode& node) {
    if (rank_ == 0 || node.distribution.kind != Distribution::Kind::Single) return build(node);
    build_stages_below(node);
    return nullptr;
  }

  // Whether every rank has all build rows.
  static bool has_all_build_rows(const PhysicalNode& join) {
    return join.distribution.kind != Distribution::Kind::Single && join.children[1]->distribution.kind == Distribution::Kind::Replicated;
  }

  void collect_filters(const PhysicalNode& node) {
    if (const auto* join = node.as<PhysicalJoin>(); join != nullptr && join->filter)
      made_.filters.push_back({join->filter->number, join->filter->expected_keys, false, has_all_build_rows(node)});
    // Made on every rank, since every rank has a stage for every exchange.
    if (const auto* exchange = node.as<PhysicalExchange>(); exchange != nullptr && exchange->filter)
      made_.filters.push_back({exchange->filter->number, exchange->filter->expected_keys, true, false});
    for (const PhysicalPtr& child : node.children) collect_filters(*child);
  }

  void build_stages_below(const PhysicalNode& node) {
    stop_if_cancelled(token_);
    if (node.as<PhysicalExchange>() != nullptr) return build_stage(node);
    if (const auto* read = node.as<PhysicalSharedRead>()) {
      if (visited_.insert(read->shared).second) {
        bool was_in_shared = std::exchange(in_shared_, true);
        build_stages_below(*plan_.shared[read->shared]);
        in_shared_ = was_in_shared;
      }
    }
    if (node.as<PhysicalJoin>() != nullptr) {
      size_t first = made_.stages.size();
      build_stages_below(*node.children[0]);
      size_t middle = made_.stages.size();
      build_stages_below(*node.children[1]);
      return record_build_sides(first, middle);
    }
    for (const PhysicalPtr& child : node.children) build_stages_below(*child);
  }

  // Stages [first, middle) are on the probe side of a join, those from `middle` on are on its build side.
  void record_build_sides(size_t first, size_t middle) {
    for (size_t probe = first; probe < middle; ++probe) {
      if (made_.stages[probe].is_shared) continue;
      for (size_t built = middle; built < made_.stages.size(); ++built) made_.stages[probe].build_sides.push_back(built);
    }
  }

  void build_stage(const PhysicalNode& node) {
    const PhysicalNode& child = *node.children[0];
    std::set<size_t> outer = std::exchange(reads_, {});
    std::set<size_t> outer_filters = std::exchange(makes_filters_, {});
    ExecutablePlan::Stage stage{.exchange = &node, .input = build_if_here(child), .types = plan_.types_of(child.layout), .reads = {}};
    stage.reads = {reads_.begin(), reads_.end()};
    stage.makes_filters = {makes_filters_.begin(), makes_filters_.end()};
    reads_ = std::move(outer);
    makes_filters_ = std::move(outer_filters);
    stage.is_shared = in_shared_;
    made_.stages.push_back(std::move(stage));
    for (const PhysicalNode* below = combined_exchange(node); below != nullptr; below = combined_exchange(*below))
      stage_of(*below).later_senders.push_back(made_.stages.size() - 1);
  }

  // The exchange whose rows are merged before they are sent through `exchange`; null: they are not.
  static const PhysicalNode* combined_exchange(const PhysicalNode& exchange) {
    const auto* aggregate = exchange.children[0]->as<PhysicalAggregate>();
    return aggregate != nullptr && aggregate->stage == AggregateStage::Combine ? exchange.children[0]->children[0].get() : nullptr;
  }

  ExecutablePlan::Stage& stage_of(const PhysicalNode& exchange) {
    return *std::find_if(made_.stages.begin(), made_.stages.end(), [&](const auto& stage) { return stage.exchange == &exchange; });
  }

  OperatorPtr build_node(const PhysicalNode& node, const PhysicalExchange& exchange) {
    build_stage(node);
    reads_.insert(exchange.number);
    if (exchange.kind == PhysicalExchange::Kind::Merge)
      return std::make_unique<MergeReadOperator>(node.layout, exchange.number, exchange.order, plan_.types_of(node.layout));
    if (exchange.kind == PhysicalExchange::Kind::RankByRank)
      return std::make_unique<RankByRankReadOperator>(node.layout, exchange.number);
    return std::make_unique<ExchangeReadOperator>(node.layout, exchange.number);
  }

  static size_t count_scans_of_files(const ScanNumbers& scans) {
    auto is_of_files = [](const auto& scan) { return !scan.first->template as<PhysicalScan>()->table->is_in_memory(); };
    return static_cast<size_t>(std::count_if(scans.begin(), scans.end(), is_of_files));
  }

  OperatorPtr input(const PhysicalNode& node) { return build(*node.children[0]); }

  OperatorPtr build_node(const PhysicalNode& node, const PhysicalScan& scan) {
    return std::make_unique<ScanOperator>(node.layout, scan, scan_numbers_.at(&node), scans_of_files_);
  }

  OperatorPtr build_node(const PhysicalNode& node, const PhysicalValues& values) {
    std::vector<Column> columns;
    for (size_t i = 0; i < node.layout.size(); ++i) {
      stop_if_cancelled(token_);
      std::vector<ScalarValue> cells;
      for (const std::vector<ScalarValue>& row : values.rows) cells.push_back(row[i]);
      columns.push_back(column_of_values(plan_.columns.type(node.layout[i]), cells));
    }
    return std::make_unique<ValuesOperator>(node.layout, Chunk(std::move(columns), static_cast<int64_t>(values.rows.size())));
  }

  OperatorPtr build_node(const PhysicalNode& node, const PhysicalFilter& filter) {
    return std::make_unique<FilterOperator>(input(node), filter.conditions);
  }

  OperatorPtr build_node(const PhysicalNode& node, const PhysicalProject& project) {
    return std::make_unique<ProjectOperator>(input(node), node.layout, project.columns);
  }

  // Nullopt unless the frequent keys of the join are spread over all ranks.
  static std::optional<SpreadKeys> spread_keys_of(const PhysicalNode& join) {
    const auto* probe = join.children[0]->as<PhysicalExchange>();
    const auto* build = join.children[1]->as<PhysicalExchange>();
    if (probe == nullptr || !probe->spreads || build == nullptr) return std::nullopt;
    return SpreadKeys{probe->number, probe->keys, build->keys};
  }

  OperatorPtr build_node(const PhysicalNode& node, const PhysicalJoin& join) {
    size_t first = made_.stages.size();
    OperatorPtr left = build(*node.children[0]);
    size_t middle = made_.stages.size();
    OperatorPtr right = build(*node.children[1]);
    record_build_sides(first, middle);
    if (join.filter) {
      makes_filters_.insert(join.filter->number);
      for (ExecutablePlan::Filter& filter : made_.filters) filter.is_made_here = filter.is_made_here || filter.number == join.filter->number;
    }
    std::vector<LogicalType> left_types = plan_.types_of(left->layout());
    std::vector<LogicalType> right_types = plan_.types_of(right->layout());
    return std::make_unique<JoinOperator>(std::move(left), std::move(right), join, node.layout, std::move(left_types),
                                          std::move(right_types), spread_keys_of(node));
  }

  OperatorPtr build_node(const PhysicalNode& node, const PhysicalAggregate& aggregate) {
    if (aggregate.stage == AggregateStage::Combine)
      return std::make_unique<CombineOperator>(input(node), node.layout, aggregate, plan_.types_of(aggregate.groups),
                                               *node.children[0]->as<PhysicalExchange>());
    return std::make_unique<HashAggregateOperator>(input(node), node.layout, aggregate, plan_.types_of(aggregate.groups));
  }

  OperatorPtr build_node(const PhysicalNode& node, const PhysicalSort& sort) {
    return std::make_unique<SortOperator>(input(node), sort, plan_.types_of(node.layout));
  }

  OperatorPtr build_node(const PhysicalNode& node, const PhysicalLimit& limit) {
    return std::make_unique<LimitOperator>(input(node), limit.limit, limit.offset);
  }

  OperatorPtr build_node(const PhysicalNode& node, const PhysicalGroupLimit& limit) {
    return std::make_unique<GroupLimitOperator>(input(node), limit, plan_.types_of(node.layout));
  }

  OperatorPtr build_node(const PhysicalNode& node, const PhysicalWindow& window) {
    return std::make_unique<WindowOperator>(input(node), node.layout, window, plan_.types_of(node.children[0]->layout));
  }

  OperatorPtr build_node(const PhysicalNode& node, const PhysicalUnion&) {
    // A union is the only node that may run on all ranks with an input that runs on rank 0 alone.
    std::vector<OperatorPtr> inputs;
    for (const PhysicalPtr& child : node.children) {
      if (OperatorPtr made = build_if_here(*child)) inputs.push_back(std::move(made));
    }
    return std::make_unique<UnionOperator>(node.layout, std::move(inputs));
  }

  OperatorPtr build_node(const PhysicalNode& node, const PhysicalRepeat& repeat) {
    return std::make_unique<RepeatOperator>(input(node), repeat.times);
  }

  OperatorPtr build_node(const PhysicalNode& node, const PhysicalSharedRead& read) {
    auto known = shared_.find(read.shared);
    if (known == shared_.end()) {
      // Built first: it may contain common tables itself.
      std::set<size_t> outer = std::exchange(reads_, {});
      std::set<size_t> outer_filters = std::exchange(makes_filters_, {});
      bool was_in_shared = std::exchange(in_shared_, true);
      const PhysicalNode& shared = *plan_.shared[read.shared];
      auto rows = std::make_shared<SharedRows>(build(shared), plan_.types_of(shared.layout));
      in_shared_ = was_in_shared;
      known = shared_.emplace(read.shared, std::move(rows)).first;
      shared_reads_.emplace(read.shared, std::exchange(reads_, std::move(outer)));
      shared_filters_.emplace(read.shared, std::exchange(makes_filters_, std::move(outer_filters)));
    }
    // Any of the reading stages may be the first, which computes the rows for all.
    const std::set<size_t>& read_below = shared_reads_.at(read.shared);
    reads_.insert(read_below.begin(), read_below.end());
    const std::set<size_t>& filters_below = shared_filters_.at(read.shared);
    makes_filters_.insert(filters_below.begin(), filters_below.end());
    known->second->add_reader(in_rounds_);
    return std::make_unique<SharedReadOperator>(node.layout, known->second, read.places);
  }

  OperatorPtr build_node(const PhysicalNode& node, const PhysicalRecursion& recursion) {
    RecursionPlan made{.keeps_all = recursion.keeps_all, .working = std::make_shared<WorkingRows>(), .types = plan_.types_of(node.layout)};
    working_.emplace(recursion.working_table, made.working);
    made.first = build(*node.children[0]);
    bool around = std::exchange(in_rounds_, true);
    made.next = build(*node.children[1]);
    in_rounds_ = around;
    std::map<size_t, bool> known;
    for (const auto& [shared, rows] : shared_) {
      if (shared_reads_working_table(shared, recursion.working_table, known)) made.in_rounds.push_back(rows);
    }
    return std::make_unique<RecursionOperator>(node.layout, std::move(made));
  }

  OperatorPtr build_node(const PhysicalNode& node, const PhysicalWorkingRead& read) {
    return std::make_unique<WorkingReadOperator>(node.layout, working_.at(read.working_table), read.places);
  }

  // Looks through other common tables too; `known` caches their answers, since one may be read many times.
  bool reads_working_table(const PhysicalNode& node, size_t number, std::map<size_t, bool>& known) const {
    if (const auto* read = node.as<PhysicalWorkingRead>()) return read->working_table == number;
    if (const auto* read = node.as<PhysicalSharedRead>()) return shared_reads_working_table(read->shared, number, known);
    return std::any_of(node.children.begin(), node.children.end(),
                       [&](const PhysicalPtr& child) { return reads_working_table(*child, number, known); });
  }

  bool shared_reads_working_table(size_t shared, size_t number, std::map<size_t, bool>& known) const {
    auto found = known.find(shared);
    if (found != known.end()) return found->second;
    return known[shared] = reads_working_table(*plan_.shared[shared], number, known);
  }

  const PhysicalPlan& plan_;
  const int rank_;
  const CancelToken& token_;
  ExecutablePlan made_;
  const ScanNumbers scan_numbers_;  // also of scans that are not built on this rank
  const size_t scans_of_files_;
  std::set<size_t> reads_;    // of the stage that is being built
  std::set<size_t> makes_filters_;  // of the stage that is being built
  std::set<size_t> visited_;  // common tables on other ranks whose stages are built here
  std::map<size_t, std::shared_ptr<SharedRows>> shared_;
  std::map<size_t, std::set<size_t>> shared_reads_;
  std::map<size_t, std::set<size_t>> shared_filters_;
  std::map<size_t, std::shared_ptr<WorkingRows>> working_;
  bool in_shared_ = false;  // inside a common table
  bool in_rounds_ = false;  // inside the part of a recursion that runs in every round
};

}  // namespace

ExecutablePlan build_executable(const PhysicalPlan& plan, int rank, const CancelToken& token) {
  return PlanBuilder(plan, rank, token).build();
}

}  // namespace pistachio
