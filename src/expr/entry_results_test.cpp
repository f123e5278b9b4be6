#include "expr/entry_results.h"

#include <ATen/ops/arange.h>
#include <gtest/gtest.h>

#include "expr/expression.h"

namespace pistachio {
namespace {

std::shared_ptr<const Column> numbers(int64_t rows) {
  return std::make_shared<const Column>(Column::fixed(TypeKind::BigInt, at::arange(rows, at::kLong)));
}

TEST(EntryResults, ComputedOnceHalfAsManyRowsCame) {
  EntryResults results;
  const ExpressionPtr expression = Expression::constant(ScalarValue::of_integer(TypeKind::BigInt, 1));
  int computed = 0;
  auto compute = [&](const Column& entries) {
    ++computed;
    return Column::fixed(TypeKind::Boolean, entries.values().gt(3));
  };
  const std::shared_ptr<const Column> dictionary = numbers(10);
  EXPECT_FALSE(results.find(*expression, dictionary, 4, compute));
  const std::optional<Column> second = results.find(*expression, dictionary, 1, compute);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->rows(), 10);
  EXPECT_TRUE(results.find(*expression, dictionary, 1, compute));
  EXPECT_EQ(computed, 1);
  // Another expression and another dictionary have results of their own.
  const ExpressionPtr other = Expression::constant(ScalarValue::of_integer(TypeKind::BigInt, 2));
  EXPECT_TRUE(results.find(*other, dictionary, 5, compute));
  EXPECT_FALSE(results.find(*expression, numbers(10), 4, compute));
  EXPECT_EQ(computed, 2);
}

TEST(EntryResults, ForgetsTheOldest) {
  EntryResults results;
  const ExpressionPtr expression = Expression::constant(ScalarValue::of_integer(TypeKind::BigInt, 1));
  int computed = 0;
  auto compute = [&](const Column& entries) {
    ++computed;
    return entries;
  };
  std::vector<std::shared_ptr<const Column>> dictionaries;
  for (int i = 0; i < 20; ++i) {
    dictionaries.push_back(numbers(4));
    results.find(*expression, dictionaries.back(), 4, compute);
  }
  EXPECT_EQ(computed, 20);
  results.find(*expression, dictionaries.back(), 4, compute);
  EXPECT_EQ(computed, 20);
  results.find(*expression, dictionaries.front(), 4, compute);
  EXPECT_EQ(computed, 21);
}

}  // namespace
}  // namespace pistachio
