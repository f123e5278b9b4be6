#include "physical/exchange_placement.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "expr/function_table.h"
#include "physical/join_filters.h"
#include "physical/physical_planner.h"
#include "physical/plan_serializer.h"

namespace pistachio {
namespace {

using Move = PhysicalExchange::Kind;

class ExchangePlacementTest : public ::testing::Test {
 protected:
  ColumnId add(const std::string& name, LogicalType type = TypeKind::Integer) { return logical_.columns.add(name, type); }
  ExpressionPtr column(ColumnId id) { return logical_.columns.reference(id); }

  LogicalPtr scan(const std::vector<ColumnId>& ids) {
    std::vector<TableColumnInfo> columns;
    std::vector<ScanColumn> scanned;
    for (ColumnId id : ids) {
      scanned.push_back({id, columns.size()});
      columns.push_back({logical_.columns.name(id), TypeKind::Integer, ""});
    }
    return make_node(LogicalScan{Table::of_chunks("t", columns, {}, {}), scanned, {}, {}});
  }

  PhysicalPlan place(LogicalPtr root, const std::vector<ColumnId>& output, bool spread = true) {
    return place(std::move(root), output, PlacementOptions{.ranks = 3, .spread_everything = spread});
  }
  PhysicalPlan place(LogicalPtr root, const std::vector<ColumnId>& output, const PlacementOptions& options) {
    logical_.root = std::move(root);
    logical_.output.clear();
    for (ColumnId id : output) logical_.output.push_back({id, logical_.columns.name(id)});
    PhysicalPlan made = plan_physical(logical_);
    place_exchanges(made, options);
    return made;
  }

  // The exchanges in depth-first order, topmost first.
  static void collect(const PhysicalNode& node, std::vector<Move>& moves) {
    if (const auto* exchange = node.as<PhysicalExchange>()) moves.push_back(exchange->kind);
    for (const PhysicalPtr& child : node.children) collect(*child, moves);
  }
  static std::vector<Move> moves_of(const PhysicalPlan& plan) {
    std::vector<Move> moves;
    collect(*plan.root, moves);
    return moves;
  }

