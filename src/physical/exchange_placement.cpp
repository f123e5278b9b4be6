#include "physical/exchange_placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include "base/check.h"
#include "base/error.h"
#include "base/stop_if_cancelled.h"
#include "physical/aggregate_stages.h"
#include "physical/combining_costs.h"
#include "physical/physical_plan_checker.h"
#include "physical/small_tables.h"
#include "physical/spread_keys.h"

namespace pistachio {

namespace {

using Move = PhysicalExchange::Kind;
using Place = Distribution::Kind;

// Up to this many groups are merged on rank 0, where most of them have to go anyway.
constexpr double kFewGroups = 10'000;
// Ranks pre-aggregate if that reduces the bytes to less than this fraction.
constexpr double kWorthwhileShare = 0.8;
// With fewer rows per rank another exchange does not pay.
constexpr double kRowsToCombine = 1'000;
// The link must be slower than merging by this factor: the rows must also be produced, with the same cores.
constexpr double kSlowerLink = 2;
// What the further exchange and its tables take whatever the number of rows, measured on busy cores: it must be saved on the link.
constexpr double kFurtherExchangeSeconds = 30e-3;
// Cost of processing a byte relative to receiving it, if links are not measured; and the bytes per second that a rank processes.
constexpr double kWorkShare = 0.25;
constexpr double kWorkSpeed = 4e9;
constexpr double kTextBytes = 24;
// Above this size merging sorted runs on one rank takes too long, and it is better to move rows twice.
constexpr double kBytesToSortByRange = 64 << 20;
// Too few probe rows for skew to matter.
constexpr double kRowsWorthSpreading = 1'000'000;
// Larger than any cost difference between join alternatives.
constexpr double kUnwantedFactor = 1e12;

class ExchangePlacement {
 public:
  ExchangePlacement(PhysicalPlan& plan, const PlacementOptions& options, const CancelToken& token)
      : plan_(plan),
        options_(options),
        token_(token),
        ranks_(options.ranks),
        work_share_(options.link_speed > 0 ? std::clamp(options.link_speed / kWorkSpeed, 0.01, 1.0) : kWorkShare) {
    plan_.local_files = options.local_files;
  }

  void run() {
    for (const PhysicalPtr& shared : plan_.shared) {
      if (shared) record_rounds(*shared, false);
    }
    record_rounds(*plan_.root, false);
    for (size_t i = 0; i < plan_.shared.size(); ++i) place_shared(i);
    PhysicalPtr root = place(std::move(plan_.root), true);
    plan_.root = moved(std::move(root), {Requirement::Kind::Single, {}});
  }

 private:
  // Shared plans that a recursion reads in every round stay on rank 0, since an exchange runs only once.
  void record_rounds(const PhysicalNode& node, bool in_rounds) {
    if (const auto* read = node.as<PhysicalSharedRead>(); read != nullptr && in_rounds) {
      if (in_rounds_.insert(read->shared).second) record_rounds(*plan_.shared[read->shared], true);
    }
    for (size_t i = 0; i < node.children.size(); ++i)
      record_rounds(*node.children[i], in_rounds || (i == 1 && node.as<PhysicalRecursion>() != nullptr));
  }

  void place_shared(size_t number) {
    if (plan_.shared[number] == nullptr || !placed_.insert(number).second) return;
    plan_.shared[number] = place(std::move(plan_.shared[number]), !in_rounds_.contains(number));
  }

  // Without `spread` everything stays on rank 0.
  PhysicalPtr place(PhysicalPtr node, bool spread) {
    stop_if_cancelled(token_);
    bool is_recursion = node->as<PhysicalRecursion>() != nullptr;
    for (size_t i = 0; i < node->children.size(); ++i) {
      PhysicalPtr child = place(std::move(node->children[i]), spread && !(is_recursion && i == 1));
      node->children[i] = std::move(child);
    }
    if (const auto* read = node->as<PhysicalSharedRead>()) place_shared(read->shared);
    if (auto* scan = std::get_if<PhysicalScan>(&node->node)) {
      scan->is_split = spread && !scan->table->is_in_memory();
      if (options_.local_files && scan->table->row_files() != nullptr)
        throw UserError(fmt::format("{} cannot be read with local_files=on: only Parquet files can", scan->table->name()));
      if (!spread && options_.local_files && !scan->table->is_in_memory())
        throw UserError(fmt::format("the rounds of WITH RECURSIVE cannot read {} with local_files=on: put its rows into a table first "
                                    "(CREATE TABLE ... AS)",
                                    scan->table->name()));
    }
    if (auto* aggregate = std::get_if<PhysicalAggregate>(&node->node)) return place_aggregate(std::move(node), *aggregate);
    if (auto* sort = std::get_if<PhysicalSort>(&node->node)) {
      bool keeps_order = !sort->limit && options_.sorts != SortDistribution::Gather && !sort->keys.empty();
      if (keeps_order && node->children[0]->distribution.kind != Place::Single) return place_sort(std::move(node), *sort);
      if (sort->limit) place_on_each_rank(*node, PhysicalSort{*sort});
    }
    if (auto* limit = std::get_if<PhysicalLimit>(&node->node); limit != nullptr && limit->limit) {
      PhysicalLimit first{.limit = *limit->limit + limit->offset};
      if (*limit->limit <= std::numeric_limits<int64_t>::max() - limit->offset) place_on_each_rank(*node, first);
    }
    choose_moves(*node);
    node->distribution = given_distribution(*node, plan_);
    return is_constant_source(*node) && spread && options_.spread_everything ? exchange(std::move(node), Move::Scatter, {})
                                                                             : std::move(node);
  }

