// Positions: every node points at the bytes of the user's text, also after rewrites and after other statements.
#include <gtest/gtest.h>

#include "parser/parse_harness.h"
#include "parser/position_map.h"

namespace pistachio {
namespace {

TEST(PositionMap, MapsBackThroughReplacements) {
  PositionMap map;
  const std::string text = "xxab'file'cdxx";
  const std::string result = replace_pieces(text, 2, 12, {{4, 10, "\"1\""}, {11, 11, "NEW"}}, map);
  EXPECT_EQ(result, "ab\"1\"cNEWd");
  EXPECT_EQ(map.to_original(0), 2);
  EXPECT_EQ(map.to_original(1), 3);
  EXPECT_EQ(map.to_original(2), 4);
  EXPECT_EQ(map.to_original(4), 4);
  EXPECT_EQ(map.to_original(5), 10);
  EXPECT_EQ(map.to_original(6), 11);
  EXPECT_EQ(map.to_original(8), 11);
  EXPECT_EQ(map.to_original(9), 11);
  EXPECT_EQ(map.to_original(10), 12);
  EXPECT_TRUE(map.is_replaced(3));
  EXPECT_FALSE(map.is_replaced(5));
  EXPECT_TRUE(map.is_replaced(6));
}

const ast::Query& query_of(const ast::Statement& statement) {
  return *std::get<ast::SelectStatement>(statement.node).query;
}
const ast::Select& select_of(const ast::Query& query) {
  return std::get<ast::Select>(query.body);
}

class PositionTest : public testing::Test {
 protected:
  void parse(std::string sql) {
    text_ = std::move(sql);
    statements_ = parse_statements(text_);
  }
  int64_t at(std::string_view piece) const {
    EXPECT_NE(text_.find(piece), std::string::npos) << piece;
    return static_cast<int64_t>(text_.find(piece));
  }
  const ast::Select& select() const { return select_of(query_of(statements_.back())); }

  std::string text_;
  std::vector<ast::Statement> statements_;
};

TEST_F(PositionTest, OfExpressions) {
  parse("select 'ü'; select aa, bb + 1, f(cc), date '2020', dd::int, case when ee then 1 end, -7, gg in (1), hh between 2 and 3, tt.*");
  const auto& items = select().items;
  EXPECT_EQ(items[0].expression->position, at("aa"));
  EXPECT_EQ(items[1].expression->position, at("+ 1"));
  EXPECT_EQ(items[2].expression->position, at("f(cc)"));
  EXPECT_EQ(items[3].expression->position, at("date"));
  EXPECT_EQ(items[4].expression->position, at("::int"));
  EXPECT_EQ(std::get<ast::Cast>(items[4].expression->node).type.position, at("int,"));
  EXPECT_EQ(items[5].expression->position, at("case"));
  EXPECT_EQ(items[6].expression->position, at("-7"));
  EXPECT_EQ(items[7].expression->position, at("in (1)"));
  EXPECT_EQ(items[8].expression->position, at("between"));
  EXPECT_EQ(items[9].expression->position, at("tt.*"));
}

TEST_F(PositionTest, OfQueriesAndTables) {
  parse(
      "/* ä */ with q as (select distinct on (x, (y)) 1) select aa from 'file one' t, f(2), (select (3)) s, (values (4 + 5)) v where "
      "exists (select 6)");
  const ast::Query& query = query_of(statements_.back());
  EXPECT_EQ(query.position, at("with q"));
  EXPECT_EQ(query.with[0].position, at("q as"));
  EXPECT_EQ(query.with[0].query->position, at("select distinct"));
  EXPECT_EQ(select().from[0]->position, at("'file one'"));
  EXPECT_EQ(select().from[1]->position, at("f(2)"));
  EXPECT_EQ(select().from[2]->position, at("select (3)"));
  EXPECT_EQ(select().from[3]->position, at("values"));
  EXPECT_EQ(select().where->position, at("exists"));
  EXPECT_EQ(std::get<ast::Subquery>(select().where->node).query->position, at("select 6"));
}

TEST_F(PositionTest, OfSetOperations) {
  parse("select 1 union (select 2 union select 3)");
  const ast::Query& query = query_of(statements_.back());
  const auto& operation = std::get<ast::SetOperation>(query.body);
  EXPECT_EQ(query.position, 0);
  EXPECT_EQ(operation.right->position, at("select 2"));
}

TEST_F(PositionTest, OfDescribedAndExplained) {
  parse("  describe  'some file'");
  EXPECT_EQ(statements_[0].position, 2);
  EXPECT_EQ(select_of(*std::get<ast::Describe>(statements_[0].node).query).from[0]->position, at("'some"));
  parse("explain analyze select a from 'f', bb");
  const auto& explained = *std::get<ast::Explain>(statements_[0].node).statement;
  EXPECT_EQ(select_of(query_of(explained)).from[1]->position, at("bb"));
}

TEST_F(PositionTest, OfColumnDefinitions) {
  parse("create table t (aa int, bb text)");
  const auto& table = std::get<ast::CreateTable>(statements_[0].node);
  EXPECT_EQ(table.columns[1].position, at("bb"));
  EXPECT_EQ(table.columns[1].type.position, at("text"));
}

}  // namespace
}  // namespace pistachio
