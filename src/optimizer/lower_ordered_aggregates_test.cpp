#include "expr/expression.h"
#include "optimizer/plan_fixture.h"

namespace pistachio {
namespace {

class LowerOrderedAggregatesTest : public RuleTest {
 protected:
  static ExpressionPtr fraction(double value) { return Expression::constant(ScalarValue::of_floating(TypeKind::Double, value)); }
  // With arguments behind the first and keys of ORDER BY.
  AggregateCall ordered(std::string_view function, const ExpressionPtr& argument, std::vector<ExpressionPtr> further = {},
                        std::vector<ExpressionPtr> keys = {}) {
    AggregateCall made = call(function, argument, "x");
    made.further = std::move(further);
    for (ExpressionPtr& key : keys) made.order.push_back({std::move(key), false, false});
    return made;
  }
  // The plan of one call per group of t.g.
  std::string lowered(const std::function<AggregateCall()>& call) {
    plan_ = {};
    LogicalPtr table = scan("t", {"g", "a", "b"});
    return after("lower_ordered_aggregates", grouped({"t.g"}, {call()}, std::move(table)));
  }
  static bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
};

TEST_F(LowerOrderedAggregatesTest, FirstIsTheRowWithNumberOne) {
  EXPECT_EQ(lowered([&] { return ordered("first", value("t.a"), {}, {value("t.b")}); }), R"(
project t.g, any_value AS x
  aggregate by t.g: any_value(t.a) FILTER (window = 1) AS any_value
    window by t.g order t.b: row_number() AS window
      scan t(t.g, t.a, t.b)
)");
}

TEST_F(LowerOrderedAggregatesTest, LastReversesTheOrder) {
  const std::string text = lowered([&] { return ordered("last", value("t.a"), {}, {value("t.b")}); });
  EXPECT_TRUE(has(text, "window by t.g order t.b DESC: row_number()")) << text;
}

TEST_F(LowerOrderedAggregatesTest, FirstTakesNullsThatArgMinSkips) {
  EXPECT_FALSE(has(lowered([&] { return ordered("first", value("t.a"), {}, {value("t.b")}); }), "is not null"));
  EXPECT_EQ(lowered([&] { return ordered("arg_min", value("t.a"), {value("t.b")}); }), R"(
project t.g, any_value AS x
  aggregate by t.g: any_value(t.a) FILTER ((window = 1) AND value) AS any_value
    window by t.g order value DESC NULLS LAST, t.b: row_number() AS window
      project *, (is not null(t.a) AND is not null(t.b)) AS value
        scan t(t.g, t.a, t.b)
)");
  // Only the key must have a value.
  const std::string text = lowered([&] { return ordered("arg_min_null", value("t.a"), {value("t.b")}); });
  EXPECT_TRUE(has(text, "is not null(t.b)")) << text;
  EXPECT_FALSE(has(text, "is not null(t.a)")) << text;
}

TEST_F(LowerOrderedAggregatesTest, FilteredRowsDoNotComputeValuesThatRaise) {
  auto quotient = [&](const std::string& divisor) { return make_call("/", {value("10"), value(divisor)}); };
  EXPECT_EQ(lowered([&] {
              AggregateCall made = ordered("first", quotient("t.a"), {}, {quotient("t.b")});
              made.filter = is("t.a <> 0");
              return made;
            }),
            R"(
project t.g, any_value AS x
  aggregate by t.g: any_value(value.2) FILTER ((window = 1) AND value) AS any_value
    window by t.g order value DESC NULLS LAST, CASE WHEN (t.a <> 0) THEN (10 / t.b) ELSE NULL END: row_number() AS window
      project *, (t.a <> 0) AS value, CASE WHEN (t.a <> 0) THEN (10 / t.a) ELSE NULL END AS value.2
        scan t(t.g, t.a, t.b)
)");
  const std::string texts = lowered([&] {
    const ExpressionPtr comma = Expression::constant(ScalarValue::of_text(TypeKind::Varchar, ","));
    AggregateCall made = ordered("string_agg", Expression::cast(value("t.a"), TypeKind::Varchar), {comma}, {quotient("t.b")});
    made.filter = is("t.b <> 0");
    return made;
  });
  EXPECT_TRUE(has(texts, "order CASE WHEN (t.b <> 0) THEN (10 / t.b)")) << texts;
}

TEST_F(LowerOrderedAggregatesTest, FilteredRowsComeLast) {
  EXPECT_EQ(lowered([&] {
              AggregateCall made = ordered("first", value("t.a"), {}, {value("t.b")});
              made.filter = is("t.a > 3");
              return made;
            }),
            R"(
project t.g, any_value AS x
  aggregate by t.g: any_value(t.a) FILTER ((window = 1) AND value) AS any_value
    window by t.g order value DESC NULLS LAST, t.b: row_number() AS window
      project *, (t.a > 3) AS value
        scan t(t.g, t.a, t.b)
)");
}

TEST_F(LowerOrderedAggregatesTest, QuantilesOfOneColumnShareTheirSort) {
  LogicalPtr table = scan("t", {"g", "a"});
  std::vector<AggregateCall> calls = {ordered("quantile_disc", value("t.a"), {fraction(0.25)}),
                                      ordered("quantile_disc", value("t.a"), {fraction(0.75)})};
  calls[0].id = add("y");
  EXPECT_EQ(after("lower_ordered_aggregates", grouped({"t.g"}, std::move(calls), std::move(table)), {"x", "y"}), R"(
project t.g, any_value AS y, any_value.2 AS x.2
  aggregate by t.g: any_value(t.a) FILTER (window = greatest(CAST(ceil((CAST(window.2 AS DOUBLE) * 0.25)) AS BIGINT), 1)) AS any_value, any_value(t.a) FILTER (window = greatest(CAST(ceil((CAST(window.3 AS DOUBLE) * 0.75)) AS BIGINT), 1)) AS any_value.2
    window by t.g order t.a: row_number() AS window, count(t.a) of 0 keys AS window.2, count(t.a) of 0 keys AS window.3
      scan t(t.g, t.a)
)");
}

TEST_F(LowerOrderedAggregatesTest, QuantilesOfDistinctValuesNumberEqualOnesFirst) {
  EXPECT_EQ(lowered([&] {
              AggregateCall made = ordered("quantile_disc", value("t.a"), {fraction(0.5)});
              made.distinct = true;
              return made;
            }),
            R"(
project t.g, any_value AS x
  aggregate by t.g: any_value(value) FILTER (window.2 = greatest(CAST(ceil((CAST(window.3 AS DOUBLE) * 0.5)) AS BIGINT), 1)) AS any_value
    window by t.g order value: row_number() AS window.2, count(value) of 0 keys AS window.3
      project *, CASE WHEN (window = 1) THEN t.a ELSE NULL END AS value
        window by t.g, t.a: row_number() AS window
          scan t(t.g, t.a, t.b)
)");
}

TEST_F(LowerOrderedAggregatesTest, ModeCountsTheRowsOfEachValue) {
  EXPECT_EQ(lowered([&] { return ordered("mode", value("t.a")); }), R"(
project t.g, any_value AS x
  aggregate by t.g: any_value(t.a) FILTER (window.2 = 1) AS any_value
    window by t.g order window DESC NULLS LAST, t.a: row_number() AS window.2
      window by t.g, t.a: count(t.a) AS window
        scan t(t.g, t.a, t.b)
)");
}

TEST_F(LowerOrderedAggregatesTest, ConcatenationIsAWindow) {
  const ExpressionPtr comma = Expression::constant(ScalarValue::of_text(TypeKind::Varchar, ","));
  EXPECT_EQ(lowered([&] { return ordered("string_agg", Expression::cast(value("t.a"), TypeKind::Varchar), {comma}, {value("t.b")}); }),
            R"(
project t.g, any_value AS x
  aggregate by t.g: any_value(window) AS any_value
    window by t.g order t.b: string_agg(value, ',') AS window
      project *, CAST(t.a AS VARCHAR) AS value
        scan t(t.g, t.a, t.b)
)");
}

TEST_F(LowerOrderedAggregatesTest, PairsWithANullDoNotCount) {
  LogicalPtr table = scan("t", {"g", "y", "x"}, 10, TypeKind::Double);
  AggregateCall covariance = ordered("covar_pop", value("t.y"), {value("t.x")});
  EXPECT_EQ(after("lower_ordered_aggregates", grouped({"t.g"}, {covariance}, std::move(table))), R"(
project t.g, CASE WHEN (count > 0) THEN (sum / CAST(count AS DOUBLE)) ELSE NULL END AS x
  aggregate by t.g: count(value.2) AS count, sum((value.3 * value.4)) AS sum
    project *, (value - window) AS value.3, (value.2 - window.2) AS value.4
      window by t.g: avg(value) AS window, avg(value.2) AS window.2
        project *, CASE WHEN (is not null(t.y) AND is not null(t.x)) THEN t.y ELSE NULL END AS value, CASE WHEN (is not null(t.y) AND is not null(t.x)) THEN t.x ELSE NULL END AS value.2
          scan t(t.g, t.y, t.x)
)");
}

TEST_F(LowerOrderedAggregatesTest, PlainCallsStayBesideOrderedOnes) {
  LogicalPtr table = scan("t", {"g", "a"});
  std::vector<AggregateCall> calls = {ordered("first", value("t.a")), call("sum", value("t.a"), "total"), call("count", nullptr, "n")};
  EXPECT_EQ(after("lower_ordered_aggregates", grouped({}, std::move(calls), std::move(table)), {"x", "total", "n"}), R"(
project any_value AS x, total, n
  aggregate: any_value(t.a) FILTER (window = 1) AS any_value, sum(t.a) AS total, count(*) AS n
    window: row_number() AS window
      scan t(t.g, t.a)
)");
}

TEST_F(LowerOrderedAggregatesTest, PlainAggregatesStay) {
  LogicalPtr table = scan("t", {"g", "a"});
  AggregateCall distinct = call("count", value("t.a"), "n");
  distinct.distinct = true;
  EXPECT_EQ(after("lower_ordered_aggregates", grouped({"t.g"}, {call("stddev", value("t.a"), "s"), distinct}, std::move(table))), R"(
aggregate by t.g: stddev(CAST(t.a AS DOUBLE)) AS s, count(DISTINCT t.a) AS n
  scan t(t.g, t.a)
)");
}

}  // namespace
}  // namespace pistachio
