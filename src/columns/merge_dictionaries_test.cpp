#include "columns/merge_dictionaries.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <new>

#include "columns/concatenate_columns.h"
#include "columns/scalar_access.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {
namespace {

std::shared_ptr<const Column> words(const std::vector<std::string>& values) {
  std::vector<ScalarValue> cells;
  for (const std::string& value : values) cells.push_back(ScalarValue::of_text(TypeKind::Varchar, value));
  return std::make_shared<const Column>(column_of_values(TypeKind::Varchar, cells));
}

Column coded(std::shared_ptr<const Column> dictionary, const std::vector<int32_t>& codes, at::Tensor validity = {}) {
  return Column::dictionary(at::tensor(codes, at::kInt), std::move(dictionary), std::move(validity));
}

void expect_same_rows(const std::vector<Column>& left, const std::vector<Column>& right) {
  ASSERT_EQ(left.size(), right.size());
  for (size_t i = 0; i < left.size(); ++i) {
    ASSERT_EQ(left[i].rows(), right[i].rows());
    ASSERT_EQ(left[i].type(), right[i].type());
    for (int64_t row = 0; row < left[i].rows(); ++row)
      ASSERT_EQ(value_at(left[i], row).to_string(), value_at(right[i], row).to_string()) << i << " " << row;
  }
}

bool have_one_dictionary(const std::vector<Column>& pieces) {
  return std::all_of(pieces.begin(), pieces.end(), [&](const Column& piece) {
    return piece.is_dictionary() && piece.dictionary_column() == pieces[0].dictionary_column();
  });
}

TEST(MergeDictionaries, SeveralDictionariesBecomeOne) {
  DictionaryMerger merger;
  std::vector<Column> pieces{coded(words({"left", "right"}), {0, 1, 1}, at::tensor({1, 0, 1}).to(at::kBool)),
                             coded(words({"right", "", "up"}), {2, 1, 0, 0}), coded(words({"left"}), {})};
  std::vector<Column> merged = merger.merge(pieces);
  expect_same_rows(merged, pieces);
  EXPECT_TRUE(have_one_dictionary(merged));
  EXPECT_EQ(merged[0].dictionary_column()->rows(), 4);
  EXPECT_TRUE(concatenate_columns(merged).is_dictionary());
}

TEST(MergeDictionaries, OnlyWideNumbersAreMerged) {
  auto pieces_of = [](LogicalType type, const at::Tensor& values) {
    auto first = std::make_shared<const Column>(Column::fixed(type, values.slice(0, 0, 6).contiguous()));
    auto second = std::make_shared<const Column>(Column::fixed(type, values.slice(0, 4).contiguous()));
    return std::vector<Column>{coded(first, {0, 5, 5, 2}), coded(second, {0, 1, 2, 3})};
  };
  const at::Tensor numbers = at::arange(8, at::kLong) * 1000000007;
  const std::vector<std::pair<LogicalType, at::Tensor>> wide{{TypeKind::BigInt, numbers},
                                                             {TypeKind::Double, numbers.to(at::kDouble)},
                                                             {LogicalType::decimal(38, 2), numbers.view({8, 1}).repeat({1, 2})}};
  for (const auto& [type, values] : wide) {
    DictionaryMerger merger;
    std::vector<Column> pieces = pieces_of(type, values), merged = merger.merge(pieces);
    expect_same_rows(merged, pieces);
    EXPECT_TRUE(have_one_dictionary(merged));
    EXPECT_EQ(merged[0].dictionary_column()->rows(), 8);
  }
  DictionaryMerger merger;
  EXPECT_FALSE(have_one_dictionary(merger.merge(pieces_of(TypeKind::Integer, at::arange(8, at::kInt)))));
}

// Otherwise it would have to be sent again.
TEST(MergeDictionaries, KnownValuesKeepMergedDictionary) {
  DictionaryMerger merger;
  auto first = words({"a", "b"}), second = words({"b", "c"});
  std::shared_ptr<const Column> made = merger.merge({coded(first, {0}), coded(second, {1})})[0].dictionary_column();
  EXPECT_EQ(merger.merge({coded(second, {0, 1}), coded(first, {0})})[1].dictionary_column(), made);
  EXPECT_EQ(merger.merge({coded(words({"c", "a"}), {0, 1})})[0].dictionary_column(), made);
  std::vector<Column> pieces{coded(words({"d", "a"}), {0, 1}), coded(first, {1})};
  std::vector<Column> merged = merger.merge(pieces);
  expect_same_rows(merged, pieces);
  EXPECT_NE(merged[0].dictionary_column(), made);
  EXPECT_TRUE(have_one_dictionary(merged));
  // Codes of the smaller dictionary stay valid in the larger one.
  expect_same_rows({*made}, {merged[0].dictionary_column()->slice(0, made->rows())});
}

TEST(MergeDictionaries, OneDictionaryIsLeftAlone) {
  DictionaryMerger merger;
  auto only = words({"a", "b"});
  EXPECT_EQ(merger.merge({coded(only, {0}), coded(only, {1})})[0].dictionary_column(), only);
  EXPECT_TRUE(merger.merge({}).empty());
}

TEST(MergeDictionaries, PartlyCodedPiecesAreUnchanged) {
  DictionaryMerger merger;
  std::vector<Column> pieces{coded(words({"a"}), {0}), *words({"b", "c"}), coded(words({"d"}), {0})};
  std::vector<Column> merged = merger.merge(pieces);
  EXPECT_EQ(merged[0].dictionary_column(), pieces[0].dictionary_column());
  EXPECT_FALSE(merged[1].is_dictionary());
}

TEST(MergeDictionaries, TooManyValuesStopMerging) {
  DictionaryMerger merger;
  auto numbers = [](int64_t first, int64_t count) {
    return std::make_shared<const Column>(Column::fixed(TypeKind::BigInt, at::arange(first, first + count, at::kLong)));
  };
  const int64_t half = DictionaryMerger::kMaxEntries / 2;
  EXPECT_TRUE(have_one_dictionary(merger.merge({coded(numbers(0, half), {1}), coded(numbers(half, half), {2})})));
  std::vector<Column> pieces{coded(numbers(half, 2), {0, 1}), coded(numbers(5 * half, 2), {0})};
  std::vector<Column> merged = merger.merge(pieces);
  expect_same_rows(merged, pieces);
  EXPECT_FALSE(have_one_dictionary(merged));
  EXPECT_FALSE(have_one_dictionary(merger.merge({coded(words({"a"}), {0}), coded(words({"b"}), {0})})));
}

TEST(MergeDictionaries, ChunksKeepTheirOtherColumns) {
  ChunkDictionaryMerger merger(2);
  auto piece = [](const std::vector<std::string>& entries, int64_t first) {
    return Chunk({Column::fixed(TypeKind::BigInt, at::arange(first, first + 2, at::kLong)), coded(words(entries), {1, 0})}, 2);
  };
  std::vector<Chunk> pieces{piece({"a", "b"}, 0), piece({"c", "a"}, 10)};
  std::vector<Chunk> merged = merger.merge(pieces);
  ASSERT_EQ(merged.size(), 2U);
  for (size_t i = 0; i < 2; ++i) expect_same_rows(merged[i].columns(), pieces[i].columns());
  EXPECT_TRUE(have_one_dictionary({merged[0].column(1), merged[1].column(1)}));
  EXPECT_EQ(ChunkDictionaryMerger(0).merge({Chunk({}, 7)})[0].rows(), 7);
}

// Tensors' memory in this test: refuses one allocation.
class RefusingAllocator final : public c10::Allocator {
 public:
  RefusingAllocator() : usual_(c10::GetCPUAllocator()) { c10::SetCPUAllocator(this, 255); }
  ~RefusingAllocator() override { c10::SetCPUAllocator(usual_, 255); }
  RefusingAllocator(const RefusingAllocator&) = delete;

