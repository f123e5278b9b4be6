#include "columns/chunk_packing.h"

#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "columns/concatenate_columns.h"
#include "columns/scalar_access.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {
namespace {

ScalarValue text(const std::string& value) {
  return ScalarValue::of_text(TypeKind::Varchar, value);
}

Chunk sample_chunk() {
  std::vector<Column> columns;
  columns.push_back(Column::fixed(TypeKind::BigInt, at::arange(5, at::kLong), at::tensor({1, 0, 1, 1, 0}).to(at::kBool)));
  columns.push_back(
      column_of_values(TypeKind::Varchar, {text("pista"), text(""), ScalarValue::null(TypeKind::Varchar), text("chio"), text("x")}));
  columns.push_back(Column::fixed(LogicalType::decimal(38, 2), at::arange(10, at::kLong).view({5, 2})));
  auto entries = std::make_shared<Column>(column_of_values(TypeKind::Varchar, {text("left"), text("right")}));
  columns.push_back(Column::dictionary(at::tensor({0, 1, 1, 0, 1}, at::kInt), entries));
  // More entries than rows: the values are sent.
  auto many = std::make_shared<Column>(Column::fixed(TypeKind::Integer, at::arange(100, at::kInt)));
  columns.push_back(Column::dictionary(at::tensor({99, 0, 7, 7, 50}, at::kInt), many));
  columns.push_back(Column::fixed(TypeKind::Boolean, at::tensor({1, 0, 1, 0, 1}).to(at::kBool)));
  return Chunk(std::move(columns), 5);
}

void expect_same(const Chunk& left, const Chunk& right) {
  ASSERT_EQ(left.rows(), right.rows());
  ASSERT_EQ(left.column_count(), right.column_count());
  for (size_t i = 0; i < left.column_count(); ++i) {
    EXPECT_EQ(left.column(i).type(), right.column(i).type());
    for (int64_t row = 0; row < left.rows(); ++row)
      EXPECT_EQ(value_at(left.column(i), row).to_string(), value_at(right.column(i), row).to_string()) << i << " " << row;
  }
}

TEST(ChunkPacking, RoundTripKeepsRows) {
  Chunk chunk = sample_chunk();
  expect_same(unpack_chunk(pack_chunk(chunk)), chunk);
  expect_same(unpack_chunk(pack_chunk(chunk.slice(1, 3))), chunk.slice(1, 3));
  expect_same(unpack_chunk(pack_chunk(chunk.slice(2, 0))), chunk.slice(2, 0));
  EXPECT_EQ(unpack_chunk(pack_chunk(Chunk({}, 1000))).rows(), 1000);
}

TEST(ChunkPacking, PiecesMakeOneBlock) {
  const Chunk chunk = sample_chunk();
  std::vector<Column> without_nulls = chunk.columns();
  without_nulls[0] = Column::fixed(TypeKind::BigInt, at::arange(7, 12, at::kLong));
  const std::vector<Chunk> pieces = {Chunk(without_nulls, 5), chunk.slice(3, 0), chunk, chunk.slice(1, 3)};
  std::vector<Column> columns;
  for (size_t i = 0; i < chunk.column_count(); ++i) {
    std::vector<Column> of_pieces;
    for (const Chunk& piece : pieces) of_pieces.push_back(piece.column(i));
    columns.push_back(concatenate_columns(of_pieces));
  }
  const at::Tensor block = pack_chunks(pieces, {}).block;
  expect_same(unpack_chunk(block), Chunk(columns, 13));
  EXPECT_EQ(block.numel(), pack_chunk(Chunk(columns, 13)).numel());
}

TEST(ChunkPacking, KeepsSmallDictionaries) {
  Chunk made = unpack_chunk(pack_chunk(sample_chunk()));
  EXPECT_TRUE(made.column(3).is_dictionary());
  EXPECT_FALSE(made.column(4).is_dictionary());
}

TEST(ChunkPacking, SharedDictionariesCanBeSentSeparately) {
  Chunk chunk = sample_chunk();
  // A second column with the same dictionary, and one whose dictionary is too small to be sent separately.
  auto large = std::make_shared<const Column>(Column::fixed(TypeKind::BigInt, at::arange(5, at::kLong)));
  std::vector<Column> columns = chunk.columns();
  columns.push_back(Column::dictionary(at::tensor({4, 3, 2, 1, 0}, at::kInt), large, at::tensor({1, 1, 0, 1, 1}).to(at::kBool)));
  columns.push_back(Column::dictionary(at::tensor({0, 0, 0, 1, 4}, at::kInt), large));
  auto small = std::make_shared<const Column>(Column::fixed(TypeKind::Integer, at::arange(2, at::kInt)));
  columns.push_back(Column::dictionary(at::tensor({0, 1, 0, 1, 1}, at::kInt), small));
  chunk = Chunk(columns, 5);
  PackedChunk packed = pack_chunk(chunk, {.least = 40, .most = 40});
  ASSERT_EQ(packed.dictionaries.size(), 1U);
  EXPECT_EQ(packed.dictionaries[0], large);
  Chunk made = unpack_chunk(packed.block, packed.dictionaries);
  expect_same(made, chunk);
  EXPECT_EQ(made.column(6).dictionary_column(), large);
  EXPECT_EQ(made.column(7).dictionary_column(), large);
  EXPECT_LT(packed.block.numel(), pack_chunk(chunk).numel());
  EXPECT_TRUE(pack_chunk(chunk, {}).dictionaries.empty());
  // Without the dictionary, with one that is too short, and with one of another type.
  EXPECT_THROW(unpack_chunk(packed.block), PeerError);
  EXPECT_THROW(unpack_chunk(packed.block, {std::make_shared<const Column>(large->slice(0, 4))}), PeerError);
  EXPECT_THROW(unpack_chunk(packed.block, {small}), PeerError);
}

// Any bytes yield rows or an error, never a read outside the block.
TEST(ChunkPacking, SurvivesDamage) {
  at::Tensor block = pack_chunk(sample_chunk());
  std::mt19937 random(5);
  for (int round = 0; round < 5000; ++round) {
    at::Tensor damaged = block.clone();
    int64_t length = round % 3 == 0 ? static_cast<int64_t>(random() % static_cast<uint64_t>(block.numel())) : block.numel();
    damaged = damaged.narrow(0, 0, length).clone();
    for (int i = 0; i < 3 && length > 0; ++i)
      damaged.mutable_data_ptr<uint8_t>()[random() % static_cast<uint64_t>(std::min<int64_t>(length, 300))] =
          static_cast<uint8_t>(random());
    try {
      Chunk made = unpack_chunk(damaged);
      for (const Column& column : made.columns()) {
        for (int64_t row = 0; row < std::min<int64_t>(made.rows(), 5); ++row) value_at(column, row).to_string();
      }
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace pistachio
