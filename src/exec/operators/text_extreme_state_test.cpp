#include "exec/operators/text_extreme_state.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "exec/operators/group_states.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {
namespace {

Column texts_of(const std::vector<std::string>& texts, const std::vector<bool>& valid) {
  std::string all;
  at::Tensor begins = at::empty({static_cast<int64_t>(texts.size())}, at::kLong);
  at::Tensor ends = at::empty_like(begins);
  at::Tensor validity = at::empty({begins.numel()}, at::kBool);
  for (size_t i = 0; i < texts.size(); ++i) {
    begins.mutable_data_ptr<int64_t>()[i] = static_cast<int64_t>(all.size());
    all += texts[i];
    ends.mutable_data_ptr<int64_t>()[i] = static_cast<int64_t>(all.size());
    validity.mutable_data_ptr<bool>()[i] = valid[i];
  }
  at::Tensor bytes = at::empty({static_cast<int64_t>(all.size())}, at::kByte);
  std::copy(all.begin(), all.end(), reinterpret_cast<char*>(bytes.mutable_data_ptr<uint8_t>()));
  return Column::text(TypeKind::Varchar, bytes, begins, ends, validity);
}

std::string text_at(const Column& column, int64_t row) {
  const char* bytes = reinterpret_cast<const char*>(column.bytes().const_data_ptr<uint8_t>());
  return {bytes + column.begins()[row].item<int64_t>(), bytes + column.ends()[row].item<int64_t>()};
}

// Values keep improving, so most texts in the buffer are replaced and it is compacted.
TEST(TextExtremeState, KeepsTheBestOfManyBatches) {
  for (bool take_max : {false, true}) {
    SCOPED_TRACE(take_max);
    constexpr int64_t kGroupCount = 3'000;
    std::mt19937_64 random(42);
    TextExtremeState state(TypeKind::Varchar, take_max, at::kCPU);
    state.set_groups(kGroupCount);
    std::map<int64_t, std::string> best;
    for (int batch = 0; batch < 60; ++batch) {
      // Fewer and more rows than groups; each group many times, some never.
      const int64_t rows = batch % 3 == 0 ? 5'000 : 700;
      at::Tensor ids = at::empty({rows}, at::kLong);
      std::vector<std::string> texts;
      std::vector<bool> valid;
      for (int64_t row = 0; row < rows; ++row) {
        const auto group = static_cast<int64_t>(random() % (kGroupCount - 7));
        ids.mutable_data_ptr<int64_t>()[row] = group;
        const int letter = take_max ? batch : 60 - batch;
        texts.push_back(std::string(1, static_cast<char>('0' + letter)) + std::string(random() % 90, 'x') + std::to_string(random() % 50));
        valid.push_back(random() % 5 != 0);
        if (!valid.back()) continue;
        auto [known, is_new] = best.emplace(group, texts.back());
        if (!is_new && (take_max ? known->second < texts.back() : texts.back() < known->second)) known->second = texts.back();
      }
      const Column argument = texts_of(texts, valid);
      state.update({.ids = ids, .argument = &argument});
    }
    const Column result = state.finish({}, kGroupCount);
    ASSERT_EQ(result.rows(), kGroupCount);
    for (int64_t group = 0; group < kGroupCount; ++group) {
      const bool has_value = best.contains(group);
      ASSERT_EQ(result.validity()[group].item<bool>(), has_value) << group;
      if (has_value) {
        ASSERT_EQ(text_at(result, group), best[group]) << group;
      }
    }
    // The buffer does not keep every text that was ever the best.
    EXPECT_LT(state.memory_bytes(), 8 << 20);
  }
}

// A lane reserves this bound before it adds rows.
TEST(GroupStates, MostBytesAreAnUpperBound) {
  GroupStates groups({TypeKind::BigInt, TypeKind::Varchar}, {}, at::kCPU);
  for (int64_t begin = 0; begin < 400'000; begin += 20'000) {
    const at::Tensor numbers = at::arange(begin, begin + 20'000, at::kLong);
    const at::Tensor begins = at::arange(20'000, at::kLong) * 8;
    const int64_t most = groups.most_bytes_with(20'000);
    const Column texts = Column::text(TypeKind::Varchar, numbers.view(at::kByte), begins, begins + 8);
    groups.assign({Column::fixed(TypeKind::BigInt, numbers), texts}, 20'000, {});
    EXPECT_LE(groups.memory_bytes(), most);
  }
}

}  // namespace
}  // namespace pistachio
