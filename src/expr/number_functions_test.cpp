#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "expr/function_harness.h"

namespace pistachio {
namespace {

using namespace function_harness;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(NumberFunctions, AbsoluteValueKeepsTheType) {
  check("abs", {integer(-5)}, "5");
  check("abs", {whole(INT64_MAX)}, "9223372036854775807");
  check("abs", {number(-2.5)}, "2.5");
  check("abs", {ScalarValue::of_floating(TypeKind::Real, -0.1F)}, "0.1");
  check("abs", {decimal("-12.34", 10, 2)}, "12.34");
  check("abs", {decimal("-12345678901234567890.5", 30, 1)}, "12345678901234567890.5");
  check("abs", {ScalarValue::of_integer(TypeKind::TinyInt, -127)}, "127");
  check_error("abs", {whole(INT64_MIN)}, "out of range");
  check_error("abs", {integer(INT32_MIN)}, "out of range");
  check_error("abs", {ScalarValue::of_integer(TypeKind::TinyInt, -128)}, "out of range");
  check_type("abs", {integer(1)}, "INTEGER");
  check_refused("abs", {date("2000-01-01")});
}

TEST(NumberFunctions, RoundToWhole) {
  check("round", {decimal("42.4", 3, 1)}, "42");
  check("round", {decimal("2.5", 2, 1)}, "3");
  check("round", {decimal("-2.5", 2, 1)}, "-3");
  check("round", {decimal("9.99", 3, 2)}, "10");
  check("round", {decimal("-0.4", 2, 1)}, "0");
  check("round", {decimal("99999999999999999999.5", 21, 1)}, "100000000000000000000");
  check_type("round", {decimal("9.99", 3, 2)}, "DECIMAL(2,0)");
  check("round", {number(2.5)}, "2");
  check("round", {number(3.5)}, "4");
  check("round", {number(-1.5)}, "-2");
  check("round", {number(kNan)}, "nan");
  check("round", {integer(7)}, "7");
  check_type("round", {integer(7)}, "DOUBLE");
  for (const char* name : {"ceil", "ceiling"}) {
    check(name, {decimal("42.2", 3, 1)}, "43");
    check(name, {decimal("-42.8", 3, 1)}, "-42");
    check(name, {decimal("42.0", 3, 1)}, "42");
    check(name, {decimal("999.1", 4, 1)}, "1000");
    check(name, {number(-42.8)}, "-42");
    check(name, {number(42.2)}, "43");
  }
  check("floor", {decimal("42.8", 3, 1)}, "42");
  check("floor", {decimal("-42.8", 3, 1)}, "-43");
  check("floor", {decimal("-999.1", 4, 1)}, "-1000");
  check("floor", {number(-42.8)}, "-43");
  check("trunc", {decimal("42.8", 3, 1)}, "42");
  check("trunc", {decimal("-42.8", 3, 1)}, "-42");
  check("trunc", {decimal("0.99", 2, 2)}, "0");
  check("trunc", {number(-42.8)}, "-42");
  check("trunc", {number(kInfinity)}, "inf");
}

TEST(NumberFunctions, RoundToDigits) {
  check("round", {decimal("42.4382", 6, 4), whole(2)}, "42.4400");
  check("round", {decimal("1234.56", 6, 2), whole(-1)}, "1230.00");
  check("round", {decimal("1250.00", 6, 2), whole(-2)}, "1300.00");
  check("round", {decimal("-1250.00", 6, 2), whole(-2)}, "-1300.00");
  check("round", {decimal("99.95", 4, 2), whole(1)}, "100.00");
  check("round", {decimal("99.95", 4, 2), whole(7)}, "99.95");
  check("round", {decimal("99.95", 4, 2), whole(INT64_MIN)}, "0.00");
  check("round", {decimal("99.95", 4, 2), whole(INT64_MAX)}, "99.95");
  check("round", {decimal("999999999999999.995", 18, 3), whole(2)}, "1000000000000000.000");
  check("round", {integer(1250), whole(-2)}, "1300");
  check("round", {number(2.345), whole(1)}, "2.3");
  check("round", {number(1234.5), whole(-2)}, "1200");
  check("round", {number(0.125), whole(2)}, "0.13");
  check("round", {number(1e300), whole(200)}, "1e+300");
  check("round", {number(kNan), whole(1)}, "nan");
  check_type("round", {decimal("42.4382", 6, 4), whole(2)}, "DECIMAL(7,4)");
  check("trunc", {decimal("42.4382", 6, 4), whole(2)}, "42.4300");
  check("trunc", {decimal("-42.4382", 6, 4), whole(-1)}, "-40.0000");
  check("trunc", {number(-2.789), whole(1)}, "-2.7");
  std::string nines(38, '9');
  check_error("round", {decimal(nines.c_str(), 38, 0), whole(-1)}, "out of range");
  check("trunc", {decimal(nines.c_str(), 38, 0), whole(-37)}, "9" + std::string(37, '0'));
}

TEST(NumberFunctions, Sign) {
  check("sign", {decimal("-8.4", 2, 1)}, "-1");
  check("sign", {decimal("12345678901234567890.5", 30, 1)}, "1");
  check("sign", {number(0)}, "0");
  check("sign", {integer(-3)}, "-1");
  check("sign", {number(kNan)}, "nan");
}

TEST(NumberFunctions, RootsPowersLogarithms) {
  check("sqrt", {number(2)}, "1.4142135623730951");
  check("sqrt", {integer(9)}, "3");
  check("sqrt", {decimal("2.25", 3, 2)}, "1.5");
  check("sqrt", {number(kInfinity)}, "inf");
  check_error("sqrt", {number(-1)}, "square root");
  check("cbrt", {number(27)}, "3");
  check("cbrt", {number(-27)}, "-3");
  check("exp", {number(1)}, "2.718281828459045");
  check("exp", {number(-kInfinity)}, "0");
  check("exp", {number(kInfinity)}, "inf");
  check_error("exp", {number(1000)}, "out of range");
  check("ln", {number(2)}, "0.6931471805599453");
  check("log", {number(100)}, "2");
  check("log10", {number(1000)}, "3");
  check("log2", {number(1024)}, "10");
  check("log", {number(2), number(64)}, "6");
  for (const char* name : {"ln", "log", "log2", "log10"}) {
    check_error(name, {number(0)}, "logarithm of zero");
    check_error(name, {number(-1)}, "logarithm of a negative");
  }
  check_error("log", {number(1), number(2)}, "division by zero");
  for (const char* name : {"power", "pow", "^"}) {
    check(name, {number(9), number(3)}, "729");
    check(name, {integer(2), integer(10)}, "1024");
    check(name, {number(2), number(-1)}, "0.5");
    check(name, {number(-2), number(3)}, "-8");
    check(name, {number(0), number(0)}, "1");
    check(name, {number(kNan), number(0)}, "1");
    check(name, {decimal("1.5", 2, 1), integer(2)}, "2.25");
    check_error(name, {number(0), number(-1)}, "negative power");
    check_error(name, {number(-8), number(0.5)}, "complex");
    check_error(name, {number(10), number(400)}, "out of range");
  }
}

TEST(NumberFunctions, Angles) {
  check("pi", {}, "3.141592653589793");
  check("sin", {number(1)}, "0.8414709848078965");
  check("cos", {number(1)}, "0.5403023058681398");
  check("tan", {number(1)}, "1.5574077246549023");
  check("cot", {number(0.5)}, "1.830487721712452");
  check("asin", {number(1)}, "1.5707963267948966");
  check("acos", {number(1)}, "0");
  check("atan", {number(1)}, "0.7853981633974483");
  check("atan2", {number(1), number(-1)}, "2.356194490192345");
  check("sinh", {number(1)}, "1.1752011936438014");
  check("cosh", {number(0)}, "1");
  check("tanh", {number(1)}, "0.7615941559557649");
  check("degrees", {number(0.5)}, "28.64788975654116");
  check("radians", {number(45)}, "0.7853981633974483");
  check_error("sin", {number(kInfinity)}, "infinite");
  check_error("asin", {number(1.5)}, "-1 to 1");
  check_error("acos", {number(-1.5)}, "-1 to 1");
}

TEST(NumberFunctions, Integers) {
  check("gcd", {integer(1071), integer(462)}, "21");
  check("gcd", {whole(0), whole(-5)}, "5");
  check("gcd", {whole(0), whole(0)}, "0");
  check("lcm", {integer(1071), integer(462)}, "23562");
  check("lcm", {whole(-4), whole(6)}, "12");
  check("lcm", {whole(0), whole(6)}, "0");
  check_error("gcd", {whole(INT64_MIN), whole(0)}, "out of range");
  check_error("lcm", {whole(INT64_MAX), whole(INT64_MAX - 1)}, "out of range");
  check("factorial", {integer(5)}, "120");
  check("factorial", {integer(0)}, "1");
  check("factorial", {integer(20)}, "2432902008176640000");
  check_error("factorial", {integer(21)}, "out of range");
  check_error("factorial", {integer(-1)}, "negative");
  check("&", {integer(91), integer(15)}, "11");
  check("|", {integer(32), whole(3)}, "35");
  check("#", {integer(17), integer(5)}, "20");
  check("~", {integer(1)}, "-2");
  check("<<", {integer(1), integer(4)}, "16");
  check("<<", {integer(1), integer(31)}, "-2147483648");
  check("<<", {integer(1), integer(33)}, "2");
  check("<<", {whole(1), integer(33)}, "8589934592");
  check(">>", {integer(-8), integer(2)}, "-2");
  check_type("&", {integer(1), whole(1)}, "BIGINT");
  check_refused("&", {number(1), integer(1)});
}

TEST(NumberFunctions, WidthBucket) {
  check("width_bucket", {decimal("5.35", 3, 2), decimal("0.024", 4, 3), decimal("10.06", 4, 2), integer(5)}, "3");
  check("width_bucket", {number(0), number(1), number(10), integer(9)}, "0");
  check("width_bucket", {number(10), number(1), number(10), integer(9)}, "10");
  check("width_bucket", {number(1), number(1), number(10), integer(9)}, "1");
  check("width_bucket", {number(5.35), number(10.06), number(0.024), integer(5)}, "3");
  check("width_bucket", {number(11), number(10), number(0), integer(5)}, "0");
  check("width_bucket", {number(0), number(10), number(0), integer(5)}, "6");
  check("width_bucket", {number(0), number(-1.7e308), number(1.7e308), integer(4)}, "3");
  check_error("width_bucket", {number(1), number(0), number(10), integer(0)}, "greater than zero");
  check_error("width_bucket", {number(1), number(5), number(5), integer(3)}, "equal");
  check_error("width_bucket", {number(kNan), number(5), number(6), integer(3)}, "NaN");
}

TEST(NumberFunctions, Tests) {
  check("isnan", {number(kNan)}, "true");
  check("isnan", {number(1)}, "false");
  check("isinf", {number(-kInfinity)}, "true");
  check("isfinite", {number(kInfinity)}, "false");
  check("isfinite", {integer(1)}, "true");
}

TEST(NumberFunctions, RandomDiffersByRow) {
  ExpressionPtr call = make_call("random", {});
  Column column = ExpressionEvaluator({call}, {}).evaluate(Chunk({}, 1000))[0];
  ASSERT_EQ(column.rows(), 1000);
  EXPECT_GE(column.values().min().item<double>(), 0.0);
  EXPECT_LT(column.values().max().item<double>(), 1.0);
  EXPECT_GT(column.values().std().item<double>(), 0.2);
  EXPECT_FALSE(call->function().is_stable);
}

TEST(NumberFunctions, EveryFunctionIsDocumented) {
  for (const Function* function : all_functions()) {
    EXPECT_FALSE(function->signature.empty()) << function->name;
    EXPECT_FALSE(function->description.empty()) << function->name;
    EXPECT_NE(function->resolve, nullptr) << function->name;
    EXPECT_NE(function->evaluate, nullptr) << function->name;
  }
}

}  // namespace
}  // namespace pistachio
