#include "network/exchange_dictionaries.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {
namespace {

std::shared_ptr<const Column> number_dictionary(int64_t count) {
  return std::make_shared<const Column>(Column::fixed(TypeKind::BigInt, at::arange(count, at::kLong)));
}

std::vector<std::pair<DictionaryNumber, uint32_t>> pairs(const std::vector<RetiredDictionary>& retired) {
  std::vector<std::pair<DictionaryNumber, uint32_t>> all;
  for (const RetiredDictionary& one : retired) all.emplace_back(one.number, one.references);
  return all;
}

using NumberedEntries = std::vector<std::pair<DictionaryNumber, uint32_t>>;

TEST(SentDictionaries, DictionaryIsSentOnce) {
  SentDictionaries sent(1000);
  auto first = number_dictionary(5), second = number_dictionary(5);
  EXPECT_FALSE(sent.refer(first));
  EXPECT_EQ(sent.add(first, 100).number, 0U);
  EXPECT_FALSE(sent.refer(second));
  EXPECT_EQ(sent.add(second, 100).number, 1U);
  EXPECT_EQ(sent.refer(first), 0U);
  EXPECT_EQ(sent.refer(second), 1U);
  EXPECT_EQ(sent.count(), 2);
}

TEST(SentDictionaries, LeastRecentlyUsedIsRetired) {
  SentDictionaries sent(300);
  auto first = number_dictionary(1), second = number_dictionary(1), third = number_dictionary(1), fourth = number_dictionary(1),
       large = number_dictionary(1);
  for (const auto& one : {first, second, third}) EXPECT_TRUE(sent.add(one, 100).retired.empty());
  EXPECT_EQ(sent.refer(first), 0U);
  SentDictionaries::Added added = sent.add(fourth, 150);
  EXPECT_EQ(added.number, 3U);
  EXPECT_EQ(pairs(added.retired), (NumberedEntries{{1, 1}, {2, 1}}));
  EXPECT_FALSE(sent.refer(second));
  EXPECT_EQ(sent.refer(first), 0U);
  // Exceeds the bound: allowed only alone.
  EXPECT_EQ(pairs(sent.add(large, 1000).retired), (NumberedEntries{{3, 1}, {0, 3}}));
  EXPECT_EQ(sent.refer(large), 4U);
}

TEST(SentDictionaries, DestroyedDictionaryIsRetiredAndNeverConfused) {
  SentDictionaries sent(1 << 20);
  auto first = number_dictionary(3);
  sent.add(first, 100);
  first.reset();
  for (int i = 0; i < 100; ++i) {
    auto next = number_dictionary(3);  // likely at the same address
    ASSERT_FALSE(sent.refer(next));
    SentDictionaries::Added added = sent.add(next, 100);
    ASSERT_EQ(pairs(added.retired), (NumberedEntries{{added.number - 1, 1}}));
  }
}

TEST(SentDictionaries, TheirNumberIsBounded) {
  SentDictionaries sent(1 << 20);
  std::vector<std::shared_ptr<const Column>> all;
  size_t retired = 0;
  for (int i = 0; i < 100; ++i) {
    all.push_back(number_dictionary(1));
    retired += sent.add(all.back(), 1).retired.size();
  }
  EXPECT_EQ(retired, 36U);
}

WireBlock block_of(int64_t count) {
  return {pack_dictionary(*number_dictionary(count)), false};
}

TEST(ReceivedDictionaries, AreKeptUntilAllReferencesAreConsumed) {
  ReceivedDictionaries received;
  EXPECT_FALSE(received.find({0}));
  received.add(0, block_of(3));
  EXPECT_FALSE(received.find({0, 1}));
  received.add(1, block_of(4));
  ASSERT_TRUE(received.find({0, 1}));
  EXPECT_EQ((*received.find({1}))[0]->column()->rows(), 4);
  EXPECT_EQ((*received.find({1}))[0]->column(), (*received.find({1}))[0]->column());
  EXPECT_EQ(received.release({0, 1}), 0);
  EXPECT_EQ(received.retire({{0, 3}}), 0);
  EXPECT_EQ(received.release({0}), 0);
  EXPECT_TRUE(received.find({0}));
  EXPECT_EQ(received.release({0}), block_of(3).bytes.numel());
  EXPECT_FALSE(received.find({0}));
  EXPECT_EQ(received.retire({{1, 1}}), block_of(4).bytes.numel());
  EXPECT_EQ(received.count(), 2);
}

TEST(ReceivedDictionaries, RetirementMayArriveFirst) {
  ReceivedDictionaries received;
  EXPECT_EQ(received.retire({{7, 2}}), 0);
  EXPECT_FALSE(received.find({7}));
  received.add(7, block_of(2));
  EXPECT_TRUE(received.find({7}));
  EXPECT_EQ(received.release({7}), 0);
  EXPECT_GT(received.release({7}), 0);
}

TEST(ReceivedDictionaries, DamageIsAnErrorOfThePeer) {
  ReceivedDictionaries received;
  received.add(0, block_of(2));
  EXPECT_THROW(received.add(0, block_of(2)), PeerError);
  EXPECT_THROW(received.add(1, {}), PeerError);
  received.add(2, {at::full({100}, 3, at::kByte), true});
  EXPECT_THROW((*received.find({2}))[0]->column(), PeerError);
  EXPECT_EQ(received.release({99}), 0);
}

TEST(TravellingDictionaries, HeadersRoundTrip) {
  EXPECT_EQ(numbers_of_bytes(numbers_to_bytes({1, 5, 4000000000U})), (std::vector<DictionaryNumber>{1, 5, 4000000000U}));
  EXPECT_EQ(pairs(retired_of_bytes(retired_to_bytes({{1, 2}, {3, 4}}))), (NumberedEntries{{1, 2}, {3, 4}}));
  EXPECT_THROW(numbers_of_bytes("xy"), PeerError);
  EXPECT_THROW(numbers_of_bytes(numbers_to_bytes({1, 2}).substr(0, 12)), PeerError);
  EXPECT_THROW(retired_of_bytes(retired_to_bytes({{1, 2}}).substr(0, 12)), PeerError);
}

}  // namespace
}  // namespace pistachio
