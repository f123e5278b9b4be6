#include "physical/host_work.h"

#include <gtest/gtest.h>

#include "expr/function_table.h"

namespace pistachio {
namespace {

ExpressionPtr column(int32_t id, LogicalType type) {
  return Expression::column(ColumnId{id}, type);
}

ExpressionPtr text(std::string value) {
  return Expression::constant(ScalarValue::of_text(TypeKind::Varchar, std::move(value)));
}

std::set<std::string> host_work_of(ExpressionPtr expression) {
  PhysicalNode node;
  node.node = PhysicalFilter{{std::move(expression)}};
  return host_work(node);
}

using Names = std::set<std::string>;

TEST(HostWorkTest, NamesNestedFunctionsWithoutBodyForTheGpu) {
  const ExpressionPtr upper = make_call("upper", {column(1, TypeKind::Varchar)});
  EXPECT_EQ(host_work_of(make_call("=", {make_call("md5", {upper}), column(2, TypeKind::Varchar)})), (Names{"md5", "upper"}));
}

TEST(HostWorkTest, OmitsFunctionsThatCallKernels) {
  EXPECT_EQ(host_work_of(make_call("+", {column(1, TypeKind::BigInt), column(2, TypeKind::BigInt)})), Names{});
}

TEST(HostWorkTest, OmitsConstantCalls) {
  EXPECT_EQ(host_work_of(make_call("upper", {text("a")})), Names{});
}

TEST(HostWorkTest, LikeWithConstantPatternRunsOnTheGpu) {
  EXPECT_EQ(host_work_of(make_call("like", {column(1, TypeKind::Varchar), text("a%")})), Names{});
  EXPECT_EQ(host_work_of(make_call("like", {column(1, TypeKind::Varchar), column(2, TypeKind::Varchar)})).size(), 1u);
}

TEST(HostWorkTest, NamesCastsToAndFromText) {
  EXPECT_EQ(host_work_of(Expression::cast(column(1, TypeKind::BigInt), TypeKind::Varchar)), Names{"CAST AS VARCHAR"});
  EXPECT_EQ(host_work_of(Expression::cast(column(1, TypeKind::Varchar), TypeKind::Date)), Names{"CAST AS DATE"});
  EXPECT_EQ(host_work_of(Expression::cast(column(1, TypeKind::Integer), TypeKind::BigInt)), Names{});
}

TEST(HostWorkTest, NamesRowTestsOfScans) {
  PhysicalNode node;
  PhysicalScan scan;
  scan.row_tests = {make_call("starts_with", {column(1, TypeKind::Varchar), text("a")})};
  node.node = std::move(scan);
  EXPECT_EQ(host_work(node), Names{"starts_with"});
}

}  // namespace
}  // namespace pistachio