  static bool is_constant_source(const PhysicalNode& node) {
    const auto* scan = node.as<PhysicalScan>();
    return (scan != nullptr && !scan->is_split) || node.as<PhysicalValues>() != nullptr;
  }

  // Chooses the cheapest alternative of requirements and inserts the exchanges it needs.
  void choose_moves(PhysicalNode& node) {
    if (node.children.empty()) return;
    std::vector<std::vector<Requirement>> alternatives = input_alternatives(node, plan_.columns);
    double least = std::numeric_limits<double>::infinity();
    const std::vector<Requirement>* chosen = nullptr;
    // If all inputs are on one rank, they stay there.
    bool is_spread = std::any_of(node.children.begin(), node.children.end(),
                                 [](const PhysicalPtr& child) { return child->distribution.kind != Place::Single; });
    bool is_join = node.as<PhysicalJoin>() != nullptr && is_spread;
    for (const std::vector<Requirement>& alternative : alternatives) {
      double cost = cost_of(node, alternative) * (is_join && !is_preferred(alternative[1].kind) ? kUnwantedFactor : 1);
      if (cost < least) {
        least = cost;
        chosen = &alternative;
      }
    }
    ENSURE(chosen != nullptr, "no way to run a step over ranks");
    for (size_t i = 0; i < node.children.size(); ++i) {
      PhysicalPtr child = moved(std::move(node.children[i]), (*chosen)[i]);
      node.children[i] = std::move(child);
    }
  }

  // Whether the setting prefers this alternative; others are used only where it is not possible.
  bool is_preferred(Requirement::Kind build_side) const {
    if (options_.joins == JoinDistribution::Repartition) return build_side == Requirement::Kind::Paired;
    if (options_.joins == JoinDistribution::Broadcast) return build_side == Requirement::Kind::Everywhere;
    return true;
  }

  // The cost of the rank with the most work.
  double cost_of(const PhysicalNode& node, const std::vector<Requirement>& alternative) const {
    double cost = 0;
    bool on_one_rank = false;
    for (size_t i = 0; i < alternative.size(); ++i) {
      const PhysicalNode& child = *node.children[i];
      if (satisfies(child.distribution, alternative[i])) {
        on_one_rank = on_one_rank || child.distribution.kind == Place::Single;
        continue;
      }
      if (child.distribution.kind == Place::Replicated) return std::numeric_limits<double>::infinity();
      double bytes = bytes_of(child);
      double others = (ranks_ - 1.0) / ranks_;
      bool from_one = child.distribution.kind == Place::Single;
      switch (alternative[i].kind) {
        case Requirement::Kind::Single:
          cost += bytes * others;
          on_one_rank = true;
          break;
        case Requirement::Kind::Once: break;
        case Requirement::Kind::Together:
        case Requirement::Kind::Paired: cost += bytes * others / (from_one ? 1 : ranks_); break;
        case Requirement::Kind::Everywhere:
          if (!can_be_read_everywhere(child)) cost += from_one ? bytes * (ranks_ - 1) : bytes * others;
          break;
      }
    }
    for (size_t i = 0; i < alternative.size(); ++i) {
      bool all_here = on_one_rank || alternative[i].kind == Requirement::Kind::Everywhere;
      cost += work_share_ * bytes_of(*node.children[i]) / (all_here ? 1 : ranks_);
    }
    return cost;
  }

