#include "network/rendezvous.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "base/error.h"
#include "network/rank_card.h"

namespace pistachio {
namespace {

using namespace std::chrono_literals;

JobSecret test_secret() {
  return JobSecret::from_text("a secret that only these tests have", "test");
}

struct Outcome {
  Meeting meeting;
  std::string error;
};

// Runs the ranks as threads; `change` may alter one rank's options.
std::vector<Outcome> meet_all(int ranks, int present, const std::function<void(int, RendezvousOptions&)>& change = {},
                              std::chrono::milliseconds timeout = 30s) {
  std::vector<Outcome> outcomes(present);
  std::promise<int> port;
  std::shared_future<int> known_port = port.get_future();
  std::vector<std::thread> threads;
  for (int rank = 0; rank < present; ++rank) {
    threads.emplace_back([&, rank] {
      JobIdentity identity{.rank = rank, .ranks = ranks, .local_rank = rank, .master_address = "127.0.0.1", .master_port = 0};
      RendezvousOptions options{
          .timeout = timeout, .secret = test_secret(), .version = "1.0", .settings = {{"chunk_rows", "65536"}, {"overlap", "on"}}};
      if (change) change(rank, options);
      try {
        if (rank != 0) identity.master_port = known_port.get();
        Rendezvous rendezvous(identity, options);
        if (rank == 0) port.set_value(rendezvous.port());
        outcomes[rank].meeting = rendezvous.meet("address of " + std::to_string(rank) + std::string(1, '\0'));
      } catch (const UserError& error) {
        outcomes[rank].error = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return outcomes;
}

TEST(RendezvousTest, EveryRankLearnsAboutEveryRank) {
  constexpr int kRanks = 5;
  std::vector<Outcome> outcomes = meet_all(kRanks, kRanks);
  for (const Outcome& outcome : outcomes) {
    ASSERT_EQ(outcome.error, "");
    ASSERT_EQ(outcome.meeting.ranks.size(), static_cast<size_t>(kRanks));
    EXPECT_EQ(outcome.meeting.key.text(), outcomes[0].meeting.key.text());
    EXPECT_NE(outcome.meeting.key.text(), test_secret().text());
    for (int rank = 0; rank < kRanks; ++rank) {
      const RankInfo& info = outcome.meeting.ranks[rank];
      EXPECT_EQ(info.rank, rank);
      EXPECT_EQ(info.address, "address of " + std::to_string(rank) + std::string(1, '\0'));
      EXPECT_EQ(info.pid, getpid());
      EXPECT_EQ(info.host_index, 0);
      EXPECT_FALSE(info.host.empty());
      EXPECT_GE(info.cores, 1);
    }
  }
  EXPECT_NE(meet_all(1, 1)[0].meeting.key.text(), outcomes[0].meeting.key.text()) << "the key is made anew for each job";
}

TEST(RendezvousTest, MissingRanksAreNamed) {
  std::vector<Outcome> outcomes = meet_all(4, 2, {}, 2s);
  for (const Outcome& outcome : outcomes)
    EXPECT_NE(outcome.error.find("2 of 4 ranks are missing: 2, 3"), std::string::npos) << outcome.error;
}

TEST(RendezvousTest, StoreOwnerCanAbortRendezvous) {
  auto change = [](int rank, RendezvousOptions& options) {
    if (rank == 0) options.while_waiting = [] { throw UserError("rank 3 has ended"); };
  };
  for (const Outcome& outcome : meet_all(4, 3, change)) EXPECT_EQ(outcome.error, "rank 3 has ended");
}

// A job of two ranks whose rank 1 is restarted.
class ReturnTest : public testing::Test {
 protected:
  ReturnTest() : first_(identity(0, 0), options("1.0")) {
    identity_ = identity(1, first_.port());
    std::thread other([&] {
      Rendezvous second(identity_, options("1.0"));
      second.meet("old address");
    });
    meeting_ = first_.meet("first address");
    other.join();
  }
  static JobIdentity identity(int rank, int port) {
    return {.rank = rank, .ranks = 2, .local_rank = rank, .master_address = "127.0.0.1", .master_port = port};
  }
  static RendezvousOptions options(const std::string& version) {
    return {.timeout = 30s, .secret = test_secret(), .version = version, .settings = {{"overlap", "on"}}, .may_return = true};
  }
  std::future<Outcome> start_again(RendezvousOptions how) {
    return std::async(std::launch::async, [this, how] {
      Outcome outcome;
      try {
        Rendezvous again(identity_, how);
        outcome.meeting = again.meet("new address");
      } catch (const UserError& error) {
        outcome.error = error.what();
      }
      return outcome;
    });
  }
  RankCard wait_for_card() {
    while (true) {
      if (std::optional<RankCard> card = first_.find_return(1)) return *card;
      std::this_thread::sleep_for(5ms);
    }
  }

  JobIdentity identity_;
  Rendezvous first_;
  Meeting meeting_;
};

TEST_F(ReturnTest, RestartedRankIsAdmitted) {
  EXPECT_FALSE(first_.find_return(1));
  for (int incarnation = 1; incarnation <= 2; ++incarnation) {
    std::future<Outcome> again = start_again(options("1.0"));
    RankCard card = wait_for_card();
    RankInfo info = first_.check_return(card);
    EXPECT_EQ(info.incarnation, incarnation);
    EXPECT_EQ(info.address, "new address");
    EXPECT_EQ(info.host_index, 0);
    first_.welcome(card, {0}, 17);
    Outcome outcome = again.get();
    EXPECT_EQ(outcome.error, "");
    EXPECT_EQ(outcome.meeting.key.text(), meeting_.key.text());
    EXPECT_EQ(outcome.meeting.first_query, 17);
    EXPECT_EQ(outcome.meeting.lost, std::vector<int>{0});
    EXPECT_EQ(outcome.meeting.ranks.at(0).address, "first address");
    EXPECT_EQ(outcome.meeting.ranks.at(1).incarnation, incarnation);
    EXPECT_FALSE(first_.find_return(1)) << "it is known now";
  }
}

TEST_F(ReturnTest, IncompatibleRankIsRejected) {
  std::future<Outcome> again = start_again(options("1.1"));
  RankCard card = wait_for_card();
  EXPECT_THROW(first_.check_return(card), UserError);
  first_.refuse_return(card, "run the same version everywhere");
  EXPECT_EQ(again.get().error, "run the same version everywhere");
  EXPECT_FALSE(first_.find_return(1));
}

TEST_F(ReturnTest, WithoutRestartsSecondProcessIsAnError) {
  RendezvousOptions strict = options("1.0");
  strict.may_return = false;
  EXPECT_NE(start_again(strict).get().error.find("two processes say they are rank 1"), std::string::npos);
}

TEST(RendezvousTest, AnotherVersionIsNamed) {
  auto change = [](int rank, RendezvousOptions& options) {
    if (rank == 2) options.version = "1.1";
  };
  for (const Outcome& outcome : meet_all(3, 3, change)) {
    EXPECT_NE(outcome.error.find("rank 2 (host "), std::string::npos) << outcome.error;
    EXPECT_NE(outcome.error.find("runs version 1.1"), std::string::npos) << outcome.error;
  }
}

TEST(RendezvousTest, DifferingSettingIsNamed) {
  auto change = [](int rank, RendezvousOptions& options) {
    if (rank == 1) options.settings[0].second = "1024";
  };
  for (const Outcome& outcome : meet_all(3, 3, change)) {
    EXPECT_NE(outcome.error.find("chunk_rows is 1024 on rank 1"), std::string::npos) << outcome.error;
  }
}

TEST(RendezvousTest, DuplicateRankIsAnError) {
  RendezvousOptions options{.timeout = 2s, .secret = test_secret(), .version = "1.0", .settings = {}};
  Rendezvous first(JobIdentity{.rank = 0, .ranks = 2, .master_port = 0}, options);
  auto meet_as_one = [&] {
    try {
      Rendezvous again(JobIdentity{.rank = 1, .ranks = 2, .master_port = first.port()}, options);
      again.meet("x");
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string("met");
  };
  auto one = std::async(std::launch::async, meet_as_one);
  auto other = std::async(std::launch::async, meet_as_one);
  std::string texts = one.get() + other.get();
  EXPECT_NE(texts.find("two processes say they are rank 1"), std::string::npos) << texts;
}

TEST(RendezvousTest, UnreachableAddressIsNamed) {
  RendezvousOptions options{.timeout = 1s, .secret = test_secret(), .version = "1.0", .settings = {}};
  try {
    Rendezvous rendezvous(JobIdentity{.rank = 1, .ranks = 2, .master_address = "127.0.0.1", .master_port = 1}, options);
    FAIL() << "there is nobody";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("rank 1 cannot reach rank 0 at 127.0.0.1:1"), std::string::npos) << error.what();
  }
}

TEST(RendezvousTest, OccupiedPortIsNamed) {
  RendezvousOptions options{.timeout = 2s, .version = "1.0", .settings = {}};
  Rendezvous first(JobIdentity{.rank = 0, .ranks = 2, .master_port = 0}, options);
  try {
    Rendezvous second(JobIdentity{.rank = 0, .ranks = 2, .master_port = first.port()}, options);
    FAIL() << "the port is taken";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("cannot listen on port"), std::string::npos) << error.what();
  }
}

TEST(RankCardTest, PackedCardsRoundTripAndGarbageIsRejected) {
  RankCard card = card_of_this_process();
  card.version = "1.0";
  card.info.address = std::string("\0:7:x", 5);
  card.settings = {{"a", ""}, {"b", "1:2"}};
  std::string bytes = pack_card(card);
  RankCard copy = unpack_card(3, bytes);
  EXPECT_EQ(copy.info.rank, 3);
  EXPECT_EQ(copy.info.address, card.info.address);
  EXPECT_EQ(copy.settings, card.settings);
  EXPECT_EQ(copy.machine, card.machine);
  for (std::string garbage :
       {std::string(), std::string("x"), std::string("99:a"), std::string("-1:a"), bytes.substr(0, bytes.size() - 1)}) {
    EXPECT_THROW(unpack_card(3, garbage), UserError) << garbage;
  }
}

TEST(RankCardTest, HostsAreNumberedByMachine) {
  std::vector<RankCard> cards(4);
  cards[0].machine = cards[2].machine = "left/1";
  cards[1].machine = cards[3].machine = "right/2";
  std::vector<RankInfo> ranks = number_hosts(cards);
  EXPECT_EQ(ranks[0].host_index, 0);
  EXPECT_EQ(ranks[1].host_index, 1);
  EXPECT_EQ(ranks[2].host_index, 0);
  EXPECT_EQ(ranks[3].host_index, 1);
}

TEST(RankCardTest, OneMachineMaySimulateSeveralHosts) {
  std::vector<RankCard> cards(4);
  for (RankCard& card : cards) card.machine = "left/1";
  cards[0].info.host = cards[1].info.host = "one";
  cards[2].info.host = cards[3].info.host = "two";
  std::vector<RankInfo> ranks = number_hosts(cards);
  EXPECT_EQ(ranks[1].host_index, 0);
  EXPECT_EQ(ranks[2].host_index, 1);
  EXPECT_EQ(ranks[3].host_index, 1);
  for (const RankInfo& rank : ranks) EXPECT_EQ(rank.machine_index, 0);
}

TEST(RankCardTest, HostKeyStaysWhenRankRestartsElsewhere) {
  std::vector<RankCard> cards(3);
  cards[0].machine = "left/1";
  cards[1].machine = cards[2].machine = "right/1";
  std::vector<RankInfo> before = number_hosts(cards);
  EXPECT_EQ(before[1].host_key, before[2].host_key);
  EXPECT_NE(before[0].host_key, before[2].host_key);
  cards[1].machine = "third/1";
  std::vector<RankInfo> after = number_hosts(cards);
  EXPECT_EQ(after[1].host_index, before[2].host_index);  // so an index means nothing to a rank that met the others earlier
  EXPECT_NE(after[1].host_key, before[2].host_key);
}

}  // namespace
}  // namespace pistachio
