#include "data/column.h"

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "data/chunk.h"

namespace pistachio {
namespace {

at::Tensor longs(std::vector<int64_t> values) {
  return at::tensor(values, at::kLong);
}

TEST(LogicalTypeTest, NamesAndWidths) {
  EXPECT_EQ(LogicalType::decimal(15, 2).to_string(), "DECIMAL(15,2)");
  EXPECT_EQ(LogicalType::decimal(18, 0).value_bytes(), 8);
  EXPECT_EQ(LogicalType::decimal(19, 0).value_bytes(), 16);
  EXPECT_EQ(LogicalType(TypeKind::Date).value_bytes(), 4);
  EXPECT_NE(LogicalType::decimal(15, 2), LogicalType::decimal(15, 3));
  EXPECT_THROW(LogicalType::decimal(39, 0), InternalError);
  EXPECT_THROW(LogicalType::decimal(5, 6), InternalError);
}

TEST(ColumnTest, RefusesTensorsOfAnotherType) {
  EXPECT_THROW(Column::fixed(TypeKind::Integer, longs({1})), InternalError);
  EXPECT_THROW(Column::fixed(TypeKind::BigInt, longs({1}), longs({1, 1}).to(at::kBool)), InternalError);
}

TEST(ColumnTest, RefusesTheWrongForm) {
  Column column = Column::fixed(TypeKind::BigInt, longs({1, 2}));
  EXPECT_THROW(column.codes(), InternalError);
  EXPECT_THROW(column.bytes(), InternalError);
}

TEST(ColumnTest, SlicesShareMemory) {
  Column column = Column::fixed(TypeKind::BigInt, longs({1, 2, 3, 4}), at::tensor({1, 0, 1, 1}, at::kInt).to(at::kBool));
  Column part = column.slice(1, 2);
  EXPECT_EQ(part.rows(), 2);
  EXPECT_EQ(part.values()[0].item<int64_t>(), 2);
  EXPECT_FALSE(part.validity()[0].item<bool>());
  EXPECT_EQ(part.values().storage().data(), column.values().storage().data());
  EXPECT_THROW(column.slice(3, 2), InternalError);
}

TEST(ColumnTest, SlicesOfTextAndDictionaries) {
  at::Tensor offsets = longs({0, 1, 3, 6});
  at::Tensor bytes = at::tensor({0, 0, 0, 0, 0, 0}, at::kByte);
  Column text = Column::text(TypeKind::Varchar, bytes, offsets.narrow(0, 0, 3), offsets.narrow(0, 1, 3));
  EXPECT_EQ(text.slice(2, 1).begins()[0].item<int64_t>(), 3);
  EXPECT_EQ(text.slice(2, 1).bytes().size(0), 6);
  auto entries = std::make_shared<const Column>(text);
  Column coded = Column::dictionary(at::tensor({2, 0, 1, 1}, at::kInt), entries);
  EXPECT_EQ(coded.type(), LogicalType(TypeKind::Varchar));
  EXPECT_EQ(coded.slice(2, 2).codes()[0].item<int>(), 1);
  EXPECT_EQ(coded.slice(2, 2).dictionary_column(), entries);
}

TEST(ChunkTest, ColumnsHaveEqualLength) {
  Column two = Column::fixed(TypeKind::BigInt, longs({1, 2}));
  Column three = Column::fixed(TypeKind::BigInt, longs({1, 2, 3}));
  EXPECT_THROW(Chunk({two, three}, 2), InternalError);
  EXPECT_EQ(Chunk({two}, 2).memory_bytes(), 16);
  EXPECT_EQ(Chunk({three}, 3).slice(1, 2).column(0).values()[1].item<int64_t>(), 3);
  EXPECT_EQ(Chunk({}, 7).rows(), 7);
}

}  // namespace
}  // namespace pistachio
