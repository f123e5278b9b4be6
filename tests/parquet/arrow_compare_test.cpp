// The reference itself: it accepts equal columns in every form and finds each kind of difference.
#include "tests/parquet/arrow_compare.h"

#include <arrow/api.h>
#include <gtest/gtest.h>

#include "kernels/ops/tensor_functions.h"

namespace pistachio::test {
namespace {

template <typename Builder, typename... Arguments>
std::shared_ptr<arrow::ChunkedArray> finish(Builder& builder) {
  return std::make_shared<arrow::ChunkedArray>(builder.Finish().ValueOrDie());
}

std::shared_ptr<arrow::ChunkedArray> integers(std::vector<std::optional<int64_t>> values) {
  arrow::Int64Builder builder;
  for (auto value : values) EXPECT_TRUE((value ? builder.Append(*value) : builder.AppendNull()).ok());
  return finish(builder);
}

Column text_column(LogicalType type, const std::vector<std::string>& values, at::Tensor validity = {}) {
  std::string all = "unused";
  std::vector<int64_t> begins, ends;
  for (const auto& value : values) {
    begins.push_back(static_cast<int64_t>(all.size()));
    all += value;
    ends.push_back(static_cast<int64_t>(all.size()));
  }
  at::Tensor bytes = at::empty({static_cast<int64_t>(all.size())}, at::kByte);
  std::copy(all.begin(), all.end(), bytes.mutable_data_ptr<uint8_t>());
  return Column::text(type, bytes, at::tensor(begins), at::tensor(ends), validity);
}

at::Tensor longs(std::vector<int64_t> values) {
  return at::tensor(values);
}
at::Tensor bools(std::vector<int64_t> values) {
  return at::tensor(values).to(at::kBool);
}

TEST(ArrowCompare, AcceptsEqualFixedColumns) {
  ExpectedColumn expected(*integers({1, std::nullopt, 3, 4}), TypeKind::BigInt);
  EXPECT_EQ(expected.first_difference(Column::fixed(TypeKind::BigInt, longs({1, 77, 3, 4}), bools({1, 0, 1, 1})), 0), std::nullopt);
  EXPECT_EQ(expected.first_difference(Column::fixed(TypeKind::BigInt, longs({3, 4})), 2), std::nullopt);
  EXPECT_EQ(expected.first_difference(Column::fixed(TypeKind::BigInt, longs({4, 1})), std::vector<int64_t>{3, 0}), std::nullopt);
}

TEST(ArrowCompare, FindsDifferences) {
  ExpectedColumn expected(*integers({1, std::nullopt, 3}), TypeKind::BigInt);
  auto difference = [&](const Column& column) { return expected.first_difference(column, 0).value_or("none"); };
  EXPECT_EQ(difference(Column::fixed(TypeKind::BigInt, longs({1, 0, 4}), bools({1, 0, 1}))), "row 2: 4 instead of 3");
  EXPECT_EQ(difference(Column::fixed(TypeKind::BigInt, longs({1, 0, 3}))), "row 1: 0 instead of NULL");
  EXPECT_EQ(difference(Column::fixed(TypeKind::BigInt, longs({1, 0, 3}), bools({0, 0, 1}))), "row 0: NULL instead of 1");
  EXPECT_EQ(difference(Column::fixed(TypeKind::Timestamp, longs({1, 0, 3}))), "type TIMESTAMP instead of BIGINT");
  EXPECT_EQ(difference(Column::fixed(TypeKind::BigInt, longs({1, 0, 3, 4}), bools({1, 0, 1, 1}))), "row 3 is past the 3 expected ones");
}

TEST(ArrowCompare, ReadsDictionariesAndText) {
  arrow::StringBuilder builder;
  ASSERT_TRUE(builder.AppendValues({"b", "", "abc", "b"}).ok());
  ExpectedColumn expected(*finish(builder), TypeKind::Varchar);
  EXPECT_EQ(expected.first_difference(text_column(TypeKind::Varchar, {"b", "", "abc", "b"}), 0), std::nullopt);
  auto dictionary = std::make_shared<const Column>(text_column(TypeKind::Varchar, {"", "abc", "b"}));
  EXPECT_EQ(expected.first_difference(Column::dictionary(at::tensor(std::vector<int>{2, 0, 1, 2}), dictionary), 0), std::nullopt);
  EXPECT_EQ(expected.first_difference(Column::dictionary(at::tensor(std::vector<int>{2, 0, 1, 1}), dictionary), 0),
            "row 3: 'abc' (3 bytes) instead of 'b' (1 bytes)");
}

TEST(ArrowCompare, WideDecimals) {
  arrow::UInt64Builder builder;
  ASSERT_TRUE(builder.AppendValues({0, 18446744073709551615u}).ok());
  ExpectedColumn expected(*finish(builder), LogicalType::decimal(20, 0));
  at::Tensor words = longs({0, 0, -1, 0}).view({2, 2});
  EXPECT_EQ(expected.first_difference(Column::fixed(LogicalType::decimal(20, 0), words), 0), std::nullopt);
  EXPECT_EQ(expected.first_difference(Column::fixed(LogicalType::decimal(20, 0), longs({0, 0, -1, -1}).view({2, 2})), 0),
            "row 1: -1 instead of 18446744073709551615");
}

TEST(ArrowCompare, NanosecondsStay) {
  arrow::TimestampBuilder builder(arrow::timestamp(arrow::TimeUnit::NANO), arrow::default_memory_pool());
  ASSERT_TRUE(builder.AppendValues({-1, -1000, 1999}).ok());
  ExpectedColumn expected(*finish(builder), TypeKind::TimestampNs);
  EXPECT_EQ(expected.first_difference(Column::fixed(TypeKind::TimestampNs, longs({-1, -1000, 1999})), 0), std::nullopt);
}

TEST(ArrowCompare, FloatsByBitsExceptNan) {
  arrow::DoubleBuilder builder;
  ASSERT_TRUE(builder.AppendValues({std::nan("1"), -0.0}).ok());
  ExpectedColumn expected(*finish(builder), TypeKind::Double);
  EXPECT_EQ(expected.first_difference(Column::fixed(TypeKind::Double, at::tensor(std::vector<double>{-std::nan("2"), -0.0})), 0),
            std::nullopt);
  EXPECT_EQ(expected.first_difference(Column::fixed(TypeKind::Double, at::tensor(std::vector<double>{std::nan(""), 0.0})), 0),
            "row 1: 0 instead of -0");
}

TEST(ArrowCompare, UuidsAreText) {
  arrow::FixedSizeBinaryBuilder builder(arrow::fixed_size_binary(16));
  ASSERT_TRUE(builder.Append("\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67\x89\xAB\xCD\xEF").ok());
  auto array = finish(builder);
  EXPECT_EQ(ExpectedColumn(*array, TypeKind::Varchar).text(0), "01234567-89ab-cdef-0123-456789abcdef");
  EXPECT_EQ(ExpectedColumn(*array, TypeKind::Blob).text(0).size(), 16u);
}

}  // namespace
}  // namespace pistachio::test