  LogicalPlan logical_;
};

TEST_F(ExchangePlacementTest, TablesInMemoryStayOnTheFirstRank) {
  ColumnId a = add("a");
  EXPECT_TRUE(moves_of(place(scan({a}), {a}, false)).empty());
  EXPECT_EQ(moves_of(place(scan({a}), {a})), (std::vector<Move>{Move::Gather, Move::Scatter}));
}

TEST_F(ExchangePlacementTest, CancelledTokenStopsPlacement) {
  ColumnId a = add("a");
  PhysicalPlan made = place(scan({a}), {a}, false);
  CancelSource source;
  source.cancel("enough");
  EXPECT_THROW(place_exchanges(made, {.ranks = 3}, source.token()), Cancelled);
  made = place(scan({a}), {a}, false);
  EXPECT_THROW(place_join_filters(made, 0, source.token()), Cancelled);
}

TEST_F(ExchangePlacementTest, LimitsAreAppliedOnEachRankFirst) {
  ColumnId a = add("a");
  PhysicalPlan made = place(make_node(LogicalSort{{{column(a)}}, 5}, scan({a})), {a});
  EXPECT_EQ(moves_of(made), (std::vector<Move>{Move::Gather, Move::Scatter}));
  const PhysicalNode& gather = *made.root->children[0];
  const auto* below = gather.children[0]->as<PhysicalSort>();
  ASSERT_NE(below, nullptr);
  EXPECT_TRUE(below->on_each_rank);
  EXPECT_EQ(below->limit, 5);
  PhysicalPlan limited = place(make_node(LogicalLimit{3, 4}, scan({a})), {a});
  const auto* first = limited.root->children[0]->children[0]->as<PhysicalLimit>();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->limit, 7);
  EXPECT_EQ(first->offset, 0);
}

TEST_F(ExchangePlacementTest, DistinctValuesMeetBeforeTheyAreCounted) {
  ColumnId a = add("a");
  ColumnId b = add("b");
  ColumnId count = add("count", TypeKind::BigInt);
  AggregateCall call{.id = count, .function = find_aggregate("count"), .argument = column(b), .distinct = true};
  PhysicalPlan made = place(make_node(LogicalAggregate{{a}, {call}}, scan({a, b})), {a, count});
  EXPECT_EQ(moves_of(made), (std::vector<Move>{Move::Gather, Move::Repartition, Move::Scatter}));
  // Without groups the values are partitioned, and only counts are sent to rank 0.
  PhysicalPlan all = place(make_node(LogicalAggregate{{}, {call}}, scan({a, b})), {count});
  EXPECT_EQ(moves_of(all), (std::vector<Move>{Move::Gather, Move::Repartition, Move::Scatter}));
  EXPECT_EQ(all.root->as<PhysicalAggregate>()->stage, AggregateStage::Final);
}

TEST_F(ExchangePlacementTest, SumsRunInTwoStages) {
  ColumnId a = add("a");
  ColumnId sum = add("sum", TypeKind::BigInt);
  AggregateCall call{.id = sum, .function = find_aggregate("count"), .argument = column(a)};
  PhysicalPlan made = place(make_node(LogicalAggregate{{}, {call}}, scan({a})), {sum});
  EXPECT_EQ(made.root->as<PhysicalAggregate>()->stage, AggregateStage::Final);
  const PhysicalNode& gather = *made.root->children[0];
  EXPECT_EQ(gather.children[0]->as<PhysicalAggregate>()->stage, AggregateStage::Partial);
}

TEST_F(ExchangePlacementTest, PartialSumsAreCombinedOnTheirHost) {
  ColumnId a = add("a");
  ColumnId count = add("count", TypeKind::BigInt);
  AggregateCall call{.id = count, .function = find_aggregate("count"), .argument = column(a)};
  AggregateCall distinct{.id = count, .function = find_aggregate("count"), .argument = column(a), .distinct = true};
  auto place_on = [&](const AggregateCall& counted, std::vector<int64_t> hosts) {
    PlacementOptions options{.ranks = 4, .spread_everything = true, .hosts = std::move(hosts), .on_path = OnPathMode::On};
    return place(make_node(LogicalAggregate{{}, {counted}}, scan({a})), {count}, options);
  };
  PhysicalPlan made = place_on(call, {0, 0, 1, 1});
  EXPECT_EQ(moves_of(made), (std::vector<Move>{Move::Gather, Move::ToCombiner, Move::Scatter}));
  EXPECT_EQ(made.root->as<PhysicalAggregate>()->stage, AggregateStage::Final);
  const PhysicalNode& combine = *made.root->children[0]->children[0];
  ASSERT_NE(combine.as<PhysicalAggregate>(), nullptr);
  EXPECT_EQ(combine.as<PhysicalAggregate>()->stage, AggregateStage::Combine);
  EXPECT_EQ(combine.children[0]->as<PhysicalExchange>()->combining.hosts, (std::vector<int64_t>{0, 0, 1, 1}));
  EXPECT_EQ(combine.children[0]->children[0]->as<PhysicalAggregate>()->stage, AggregateStage::Partial);
  // Distinct values are combined before they leave their host, then the ranks' counts of them.
  EXPECT_EQ(moves_of(place_on(distinct, {0, 0, 1, 1})),
            (std::vector<Move>{Move::Gather, Move::ToCombiner, Move::Repartition, Move::ToCombiner, Move::Scatter}));
  // A single host, or one rank per host.
  for (const std::vector<int64_t>& hosts : {std::vector<int64_t>{0, 0, 0, 0}, std::vector<int64_t>{0, 1, 2, 3}, std::vector<int64_t>{}})
    EXPECT_EQ(moves_of(place_on(call, hosts)), (std::vector<Move>{Move::Gather, Move::Scatter}));
}

TEST_F(ExchangePlacementTest, FewGroupsAreCombinedAgainOnArrival) {
  ColumnId a = add("a");
  auto place_on = [&](std::vector<int64_t> hosts, OnPathMode on_path, GroupDistribution groups = GroupDistribution::Gather) {
    const int ranks = static_cast<int>(hosts.size());
    PlacementOptions options{.ranks = ranks, .spread_everything = true, .groups = groups, .partial_aggregation = PartialAggregation::On};
    options.hosts = std::move(hosts);
    options.on_path = on_path;
    options.on_path_arrival = true;
    options.on_path_helpers = 2;
    return place(make_node(LogicalAggregate{{a}, {}}, scan({a})), {a}, options);
  };
  const std::vector<Move> once = {Move::Gather, Move::ToCombiner, Move::Scatter};
  const std::vector<Move> twice = {Move::Gather, Move::ToCombiner, Move::ToCombiner, Move::Scatter};
  PhysicalPlan made = place_on({0, 0, 1, 1}, OnPathMode::On);
  ASSERT_EQ(moves_of(made), twice);
  const PhysicalNode* node = made.root.get();
  std::vector<CombiningTerms> terms;
  for (; !node->children.empty(); node = node->children[0].get()) {
    const auto* exchange = node->as<PhysicalExchange>();
    if (exchange != nullptr && exchange->kind == Move::ToCombiner) terms.push_back(exchange->combining);
  }
  EXPECT_EQ(std::make_pair(terms[0].on_arrival, terms[0].again_on_arrival), std::make_pair(true, false));
  EXPECT_EQ(std::make_pair(terms[1].on_arrival, terms[1].again_on_arrival), std::make_pair(false, true));
  EXPECT_EQ(std::make_pair(terms[0].helpers, terms[1].helpers), std::make_pair(int64_t{2}, int64_t{2}));
  // Independently of combining before sending; with Auto, this table has too few rows for that.
  EXPECT_EQ(moves_of(place_on({0, 0, 1, 1}, OnPathMode::Off)), once);
  EXPECT_EQ(moves_of(place_on({0, 0, 1, 1}, OnPathMode::Auto)), once);
  EXPECT_EQ(moves_of(place_on({0, 0, 0}, OnPathMode::On)), once);
  // Rank 0 is alone on its host, so nothing is combined on arrival.
  EXPECT_EQ(moves_of(place_on({0, 1, 1}, OnPathMode::On)), once);
  const std::vector<Move> spread = {Move::Gather, Move::Repartition, Move::Scatter};
  EXPECT_EQ(moves_of(place_on({0, 0, 1}, OnPathMode::Off, GroupDistribution::Repartition)), spread);
}

TEST_F(ExchangePlacementTest, SettingsDecideWhereGroupsMeet) {
  ColumnId a = add("a");
  auto moves = [&](GroupDistribution groups, PartialAggregation partial) {
    PlacementOptions options{.ranks = 3, .spread_everything = true, .groups = groups, .partial_aggregation = partial};
    PhysicalPlan made = place(make_node(LogicalAggregate{{a}, {}}, scan({a})), {a}, options);
    const PhysicalNode* node = made.root.get();
    while (node->as<PhysicalAggregate>() == nullptr) node = node->children[0].get();
    const bool in_stages = node->as<PhysicalAggregate>()->stage == AggregateStage::Final;
    EXPECT_EQ(in_stages, partial == PartialAggregation::On);
    return moves_of(made);
  };
  const std::vector<Move> gathered = {Move::Gather, Move::Scatter};
  const std::vector<Move> repartitioned = {Move::Gather, Move::Repartition, Move::Scatter};
  for (PartialAggregation partial : {PartialAggregation::On, PartialAggregation::Off}) {
    EXPECT_EQ(moves(GroupDistribution::Gather, partial), gathered);
    EXPECT_EQ(moves(GroupDistribution::Repartition, partial), repartitioned);
  }
}

TEST_F(ExchangePlacementTest, RanksSortAndRankZeroMerges) {
  ColumnId a = add("a");
  auto sorted = [&] { return make_node(LogicalSort{{{column(a)}}, {}}, scan({a})); };
  auto moves = [&](SortDistribution sorts) {
    return moves_of(place(sorted(), {a}, PlacementOptions{.ranks = 3, .spread_everything = true, .sorts = sorts}));
  };
  EXPECT_EQ(moves(SortDistribution::Auto), (std::vector<Move>{Move::Merge, Move::Scatter}));
  EXPECT_EQ(moves(SortDistribution::Gather), (std::vector<Move>{Move::Gather, Move::Scatter}));
  EXPECT_EQ(moves(SortDistribution::Range), (std::vector<Move>{Move::RankByRank, Move::Range, Move::Scatter}));
}

TEST_F(ExchangePlacementTest, InnerJoinIsPartitionedByBothSidesKeys) {
  ColumnId a = add("a");
  ColumnId b = add("b");
  ColumnId c = add("c");
  auto equal = [&](ColumnId left, ColumnId right) { return std::vector<ExpressionPtr>{make_call("=", {column(left), column(right)})}; };
  PlacementOptions options{.ranks = 3, .spread_everything = true, .joins = JoinDistribution::Repartition};
  auto moves_with = [&](JoinKind kind) {
    // Rows of a and b are partitioned by b as well as by a, unless they are padded with NULLs.
    LogicalPtr first = make_node(LogicalJoin{kind, equal(a, b)}, scan({a}), scan({b}));
    LogicalPtr both = make_node(LogicalJoin{JoinKind::Inner, equal(b, c)}, std::move(first), scan({c}));
    std::vector<Move> moves = moves_of(place(std::move(both), {a, b, c}, options));
    return std::count(moves.begin(), moves.end(), Move::Repartition);
  };
  EXPECT_EQ(moves_with(JoinKind::Inner), 3);
  EXPECT_EQ(moves_with(JoinKind::Left), 4);
}

TEST_F(ExchangePlacementTest, FrequentKeysAreSpreadIfPartitioningIsUnused) {
  ColumnId a = add("a");
  ColumnId b = add("b");
  ColumnId count = add("count", TypeKind::BigInt);
  AggregateCall call{.id = count, .function = find_aggregate("count"), .argument = column(a)};
  AggregateCall distinct{.id = count, .function = find_aggregate("count"), .argument = column(a), .distinct = true};
  PlacementOptions options{
      .ranks = 3, .spread_everything = true, .joins = JoinDistribution::Repartition, .spread_keys = true};
  auto joined = [&](JoinKind kind) {
    return make_node(LogicalJoin{kind, {make_call("=", {column(a), column(b)})}}, scan({a}), scan({b}));
  };
  auto spreads = [&](LogicalPtr root, const std::vector<ColumnId>& output) {
    std::vector<Move> moves = moves_of(place(std::move(root), output, options));
    return std::count(moves.begin(), moves.end(), Move::SpreadBuild) == 1;
  };
  EXPECT_TRUE(spreads(joined(JoinKind::Inner), {a, b}));
  EXPECT_TRUE(spreads(joined(JoinKind::Anti), {a}));
  // Every rank would output rows of the build side.
  EXPECT_FALSE(spreads(joined(JoinKind::Right), {a, b}));
  // Partial sums are merged later; groups of the key and distinct values must be on one rank.
  EXPECT_TRUE(spreads(make_node(LogicalAggregate{{}, {call}}, joined(JoinKind::Inner)), {count}));
  EXPECT_FALSE(spreads(make_node(LogicalAggregate{{}, {distinct}}, joined(JoinKind::Inner)), {count}));
}

TEST_F(ExchangePlacementTest, OtherRanksGetTheListedFiles) {
  TableListing listing;
  listing.patterns = {"t/**", "s3://bucket/t"};
  listing.keys = {{"day", TypeKind::Date}, {"k", TypeKind::Varchar}};
  for (const char* path : {"t/day=2024-01-01/k=a/p.parquet", "t/day=2024-01-01/k=b/p.parquet", "/abs/day=2024-01-02/k=a%20b/p.parquet",
                           "s3://bucket/t/day=2024-01-02/k=b/p.parquet"})
    listing.files.push_back({path, partitions_of(path)});
  ParquetTable files;
  files.listing = std::make_shared<const TableListing>(listing);
  files.places = {0, 2, 3};
  files.columns = {{"a", TypeKind::BigInt, 0, -1, ""}, {"day", TypeKind::Date, -1, 0, ""}, {"k", TypeKind::Varchar, -1, 1, ""}};
  ColumnId a = add("a", TypeKind::BigInt);
  PhysicalPlan made = place(make_node(LogicalScan{Table::of_files("t", files), {{a, 0}}, {}, {}}), {a});
  const std::string bytes = serialize_plan(made);
  TableListing received;
  auto open = [&](const std::string& name, TableListing given) {
    received = given;
    ParquetTable opened = files;
    opened.listing = std::make_shared<const TableListing>(std::move(given));
    opened.places = all_places(*opened.listing);
    return Table::of_files(name, opened);
  };
  PhysicalPlan read = deserialize_plan(bytes, open);
  ASSERT_EQ(received.files.size(), 3u);
  EXPECT_TRUE(received.files[0].path.starts_with('/') && received.files[0].path.ends_with("/" + listing.files[0].path));
  EXPECT_EQ(received.files[1].path, listing.files[2].path);
  EXPECT_EQ(received.files[2].path, listing.files[3].path);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(received.files[i].partitions, listing.files[files.places[i]].partitions);
  EXPECT_EQ(received.patterns[1], listing.patterns[1]);
  ASSERT_EQ(received.keys.size(), 2u);
  EXPECT_EQ(received.keys[0].type, LogicalType(TypeKind::Date));
  EXPECT_EQ(received.keys[1].name, "k");
  EXPECT_EQ(moves_of(read), moves_of(made));
  for (size_t length = 0; length < bytes.size(); ++length)
    EXPECT_THROW(deserialize_plan(std::string_view(bytes).substr(0, length), open), PeerError) << length;
}

TEST_F(ExchangePlacementTest, PlanRoundTripsThroughSerialization) {
  ColumnId a = add("a");
  ColumnId b = add("b");
  ColumnId text = add("text", TypeKind::Varchar);
  LogicalPtr joined = make_node(LogicalJoin{JoinKind::Inner, {make_call("=", {column(a), column(b)})}}, scan({a}), scan({b}));
  ExpressionPtr shared = make_call("+", {column(a), column(b)});
  LogicalPtr filtered = make_node(LogicalFilter{{make_call(">", {shared, shared})}}, std::move(joined));
  LogicalPtr root =
      make_node(LogicalProject{{{a, column(a)}, {text, Expression::constant(ScalarValue::of_text(TypeKind::Varchar, "pistachio"))}}},
                std::move(filtered));
  PhysicalPlan made = place(std::move(root), {a, text});
  std::string bytes = serialize_plan(made);
  auto open = [](const std::string&, const TableListing&) -> TablePtr { throw UserError("no files here"); };
  PhysicalPlan read = deserialize_plan(bytes, open);
  EXPECT_EQ(serialize_plan(read), bytes);
  EXPECT_EQ(moves_of(read), moves_of(made));
  // A plan truncated anywhere is rejected.
  for (size_t length = 0; length < bytes.size(); ++length)
    EXPECT_THROW(deserialize_plan(std::string_view(bytes).substr(0, length), open), PeerError) << length;
}

TEST_F(ExchangePlacementTest, WindowsMoveRowsByPartition) {
  ColumnId a = add("a"), b = add("b"), n = add("n", TypeKind::BigInt), m = add("m", TypeKind::BigInt);
  auto window = [&](std::vector<ColumnId> partition, ColumnId result, LogicalPtr child) {
    LogicalWindow node{.partition = std::move(partition), .order = {{column(b)}}};
    node.calls.push_back({.id = result, .kind = WindowKind::RowNumber, .order_keys = 1});
    return make_node(std::move(node), std::move(child));
  };
  EXPECT_EQ(moves_of(place(window({a}, n, scan({a, b})), {n})), (std::vector{Move::Gather, Move::Repartition, Move::Scatter}));
  // The rows of equal a and b are together already.
  PhysicalPlan both = place(window({a, b}, m, window({a}, n, scan({a, b}))), {n, m});
  EXPECT_EQ(moves_of(both), (std::vector{Move::Gather, Move::Repartition, Move::Scatter}));
  EXPECT_EQ(moves_of(place(window({}, n, scan({a, b})), {n})), (std::vector{Move::Gather, Move::Scatter}));
  TableOpener none = [](const std::string&, TableListing) -> TablePtr { return nullptr; };
  const std::string bytes = serialize_plan(both);
  EXPECT_EQ(serialize_plan(deserialize_plan(bytes, none)), bytes);
}

}  // namespace
}  // namespace pistachio