  double bytes_of(const PhysicalNode& node) const {
    double width = 1;
    for (ColumnId column : node.layout) {
      LogicalType type = plan_.columns.type(column);
      width += type.is_text() ? kTextBytes : static_cast<double>(type.value_bytes());
    }
    return std::max(1.0, node.estimated_rows) * width;
  }

  // The node itself if it meets the requirement, else an exchange above it.
  PhysicalPtr moved(PhysicalPtr node, const Requirement& requirement) {
    if (satisfies(node->distribution, requirement)) return node;
    switch (requirement.kind) {
      case Requirement::Kind::Single: return exchange(std::move(node), Move::Gather, {});
      case Requirement::Kind::Together:
      case Requirement::Kind::Paired: return exchange(std::move(node), Move::Repartition, requirement.keys);
      case Requirement::Kind::Everywhere:
        if (can_be_read_everywhere(*node)) {
          read_everywhere(*node, plan_);
          return node;
        }
        return exchange(std::move(node), Move::Broadcast, {});
      case Requirement::Kind::Once: break;
    }
    fail_check(__FILE__, __LINE__, "rows that every rank has cannot be taken back");
  }

  bool can_be_read_everywhere(const PhysicalNode& node) const { return !options_.local_files && is_small_table(node); }

  PhysicalPtr exchange(PhysicalPtr child, Move kind, std::vector<ExpressionPtr> keys, std::vector<SortKey> order = {}) {
    auto made = std::make_unique<PhysicalNode>();
    made->layout = child->layout;
    made->estimated_rows = child->estimated_rows;
    made->node = PhysicalExchange{.kind = kind, .keys = std::move(keys), .number = plan_.exchanges++, .order = std::move(order)};
    made->children.push_back(std::move(child));
    made->distribution = given_distribution(*made, plan_);
    return made;
  }

  // Each rank sorts its rows; rank 0 only merges or concatenates them.
  PhysicalPtr place_sort(PhysicalPtr node, PhysicalSort& sort) {
    std::vector<SortKey> keys = sort.keys;
    if (node->children[0]->distribution.kind == Place::Replicated) fail_check(__FILE__, __LINE__, "a sort of rows that every rank has");
    bool by_range = options_.sorts == SortDistribution::Range ||
                    (options_.sorts == SortDistribution::Auto && bytes_of(*node) > kBytesToSortByRange);
    if (by_range) {
      PhysicalPtr input = exchange(std::move(node->children[0]), Move::Range, {}, keys);
      node->children[0] = std::move(input);
    }
    sort.on_each_rank = true;
    node->distribution = given_distribution(*node, plan_);
    return by_range ? exchange(std::move(node), Move::RankByRank, {}) : exchange(std::move(node), Move::Merge, {}, std::move(keys));
  }

  // Adds a local step of the same kind below the node, applied by each rank before rows are moved.
  template <typename Step>
  void place_on_each_rank(PhysicalNode& node, Step step) {
    PhysicalNode& child = *node.children[0];
    if (child.distribution.kind == Place::Single) return;
    step.on_each_rank = true;
    auto made = std::make_unique<PhysicalNode>();
    made->layout = child.layout;
    made->estimated_rows = std::min(child.estimated_rows, static_cast<double>(*step.limit) * ranks_);
    made->node = std::move(step);
    made->children.push_back(std::move(node.children[0]));
    made->distribution = given_distribution(*made, plan_);
    node.children[0] = std::move(made);
  }

  PhysicalPtr place_aggregate(PhysicalPtr node, PhysicalAggregate& aggregate) {
    Requirement together{aggregate.groups.empty() ? Requirement::Kind::Single : Requirement::Kind::Together, {}};
    for (ColumnId group : aggregate.groups) together.keys.push_back(plan_.columns.reference(group));
    PhysicalNode& child = *node->children[0];
    if (!satisfies(child.distribution, together)) {
      const Requirement on_first_rank{Requirement::Kind::Single, {}};
      const Requirement many = options_.groups == GroupDistribution::Gather ? on_first_rank : together;
      const bool few = options_.groups != GroupDistribution::Repartition && node->estimated_rows <= kFewGroups;
      Requirement meeting = few ? on_first_rank : many;
      PhysicalPtr input = std::move(node->children[0]);
      if (can_aggregate_in_stages(aggregate.calls)) {
        PhysicalPtr partial = partial_aggregate(*node, aggregate, *input);
        if (is_worthwhile(*partial, *input) || aggregate.groups.empty()) {
          aggregate.stage = AggregateStage::Final;
          aggregate.states = partial->as<PhysicalAggregate>()->states;
          partial->children.push_back(std::move(input));
          partial->distribution = given_distribution(*partial, plan_);
          input = std::move(partial);
        } else {
          meeting = many;
        }
      } else {
        std::optional<ColumnId> argument = only_distinct_argument(aggregate);
        if (argument) input = without_duplicates(std::move(input), aggregate.groups, *argument, *node);
        if (argument && aggregate.groups.empty()) {
          // Values are partitioned over the ranks, so each rank can count its own.
          const Requirement by_value{Requirement::Kind::Together, {plan_.columns.reference(*argument)}};
          input = moved(combined_on_path(std::move(input), by_value), by_value);
          PhysicalPtr partial = partial_aggregate(*node, aggregate, *input);
          aggregate.stage = AggregateStage::Final;
          aggregate.states = partial->as<PhysicalAggregate>()->states;
          partial->children.push_back(std::move(input));
          partial->distribution = given_distribution(*partial, plan_);
          input = std::move(partial);
        }
        meeting = many;
      }
      input = combined_on_path(std::move(input), meeting);
      node->children[0] = moved(std::move(input), meeting);
    }
    node->distribution = given_distribution(*node, plan_);
    return node;
  }

