// GPU bodies compared with the host bodies, both on the CPU: kernels then run their composite bodies.
#include "expr/device_bodies.h"

#include <gtest/gtest.h>

#include <random>

#include "columns/concatenate_columns.h"
#include "columns/scalar_access.h"
#include "expr/function_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {
namespace {

Column texts(const std::vector<std::string>& values) {
  std::vector<Column> pieces;
  for (const std::string& value : values) pieces.push_back(repeat_value(ScalarValue::of_text(TypeKind::Varchar, value), 1));
  return concatenate_columns(pieces);
}

Argument constant(ScalarValue value) {
  return {repeat_value(value, 1), true};
}

Argument text_constant(const std::string& text) {
  return constant(ScalarValue::of_text(TypeKind::Varchar, text));
}

Argument number_constant(int64_t number) {
  return constant(ScalarValue::of_integer(TypeKind::BigInt, number));
}

const Function& function_of(std::string_view name, const std::vector<Argument>& arguments) {
  std::vector<LogicalType> types;
  for (const Argument& argument : arguments) types.push_back(argument.column.type());
  const bool literals[3] = {};
  for (const Function* function : find_functions(name)) {
    if (function->resolve(types, {literals, types.size()})) return *function;
  }
  throw std::runtime_error("no such function");
}

// Whether the GPU body handled the call; checks that its result equals the host's.
bool agree(std::string_view name, const std::vector<Argument>& arguments, LogicalType result) {
  const Function& function = function_of(name, arguments);
  FunctionCall call{arguments, arguments[0].column.rows(), result, {}};
  EXPECT_NE(function.evaluate_on_device, nullptr);
  std::optional<Column> on_device = function.evaluate_on_device(call);
  if (!on_device) return false;
  const Column expected = function.evaluate(call);
  for (int64_t row = 0; row < call.rows; ++row) EXPECT_EQ(value_at(*on_device, row).to_string(), value_at(expected, row).to_string()) << row;
  return true;
}

const std::vector<std::string> kTexts = {"",        "a",       "ab",      "abc", "aab",  "ba", "special requests", "xx special, slow requests yy",
                                         "requests special", "grün", "日本語", "a%b", "a_b", "a\\b", "ааа",          "special special requests requests"};

TEST(DeviceBodies, LikeAgreesWithHost) {
  for (const char* pattern : {"", "%", "_", "a%", "%b", "%a%", "a_c", "%special%requests%", "special%requests", "%%a%%", "_%_", "%_b", "日_語", "gr_n", "%n",
                              "a\\%b", "a\\_b", "a\\\\b", "%а_а%", "abcdefghijklmnop%"}) {
    SCOPED_TRACE(pattern);
    for (const char* name : {"like", "not like"}) {
      EXPECT_TRUE(agree(name, {{texts(kTexts)}, text_constant(pattern)}, TypeKind::Boolean));
      EXPECT_TRUE(agree(name, {{texts(kTexts)}, text_constant(pattern), text_constant("!")}, TypeKind::Boolean));
      EXPECT_TRUE(agree(name, {{texts(kTexts)}, text_constant(pattern), text_constant("")}, TypeKind::Boolean));
    }
  }
}

TEST(DeviceBodies, RandomLikePatternsAgreeWithHost) {
  std::mt19937_64 random(5);
  auto draw = [&](const std::vector<std::string>& pieces, size_t most) {
    std::string value;
    for (size_t i = random() % (most + 1); i > 0; --i) value += pieces[random() % pieces.size()];
    return value;
  };
  std::vector<std::string> values;
  for (int i = 0; i < 60; ++i) values.push_back(draw({"a", "b", "é", "日"}, 9));
  for (int i = 0; i < 200; ++i) {
    const std::string pattern = draw({"a", "b", "é", "日", "%", "_", "%"}, 6);
    SCOPED_TRACE(pattern);
    EXPECT_TRUE(agree("like", {{texts(values)}, text_constant(pattern)}, TypeKind::Boolean));
  }
}

TEST(DeviceBodies, LikeLeavesErrorsAndVaryingPatternsToHost) {
  EXPECT_FALSE(agree("like", {{texts(kTexts)}, text_constant("ends in \\")}, TypeKind::Boolean));
  EXPECT_FALSE(agree("like", {{texts(kTexts)}, text_constant("a"), text_constant("two")}, TypeKind::Boolean));
  EXPECT_FALSE(agree("like", {{texts(kTexts)}, {texts(kTexts)}}, TypeKind::Boolean));
}

TEST(DeviceBodies, SubstringAgreesWithHost) {
  for (int64_t start : {INT64_MIN, int64_t{-3}, int64_t{0}, int64_t{1}, int64_t{2}, int64_t{5}, INT64_MAX}) {
    SCOPED_TRACE(start);
    EXPECT_TRUE(agree("substring", {{texts(kTexts)}, number_constant(start)}, TypeKind::Varchar));
    for (int64_t length : {int64_t{0}, int64_t{1}, int64_t{2}, int64_t{7}, INT64_MAX})
      EXPECT_TRUE(agree("substring", {{texts(kTexts)}, number_constant(start), number_constant(length)}, TypeKind::Varchar));
    EXPECT_FALSE(agree("substring", {{texts(kTexts)}, number_constant(start), number_constant(-1)}, TypeKind::Varchar));
  }
}

TEST(DeviceBodies, DateFieldsAgreeWithHost) {
  std::mt19937_64 random(7);
  std::vector<int32_t> days = {0, -1, 59, 60, 365, 366, -2'440'588, -719'529, -719'528, -719'163, -719'162, 2'145'042'905, 11'016, 11'017};
  for (int i = 0; i < 2'000; ++i) days.push_back(static_cast<int32_t>(random() % 6'000'000) - 2'400'000);
  const Column dates = Column::fixed(TypeKind::Date, at::tensor(days, at::kInt));
  const at::Tensor moments = at::tensor(days, at::kInt).slice(0, 12).to(at::kLong) * 1'000'000 * 86'400 + at::arange(static_cast<int64_t>(days.size()) - 12) * 43'199'999;
  for (const char* name : {"extract year", "extract quarter", "extract month", "extract day"}) {
    SCOPED_TRACE(name);
    EXPECT_TRUE(agree(name, {{dates}}, TypeKind::BigInt));
    EXPECT_TRUE(agree(name, {{Column::fixed(TypeKind::Timestamp, moments)}}, TypeKind::BigInt));
    EXPECT_TRUE(agree(name, {{Column::fixed(TypeKind::TimestampNs, moments.slice(0, 0, 100))}}, TypeKind::BigInt));
  }
  EXPECT_FALSE(agree("extract week", {{dates}}, TypeKind::BigInt));
}

}  // namespace
}  // namespace pistachio
