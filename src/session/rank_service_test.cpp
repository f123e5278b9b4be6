#include "cluster/rank_service.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <future>

#include "network/loopback_transport.h"
#include "parser/parse.h"
#include "session/session.h"

namespace pistachio {
namespace {

class Ignore final : public ResultReceiver {
 public:
  void begin(const std::vector<ResultColumn>&) override {}
  void add(const Chunk& chunk) override { rows += chunk.rows(); }
  void end() override {}
  int64_t rows = 0;
};

Settings small_engine() {
  Settings settings;
  settings.threads = 2;
  settings.memory_limit = int64_t{256} << 20;
  settings.spread_tables = true;
  settings.allow_faults = true;
  return settings;
}

class RankServiceTest : public testing::Test {
 protected:
  static constexpr int kRanks = 3;

  explicit RankServiceTest(const RankServiceOptions& options = {}) : engine_(small_engine()), network_(kRanks) {
    for (int rank = 0; rank < kRanks; ++rank)
      services_.push_back(std::make_unique<RankService>(engine_, network_.transport(rank), options));
    session_ = std::make_unique<Session>(engine_, services_[0].get());
    run("CREATE TABLE t(a BIGINT)");
    run("INSERT INTO t VALUES (1), (2), (3), (4), (5), (6), (7), (8)");
  }

  int64_t run(const std::string& sql) {
    Ignore receiver;
    for (ast::Statement& statement : parse_statements(sql))
      session_->execute(std::make_shared<const ast::Statement>(std::move(statement)), receiver, {});
    return receiver.rows;
  }
  std::string error_of(const std::string& sql) {
    try {
      run(sql);
    } catch (const Error& error) {
      return error.message();
    }
    return "";
  }

  // Starts kJoin on another thread and returns once it is running. It cannot end: messages from `held` to rank 0 are held back.
  template <class Run>
  auto start_join(int held, Run run_join) {
    run(kJoin);  // measures the links, which held messages would stop
    int64_t before = services_[0]->next_query();
    network_.hold(held, 0, true);
    auto statement = std::async(std::launch::async, run_join);
    while (services_[0]->next_query() == before) std::this_thread::yield();
    return statement;
  }

  static constexpr const char* kJoin = "SELECT x.a, count(*) FROM t x JOIN t y ON x.a = y.a GROUP BY x.a";

  EngineInstance engine_;
  LoopbackNetwork network_;
  std::vector<std::unique_ptr<RankService>> services_;
  std::unique_ptr<Session> session_;
};

TEST_F(RankServiceTest, StatementThatNeedsLostRankNamesIt) {
  EXPECT_EQ(run(kJoin), 8);
  services_[0]->lose(2, "rank 2 (host left, process 4711) is silent");
  // A rank that ends in the middle of a message can silence others.
  services_[0]->lose(1, "rank 1 is silent too");
  EXPECT_EQ(error_of(kJoin),
            "rank 2 is lost, and this statement needs all ranks: rank 2 (host left, process 4711) is silent; start the cluster again");
  run("SET spread_tables = off");
  EXPECT_EQ(run(kJoin), 8);
}

// The first rank still reaches both.
TEST_F(RankServiceTest, LossSeenByAnotherRankIsFullyReported) {
  services_[1]->lose(2, "rank 2 (host left, process 4711) is silent");
  EXPECT_EQ(error_of(kJoin), "rank 2 (host left, process 4711) is silent (seen by rank 1)");
  EXPECT_EQ(error_of(kJoin), "rank 2 (host left, process 4711) is silent (seen by rank 1)");
}

TEST_F(RankServiceTest, LostRankEndsTheStatement) {
  auto statement = start_join(2, [&] { return error_of(kJoin); });
  network_.lose(2);
  EXPECT_NE(statement.get().find("rank 2"), std::string::npos);
}

TEST_F(RankServiceTest, AnswersAreCorrectAfterRankError) {
  for (int i = 0; i < 20; ++i) {
    std::string error = error_of(fmt::format("SELECT x.a / (x.a - {}) FROM t x JOIN t y ON x.a = y.a", 1 + i % 8));
    EXPECT_NE(error.find("zero"), std::string::npos) << error;
    EXPECT_EQ(run(kJoin), 8);
  }
}

// An error of a rank must leave no state behind.
TEST_F(RankServiceTest, AnswersAreCorrectAfterFaultAtEveryPoint) {
  int64_t faults = 0;
  run(kJoin);
  int64_t used = engine_.governor().used();
  for (std::string_view point : FaultPlan::point_names()) {
    for (const char* where : {":0", ":1"}) {
      for (auto [action, text] : {std::pair("nomemory", "out of memory"), std::pair("nospace", "No space left")}) {
        run(fmt::format("SET fault_at = '{}{}={}'", point, where, action));
        std::string error = error_of("SELECT x.a, count(*) FROM t x JOIN t y ON x.a = y.a GROUP BY x.a ORDER BY 1");
        if (!error.empty()) {
          ++faults;
          EXPECT_NE(error.find(text), std::string::npos) << point << where << " " << error;
        }
        run("SET fault_at = ''");
        EXPECT_EQ(run(kJoin), 8) << point << where;
      }
    }
  }
  EXPECT_GE(faults, 20);
  EXPECT_EQ(engine_.governor().used(), used);
}

TEST_F(RankServiceTest, MemoryOfAllRanksIsShown) {
  EXPECT_EQ(run("SHOW memory"), kRanks);
  network_.lose(2);
  while (!services_[0]->membership().is_lost(2)) std::this_thread::yield();
  EXPECT_EQ(run("SHOW memory"), kRanks);
  std::vector<std::optional<MemoryFigures>> figures = services_[0]->memory({}, engine_.settings());
  ASSERT_EQ(figures.size(), static_cast<size_t>(kRanks));
  EXPECT_TRUE(figures[0] && figures[1]);
  EXPECT_FALSE(figures[2]);
  EXPECT_EQ(figures[1]->limit, int64_t{256} << 20);
}

// Lost ranks are started again; the test is the launcher.
class ReturningRanksTest : public RankServiceTest {
 protected:
  ReturningRanksTest() : RankServiceTest({.ranks_return = true}) {}

