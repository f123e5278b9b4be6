#include "columns/concatenate_columns.h"
#include "columns/column_assembly.h"
#include "columns/decode_dictionary.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {
namespace {

Column text_of(const std::vector<std::string>& values) {
  std::string all;
  std::vector<int64_t> begins;
  std::vector<int64_t> ends;
  for (const std::string& value : values) {
    begins.push_back(static_cast<int64_t>(all.size()));
    all += value;
    ends.push_back(static_cast<int64_t>(all.size()));
  }
  at::Tensor bytes = at::empty({static_cast<int64_t>(all.size())}, at::kByte);
  std::copy(all.begin(), all.end(), bytes.data_ptr<uint8_t>());
  return Column::text(TypeKind::Varchar, bytes, at::tensor(begins, at::kLong), at::tensor(ends, at::kLong));
}

std::vector<std::string> strings_of(const Column& column) {
  Column plain = decode_dictionary(column);
  std::vector<std::string> values;
  for (int64_t row = 0; row < plain.rows(); ++row) {
    int64_t begin = plain.begins()[row].item<int64_t>();
    int64_t end = plain.ends()[row].item<int64_t>();
    values.emplace_back(reinterpret_cast<const char*>(plain.bytes().data_ptr<uint8_t>()) + begin, static_cast<size_t>(end - begin));
  }
  return values;
}

TEST(ConcatenateColumnsTest, DictionaryAndPlainTextBecomePlain) {
  auto entries = std::make_shared<const Column>(text_of({"red", "green"}));
  Column coded = Column::dictionary(at::tensor({1, 0, 1}, at::kInt), entries);
  Column joined = concatenate_columns({coded, text_of({"blue", ""}), coded.slice(0, 1)});
  EXPECT_FALSE(joined.is_dictionary());
  EXPECT_EQ(strings_of(joined), (std::vector<std::string>{"green", "red", "green", "blue", "", "green"}));
}

TEST(ConcatenateColumnsTest, PiecesOfOneDictionaryStayCoded) {
  auto entries = std::make_shared<const Column>(text_of({"red", "green"}));
  Column coded = Column::dictionary(at::tensor({1, 0}, at::kInt), entries);
  Column joined = concatenate_columns({coded, coded});
  EXPECT_TRUE(joined.is_dictionary());
  EXPECT_EQ(joined.rows(), 4);
}

TEST(ConcatenateColumnsTest, DictionariesAreConcatenated) {
  auto colours = std::make_shared<const Column>(text_of({"red", "green"}));
  auto more = std::make_shared<const Column>(text_of({"green", "blue", "black"}));
  Column first = Column::dictionary(at::tensor({1, 0, 1}, at::kInt), colours);
  Column second = Column::dictionary(at::tensor({2, 0, 1}, at::kInt), more, at::tensor({1, 0, 1}, at::kInt).to(at::kBool));
  Column joined = concatenate_coded({first, second, first.slice(1, 2), second.slice(0, 1)});
  ASSERT_TRUE(joined.is_dictionary());
  EXPECT_EQ(joined.dictionary_column()->rows(), 5);
  EXPECT_EQ(strings_of(joined), (std::vector<std::string>{"green", "red", "green", "black", "green", "blue", "red", "green", "black"}));
  EXPECT_EQ(joined.validity().sum().item<int64_t>(), 8);
  // More entries than rows.
  EXPECT_FALSE(concatenate_coded({first.slice(0, 1), second.slice(0, 1)}).is_dictionary());
  EXPECT_FALSE(concatenate_coded({first, text_of({"blue"})}).is_dictionary());
}

TEST(ConcatenateColumnsTest, SlicesOfOneTextShareItsBytes) {
  Column text = text_of({"a", "bb", "ccc"});
  Column joined = concatenate_columns({text.slice(0, 1), text.slice(2, 1)});
  EXPECT_EQ(joined.bytes().numel(), 6);
  EXPECT_EQ(strings_of(joined), (std::vector<std::string>{"a", "ccc"}));
}

TEST(ConcatenateColumnsTest, MissingValidityMeansValid) {
  Column without = Column::fixed(TypeKind::BigInt, at::tensor({1, 2}, at::kLong));
  Column with = Column::fixed(TypeKind::BigInt, at::tensor({3}, at::kLong), at::zeros({1}, at::kBool));
  Column joined = concatenate_columns({without, with});
  EXPECT_EQ(joined.validity().sum().item<int64_t>(), 2);
}

// More bytes than are copied between two polls of the token.
TEST(ConcatenateColumnsTest, LargePiecesAgreeWithStockCat) {
  at::Tensor numbers = at::arange(7'000'000, at::kLong);
  Column with = Column::fixed(TypeKind::BigInt, numbers, numbers.remainder(3).ne(0));
  Column without = Column::fixed(TypeKind::BigInt, numbers.slice(0, 5, 6'000'000));
  Column joined = concatenate_columns({with, without, with.slice(1, 0), with.slice(10, 3)});
  EXPECT_TRUE(at::equal(joined.values(), kernels::concatenate_tensors({numbers, without.values(), numbers.slice(0, 10, 13)})));
  at::Tensor all_valid = at::ones({without.rows()}, at::kBool);
  EXPECT_TRUE(at::equal(joined.validity(), kernels::concatenate_tensors({with.validity(), all_valid, with.validity().slice(0, 10, 13)})));
}

TEST(ConcatenateColumnsTest, StopsWhenCancelled) {
  CancelSource source;
  source.cancel("enough");
  Column numbers = Column::fixed(TypeKind::BigInt, at::arange(7'000'000, at::kLong));
  EXPECT_THROW(concatenate_columns({numbers, numbers}, source.token()), Cancelled);
  auto coded = Column::dictionary(at::zeros({20'000'000}, at::kInt), std::make_shared<const Column>(text_of({"red"})));
  EXPECT_THROW(concatenate_columns({coded, coded}, source.token()), Cancelled);
}

// Copies the pieces from the last to the first: their order must not matter.
Column assembled(const std::vector<Column>& pieces) {
  ColumnAssembly assembly(pieces);
  for (size_t piece = pieces.size(); piece-- > 0;) assembly.copy(piece);
  return assembly.finish();
}

TEST(ColumnAssemblyTest, PiecesOfOneDictionaryStayCoded) {
  auto entries = std::make_shared<const Column>(text_of({"red", "green"}));
  Column coded = Column::dictionary(at::tensor({1, 0}, at::kInt), entries);
  Column joined = assembled({coded, coded.slice(1, 1)});
  EXPECT_TRUE(joined.is_dictionary());
  EXPECT_EQ(strings_of(joined), (std::vector<std::string>{"green", "red", "red"}));
}

TEST(ColumnAssemblyTest, SharedTextIsCopiedOnce) {
  auto entries = std::make_shared<const Column>(text_of({"red", "green"}));
  Column coded = Column::dictionary(at::tensor({1, 0, 1}, at::kInt), entries);
  Column plain = text_of({"blue", "", "violet"});
  Column joined = assembled({plain.slice(0, 2), plain.slice(2, 1), coded, plain.slice(1, 2), coded.slice(0, 1)});
  EXPECT_EQ(strings_of(joined), (std::vector<std::string>{"blue", "", "violet", "green", "red", "green", "", "violet", "green"}));
  EXPECT_EQ(joined.bytes().numel(), 2 * (10 + 8));
}

TEST(ColumnAssemblyTest, PiecesWithAndWithoutNullsMix) {
  Column numbers = Column::fixed(TypeKind::BigInt, at::tensor({1, 2, 3}, at::kLong));
  Column nulls = Column::fixed(TypeKind::BigInt, at::tensor({4, 5}, at::kLong), at::tensor({1, 0}, at::kInt).to(at::kBool));
  Column joined = assembled({numbers, nulls, numbers.slice(1, 1)});
  EXPECT_TRUE(at::equal(joined.values(), at::tensor({1, 2, 3, 4, 5, 2}, at::kLong)));
  EXPECT_TRUE(at::equal(joined.validity(), at::tensor({1, 1, 1, 1, 0, 1}, at::kInt).to(at::kBool)));
}

TEST(ColumnAssemblyTest, WideValuesKeepBothWords) {
  const at::Tensor words = at::arange(8, at::kLong).view({4, 2});
  Column wide = Column::fixed(LogicalType::decimal(38, 2), words);
  EXPECT_TRUE(at::equal(assembled({wide.slice(2, 2), wide.slice(0, 2)}).values(), words.roll(2, 0)));
}

}  // namespace
}  // namespace pistachio
