#include "cluster/running_query.h"

#include <gtest/gtest.h>

namespace pistachio {
namespace {

RemoteError failure_of(RemoteError::Kind kind, int rank) {
  return {.kind = kind, .message = "it failed", .position = -1, .rank = rank};
}

TEST(RunningQueryTest, RealErrorReplacesACancellation) {
  RunningQuery query{CancelToken()};
  query.fail(failure_of(RemoteError::Kind::Cancelled, 1));
  EXPECT_TRUE(query.source.is_cancelled());
  query.fail(failure_of(RemoteError::Kind::Data, 2));
  query.fail(failure_of(RemoteError::Kind::OutOfMemory, 3));
  ASSERT_TRUE(query.error.has_value());
  EXPECT_EQ(query.error->rank, 2);
}

TEST(EarlyOutcomesTest, IsTakenOnce) {
  EarlyOutcomes news;
  news.add_cancel(5);
  news.add_failure(6, failure_of(RemoteError::Kind::Peer, 3));
  EXPECT_FALSE(news.take_cancel(6));
  EXPECT_TRUE(news.take_cancel(5));
  EXPECT_FALSE(news.take_cancel(5));
  EXPECT_FALSE(news.take_failure(5).has_value());
  EXPECT_EQ(news.take_failure(6).value().rank, 3);
  EXPECT_FALSE(news.take_failure(6).has_value());
}

TEST(EarlyOutcomesTest, OldestIsForgotten) {
  EarlyOutcomes news;
  for (int64_t query = 0; query < 100; ++query) news.add_cancel(query);
  EXPECT_FALSE(news.take_cancel(0));
  EXPECT_TRUE(news.take_cancel(99));
  for (int64_t query = 0; query < 100; ++query) news.add_failure(query, failure_of(RemoteError::Kind::Data, 1));
  EXPECT_FALSE(news.take_failure(0).has_value());
  EXPECT_TRUE(news.take_failure(99).has_value());
}

}  // namespace
}  // namespace pistachio