  void restart(int rank) {
    auto place = static_cast<size_t>(rank);
    services_[place].reset();
    RankInfo info = network_.restart(rank);
    services_[0]->begin_rejoin(info);
    RankServiceOptions options{.ranks_return = true, .incarnation = info.incarnation, .first_query = services_[0]->next_query()};
    services_[place] = std::make_unique<RankService>(engine_, network_.transport(rank), options);
  }
};

TEST_F(ReturningRanksTest, StatementWaitsForLostRank) {
  EXPECT_EQ(run(kJoin), 8);
  network_.lose(2);
  while (!services_[0]->membership().is_lost(2)) std::this_thread::yield();
  auto statement = std::async(std::launch::async, [&] { return run(kJoin); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  restart(2);
  EXPECT_EQ(statement.get(), 8);
  EXPECT_EQ(session_->notes(), std::vector<std::string>{"rank 2 was lost (rank 2 was lost) and started again"});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(run(kJoin), 8);
  EXPECT_TRUE(session_->notes().empty());
}

TEST_F(ReturningRanksTest, StatementThatLosesRankIsRetried) {
  for (int lost : {2, 1}) {
    auto statement = start_join(lost, [&] { return run(kJoin); });
    network_.lose(lost);
    while (!services_[0]->membership().is_lost(lost)) std::this_thread::yield();
    restart(lost);
    EXPECT_EQ(statement.get(), 8);
    ASSERT_EQ(session_->notes().size(), 1u);
    EXPECT_EQ(session_->notes()[0], fmt::format("rank {0} was lost (rank {0} was lost) and started again; the query was run again", lost));
  }
}

TEST_F(ReturningRanksTest, WithoutRetriesStatementThatLosesRankFails) {
  run("SET retry_queries = off");
  auto statement = start_join(2, [&] { return error_of(kJoin); });
  network_.lose(2);
  EXPECT_EQ(statement.get(), "rank 2 was lost");
  restart(2);
  EXPECT_EQ(run(kJoin), 8);
}

// Delivered rows cannot be taken back.
TEST_F(ReturningRanksTest, StatementIsNotRetriedAfterReturningRows) {
  class WithFirstRows final : public ResultReceiver {
   public:
    explicit WithFirstRows(std::function<void()> action) : action_(std::move(action)) {}
    void begin(const std::vector<ResultColumn>&) override {}
    void add(const Chunk&) override { std::exchange(action_, [] {})(); }
    void end() override {}

   private:
    std::function<void()> action_;
  } receiver([&] {
    network_.lose(2);
    while (!services_[0]->membership().is_lost(2)) std::this_thread::yield();
  });
  std::string message;
  try {
    std::vector<ast::Statement> parsed = parse_statements(kJoin);
    session_->execute(std::make_shared<const ast::Statement>(std::move(parsed[0])), receiver, {});
  } catch (const PeerError& error) {
    message = error.message();
  }
  EXPECT_EQ(message, "rank 2 was lost; part of the result was already returned, so the query was not retried");
  restart(2);
  EXPECT_EQ(run(kJoin), 8);
}

TEST_F(ReturningRanksTest, TwoLostRanksReturn) {
  network_.lose(1);
  network_.lose(2);
  for (int rank : {1, 2}) {
    while (!services_[0]->membership().is_lost(rank)) std::this_thread::yield();
  }
  restart(1);
  while (services_[0]->membership().returning()) std::this_thread::yield();
  EXPECT_TRUE(services_[0]->membership().is_lost(2));
  restart(2);
  EXPECT_EQ(run(kJoin), 8);
}

TEST_F(ReturningRanksTest, RankUnreachableForOneIsLostForAll) {
  services_[1]->lose(2, "rank 2 (host left, process 4711) is silent");
  auto statement = std::async(std::launch::async, [&] { return run(kJoin); });
  // It ends, so that whoever started it sees that.
  try {
    services_[2]->wait({});
    ADD_FAILURE() << "rank 0 is there";
  } catch (const PeerError& error) {
    EXPECT_EQ(error.message(), "rank 0 has given up rank 2: rank 1 has lost it");
  }
  while (!services_[0]->membership().is_lost(2)) std::this_thread::yield();
  restart(2);
  EXPECT_EQ(statement.get(), 8);
}

TEST_F(RankServiceTest, WaitingForTheFirstRankCanBeCancelled) {
  CancelSource source;
  source.cancel("enough");
  EXPECT_THROW(services_[1]->wait(source.token()), Cancelled);
}

}  // namespace
}  // namespace pistachio