  c10::DataPtr allocate(size_t bytes) override {
    if (refused_ >= 0 && refused_-- == 0) throw std::bad_alloc();
    return usual_->allocate(bytes);
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { usual_->copy_data(to, from, bytes); }
  void refuse(int number) { refused_ = number; }
  bool has_refused() const { return refused_ < 0; }

 private:
  c10::Allocator* usual_;
  int refused_ = -1;
};

TEST(MergeDictionaries, CallThatRanOutOfMemoryCanBeRepeated) {
  const std::vector<Column> first{coded(words({"left", "right"}), {0, 1, 1}), coded(words({"right", "up"}), {1, 0})};
  const std::vector<Column> pieces{coded(words({"down", "left", "in"}), {2, 0, 1}), coded(words({"out", "right"}), {0, 1, 0})};
  RefusingAllocator allocator;
  int refusals = 0;
  for (bool has_refused = true; has_refused; ++refusals) {
    DictionaryMerger merger;
    merger.merge(first);
    allocator.refuse(refusals);
    try {
      merger.merge(pieces);
    } catch (const std::exception&) {
    }
    has_refused = allocator.has_refused();
    allocator.refuse(-1);
    const std::vector<Column> merged = merger.merge(pieces);
    expect_same_rows(merged, pieces);
    EXPECT_TRUE(have_one_dictionary(merged));
    EXPECT_EQ(merged[0].dictionary_column()->rows(), 6);
  }
  EXPECT_GT(refusals, 3);
}

}  // namespace
}  // namespace pistachio
