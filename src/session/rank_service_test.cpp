#include "session/rank_service.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <future>

#include "network/loopback_transport.h"
#include "parser/parse.h"

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
  return settings;
}

class RankServiceTest : public testing::Test {
 protected:
  static constexpr int kRanks = 3;

  RankServiceTest() : engine_(small_engine()), network_(kRanks) {
    for (int rank = 0; rank < kRanks; ++rank) services_.push_back(std::make_unique<RankService>(engine_, network_.transport(rank)));
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

  EngineInstance engine_;
  LoopbackNetwork network_;
  std::vector<std::unique_ptr<RankService>> services_;
  std::unique_ptr<Session> session_;
};

constexpr const char* kJoin = "SELECT x.a, count(*) FROM t x JOIN t y ON x.a = y.a GROUP BY x.a";

TEST_F(RankServiceTest, AStatementThatNeedsALostRankSaysSo) {
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
TEST_F(RankServiceTest, ALossThatOnlyAnotherRankSeesIsToldInFull) {
  services_[1]->lose(2, "rank 2 (host left, process 4711) is silent");
  EXPECT_EQ(error_of(kJoin), "rank 2 (host left, process 4711) is silent (seen by rank 1)");
  EXPECT_EQ(error_of(kJoin), "rank 2 (host left, process 4711) is silent (seen by rank 1)");
}

TEST_F(RankServiceTest, ARankThatVanishesEndsTheStatement) {
  network_.hold(2, 0, true);  // so it cannot have ended before
  auto statement = std::async(std::launch::async, [&] { return error_of(kJoin); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  network_.lose(2);
  EXPECT_NE(statement.get().find("rank 2"), std::string::npos);
}

TEST_F(RankServiceTest, AnErrorOfARankIsFollowedByGoodAnswers) {
  for (int i = 0; i < 20; ++i) {
    std::string error = error_of(fmt::format("SELECT x.a / (x.a - {}) FROM t x JOIN t y ON x.a = y.a", 1 + i % 8));
    EXPECT_NE(error.find("zero"), std::string::npos) << error;
    EXPECT_EQ(run(kJoin), 8);
  }
}

TEST_F(RankServiceTest, WaitingForTheFirstRankCanBeCancelled) {
  CancelSource source;
  source.cancel("enough");
  EXPECT_THROW(services_[1]->wait(source.token()), Cancelled);
}

}  // namespace
}  // namespace pistachio
