#include "storage/value_conversion.h"

#include <gtest/gtest.h>

#include "kernels/ops/tensor_functions.h"

namespace pistachio {
namespace {

ParquetColumn stored_decimal(int precision, PhysicalType physical, ValueConversion conversion) {
  return {.type = LogicalType::decimal(precision, 0), .physical = physical, .conversion = conversion};
}

TEST(ValueConversionTest, DecimalBeyondItsPrecisionIsRejected) {
  const at::Tensor fitting = at::tensor({int64_t{9999}, int64_t{-9999}});
  const at::Tensor beyond = at::tensor({int64_t{10}, int64_t{10000}});
  const ParquetColumn wide = stored_decimal(4, PhysicalType::Int64, ValueConversion::None);
  EXPECT_TRUE(at::equal(convert_numbers(wide, fitting, {}).values(), fitting));
  EXPECT_THROW(convert_numbers(wide, beyond, {}), DataError);
  EXPECT_THROW(convert_numbers(wide, -beyond, {}), DataError);
  const ParquetColumn narrow = stored_decimal(4, PhysicalType::Int32, ValueConversion::WidenDecimal);
  EXPECT_TRUE(at::equal(convert_numbers(narrow, fitting.to(at::kInt), {}).values(), fitting));
  EXPECT_THROW(convert_numbers(narrow, beyond.to(at::kInt), {}), DataError);
  EXPECT_EQ(convert_numbers(wide, at::empty({0}, at::kLong), {}).rows(), 0);
}

}  // namespace
}  // namespace pistachio