  bool is_worthwhile(const PhysicalNode& partial, const PhysicalNode& input) const {
    if (options_.partial_aggregation != PartialAggregation::Auto) return options_.partial_aggregation == PartialAggregation::On;
    return bytes_of(partial) < kWorthwhileShare * bytes_of(input);
  }

  // Merges partial results on their way to the distribution that `meeting` requires: before sending, on ranks of the sending host, and on
  // arrival, on ranks of the receiving host.
  PhysicalPtr combined_on_path(PhysicalPtr input, const Requirement& meeting) {
    const auto* partial = input->as<PhysicalAggregate>();
    if (partial == nullptr || partial->stage != AggregateStage::Partial || satisfies(input->distribution, meeting)) return input;
    const double rows = std::max(1.0, input->estimated_rows), row_bytes = bytes_of(*input) / rows;
    CombiningTerms terms{.hosts = options_.hosts,
                         .groups = {},
                         .helpers = options_.on_path_helpers,
                         .again_on_arrival = has_ranks_for_arrival(*partial, meeting),
                         .may_be_off = options_.on_path == OnPathMode::Auto,
                         .link_seconds = options_.link_speed > 0 ? row_bytes / options_.link_speed * senders_per_link(meeting) : 0,
                         .row_bytes = row_bytes};
    for (ColumnId group : partial->groups) terms.groups.push_back(plan_.columns.reference(group));
    if (combines_before_sending(terms, rows)) input = combined(std::move(input), meeting, terms);
    if (!terms.again_on_arrival) return input;
    terms.on_arrival = true;
    terms.again_on_arrival = false;
    terms.may_be_off = false;
    terms.link_seconds = 0;  // within a host
    return combined(std::move(input), meeting, terms);
  }

  PhysicalPtr combined(PhysicalPtr input, const Requirement& meeting, const CombiningTerms& terms) {
    auto& below = std::get<PhysicalAggregate>(input->node);
    PhysicalAggregate combine = below;
    combine.stage = AggregateStage::Combine;
    combine.in_hash_order = false;
    below.in_hash_order = below.stage == AggregateStage::Partial;
    auto made = std::make_unique<PhysicalNode>();
    made->layout = input->layout;
    made->estimated_rows = input->estimated_rows;
    made->node = std::move(combine);
    made->children.push_back(exchange(std::move(input), Move::ToCombiner, meeting.keys));
    std::get<PhysicalExchange>(made->children[0]->node).combining = terms;
    made->distribution = given_distribution(*made, plan_);
    return made;
  }

  bool combines_before_sending(const CombiningTerms& terms, double rows) const {
    if (options_.on_path == OnPathMode::Off || !has_ranks_to_combine()) return false;
    // With local files the estimate covers the files of one rank only.
    const bool are_few = rows < kRowsToCombine * ranks_ && !options_.local_files;
    return !terms.may_be_off || (!are_few && may_pay(terms, rows));
  }

  // Merging on arrival needs all groups on one rank: hashed groups already keep all ranks of the host busy, and a single group is just one
  // row per rank.
  bool has_ranks_for_arrival(const PhysicalAggregate& partial, const Requirement& meeting) const {
    if (!options_.on_path_arrival || meeting.kind != Requirement::Kind::Single || partial.groups.empty()) return false;
    return !options_.hosts.empty() && std::count(options_.hosts.begin(), options_.hosts.end(), options_.hosts[0]) > 1;
  }

