#include "optimizer/plan_fixture.h"

namespace pistachio {
namespace {

class FoldConstantsTest : public RuleTest {
 protected:
  // The folded form of a condition over t(a, b, c).
  std::string folded(const std::function<ExpressionPtr()>& make) {
    plan_ = {};
    LogicalPtr table = scan("t", {"a", "b", "c"});
    std::string text = after("fold_constants", make_node(LogicalFilter{{make()}}, std::move(table)));
    return text.substr(1, text.find('\n', 1) - 1);
  }
  ExpressionPtr both(std::vector<ExpressionPtr> parts) { return Expression::logical(ExpressionKind::And, std::move(parts)); }
  ExpressionPtr either(std::vector<ExpressionPtr> parts) { return Expression::logical(ExpressionKind::Or, std::move(parts)); }
  ExpressionPtr unknown() { return Expression::constant(ScalarValue::null(TypeKind::Boolean)); }
};

TEST_F(FoldConstantsTest, ConstantsAreComputed) {
  EXPECT_EQ(folded([&] { return make_call("<", {value("t.a"), make_call("+", {value("1"), value("2")})}); }), "filter (t.a < 3)");
  // A division by zero is raised when a row reaches it.
  EXPECT_EQ(folded([&] { return make_call("<", {value("t.a"), make_call("/", {value("1"), value("0")})}); }), "filter (t.a < (1 / 0))");
}

TEST_F(FoldConstantsTest, TrueConditionsAreDropped) {
  EXPECT_EQ(folded([&] { return is("1 = 1"); }), "scan t(t.a, t.b, t.c)");
  EXPECT_EQ(folded([&] { return both({is("t.a = 1"), is("1 = 1")}); }), "filter (t.a = 1)");
  EXPECT_EQ(folded([&] { return either({is("t.a = 1"), is("1 = 1")}); }), "scan t(t.a, t.b, t.c)");
  EXPECT_EQ(folded([&] { return both({is("t.a = 1"), is("1 = 2")}); }), "filter false");
}

TEST_F(FoldConstantsTest, NullOperandsStay) {
  EXPECT_EQ(folded([&] { return either({is("t.a = 1"), unknown()}); }), "filter ((t.a = 1) OR NULL)");
  EXPECT_EQ(folded([&] { return both({unknown(), value("false")}); }), "filter false");
}

TEST_F(FoldConstantsTest, ErrorsTakePrecedenceOverShortCircuit) {
  auto quotient = [&] { return make_call("=", {make_call("/", {value("t.a"), value("t.b")}), value("1")}); };
  EXPECT_EQ(folded([&] { return both({quotient(), value("false")}); }), "filter ((t.a / t.b) = 1) AND false");
  EXPECT_EQ(folded([&] { return both({value("false"), quotient()}); }), "filter false");
}

TEST_F(FoldConstantsTest, CommonPartsAreFactoredOutOfOr) {
  EXPECT_EQ(folded([&] { return either({both({is("t.a = 1"), is("t.b = 2")}), both({is("t.c = 3"), is("t.a = 1")})}); }),
            "filter (t.a = 1) AND ((t.b = 2) OR (t.c = 3))");
  // a OR (a AND b) is a.
  EXPECT_EQ(folded([&] { return either({is("t.a = 1"), both({is("t.a = 1"), is("t.b = 2")})}); }), "filter (t.a = 1)");
  EXPECT_EQ(folded([&] { return either({is("t.a = 1"), is("t.a = 1")}); }), "filter (t.a = 1)");
}

TEST_F(FoldConstantsTest, RandomIsNeitherComputedNorMerged) {
  auto sampled = [&] { return make_call("<", {make_call("random", {}), Expression::cast(value("1"), TypeKind::Double)}); };
  EXPECT_EQ(folded([&] { return either({sampled(), sampled()}); }), "filter ((random() < 1) OR (random() < 1))");
  EXPECT_EQ(folded([&] { return either({both({sampled(), is("t.a = 1")}), both({sampled(), is("t.b = 1")})}); }),
            "filter (((random() < 1) AND (t.a = 1)) OR ((random() < 1) AND (t.b = 1)))");
}

}  // namespace
}  // namespace pistachio