  // On a fast link merging takes longer than sending all rows, even if all ranks of a host have the same groups.
  bool may_pay(const CombiningTerms& terms, double rows) const {
    std::map<int64_t, double> ranks_of_host;
    double most_ranks = 0;
    for (int64_t host : terms.hosts) most_ranks = std::max(most_ranks, ++ranks_of_host[host]);
    const double helpers = terms.helpers == 0 ? most_ranks : std::min(most_ranks, static_cast<double>(terms.helpers));
    const double threads = static_cast<double>(std::max<int64_t>(1, options_.threads)) * helpers / most_ranks;
    const double saved_seconds = rows / ranks_ * terms.link_seconds * (1 - 1 / most_ranks);
    const double path_seconds = hand_over_seconds(terms.row_bytes) + merge_seconds(terms.row_bytes);
    return terms.link_seconds > kSlowerLink * path_seconds / threads && (saved_seconds > kFurtherExchangeSeconds || options_.local_files);
  }

  // The ranks whose rows share the link of a receiving rank and keep it busy longer than any of them its own link.
  double senders_per_link(const Requirement& meeting) const {
    if (meeting.kind != Requirement::Kind::Single || options_.hosts.empty()) return 1;
    const std::vector<int64_t>& hosts = options_.hosts;
    return std::max<double>(1,
                            static_cast<double>(std::count_if(hosts.begin(), hosts.end(), [&](int64_t host) { return host != hosts[0]; })));
  }

  // There are several hosts, at least one of them with several ranks.
  bool has_ranks_to_combine() const {
    const std::set<int64_t> hosts(options_.hosts.begin(), options_.hosts.end());
    return hosts.size() > 1 && hosts.size() < options_.hosts.size();
  }

  // The column c if all calls are of the form f(DISTINCT c).
  static std::optional<ColumnId> only_distinct_argument(const PhysicalAggregate& aggregate) {
    std::optional<ColumnId> only;
    for (const AggregateCall& call : aggregate.calls) {
      bool is_plain = call.distinct && !call.filter && call.argument->kind() == ExpressionKind::Column;
      if (!is_plain || (only && *only != call.argument->column_id())) return std::nullopt;
      only = call.argument->column_id();
    }
    return only;
  }

  // Removes duplicates of groups and argument locally, so that fewer rows are moved.
  PhysicalPtr without_duplicates(PhysicalPtr input, std::vector<ColumnId> columns, ColumnId argument, const PhysicalNode& node) {
    if (std::find(columns.begin(), columns.end(), argument) == columns.end()) columns.push_back(argument);
    auto made = std::make_unique<PhysicalNode>();
    made->layout = columns;
    // The number of distinct values is unknown here; at least one per group.
    made->estimated_rows = std::max(input->estimated_rows / 2, std::min(input->estimated_rows, node.estimated_rows));
    made->node = PhysicalAggregate{.groups = columns, .calls = {}, .stage = AggregateStage::Partial, .states = {}};
    made->children.push_back(std::move(input));
    made->distribution = given_distribution(*made, plan_);
    return made;
  }

  // Does not attach the input.
  PhysicalPtr partial_aggregate(const PhysicalNode& node, const PhysicalAggregate& aggregate, const PhysicalNode& input) {
    auto made = std::make_unique<PhysicalNode>();
    PhysicalAggregate partial{.groups = aggregate.groups, .calls = aggregate.calls, .stage = AggregateStage::Partial, .states = {}};
    made->layout = aggregate.groups;
    for (const AggregateCall& call : calls_with_state(aggregate.calls)) {
      std::vector<ColumnId> columns;
      for (LogicalType type : state_types(call)) columns.push_back(plan_.columns.add(plan_.columns.name(call.id), type));
      made->layout.insert(made->layout.end(), columns.begin(), columns.end());
      partial.states.push_back(std::move(columns));
    }
    made->estimated_rows = std::min(input.estimated_rows, node.estimated_rows * ranks_);
    made->node = std::move(partial);
    return made;
  }

  PhysicalPlan& plan_;
  const PlacementOptions& options_;
  const CancelToken& token_;
  double ranks_;
  double work_share_;
  std::set<size_t> in_rounds_;
  std::set<size_t> placed_;
};

}  // namespace

void place_exchanges(PhysicalPlan& plan, const PlacementOptions& options, const CancelToken& token) {
  ExchangePlacement(plan, options, token).run();
  if (options.spread_keys) spread_frequent_keys(plan, options.spread_everything ? 0 : kRowsWorthSpreading, token);
  check_physical_plan(plan, token);
}

}  // namespace pistachio
