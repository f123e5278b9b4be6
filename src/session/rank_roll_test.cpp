#include "session/rank_roll.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/error.h"

namespace pistachio {
namespace {

using namespace std::chrono_literals;
using Witness = RankRoll::Witness;

constexpr int kRanks = 4;

std::string error_of(const RankRoll& roll) {
  try {
    roll.wait_for_all({});
  } catch (const PeerError& error) {
    return error.message();
  }
  return "";
}

TEST(RankRollTest, WithoutReturnsALossIsTheEnd) {
  RankRoll roll(kRanks, false, 60s);
  EXPECT_EQ(error_of(roll), "");
  roll.lose(2, "it is silent");
  roll.lose(1, "it is silent too");
  roll.lose(2, "a second witness");
  EXPECT_EQ(roll.losses(), 2u);
  EXPECT_EQ(error_of(roll), "rank 2 is lost, and this statement needs all ranks: it is silent; start the cluster again");
}

TEST(RankRollTest, ARankIsBackWhenAllThatAreThereHaveMetIt) {
  RankRoll roll(kRanks, true, 60s);
  roll.lose(2, "it was killed");
  roll.begin_return(2, 1);
  EXPECT_EQ(roll.returning(), 2);
  for (int by : {0, 1, 2}) {
    roll.note_met(2, 1, by);
    EXPECT_TRUE(roll.is_lost(2)) << by;
  }
  roll.note_met(2, 0, 3);  // of an older process
  EXPECT_TRUE(roll.is_lost(2));
  std::thread last([&] {
    std::this_thread::sleep_for(20ms);
    roll.note_met(2, 1, 3);
  });
  EXPECT_EQ(error_of(roll), "");
  last.join();
  EXPECT_FALSE(roll.is_lost(2));
  EXPECT_FALSE(roll.returning());
  EXPECT_EQ(roll.take_news(), std::vector<std::string>{"rank 2 was lost (it was killed) and started again"});
  EXPECT_TRUE(roll.take_news().empty());
}

TEST(RankRollTest, RanksThatAreLostThemselvesAreNotAwaited) {
  RankRoll roll(kRanks, true, 60s);
  roll.lose(2, "it was killed");
  roll.lose(3, "it was killed too");
  roll.begin_return(2, 1);
  for (int by : {0, 2}) roll.note_met(2, 1, by);
  EXPECT_TRUE(roll.is_lost(2));
  roll.lose(1, "it has followed");  // and will not meet anybody
  EXPECT_FALSE(roll.is_lost(2));
  EXPECT_TRUE(roll.is_lost(3));
  EXPECT_TRUE(roll.is_lost(1));
}

TEST(RankRollTest, TheLossOfTheOldProcessDoesNotEndTheReturnOfTheNewOne) {
  RankRoll roll(kRanks, true, 60s);
  roll.lose(2, "it was killed", Witness::Launcher);
  roll.begin_return(2, 1);
  roll.lose(2, "the connection broke");  // the network notices now
  EXPECT_EQ(roll.returning(), 2);
  roll.note_met(2, 1, 0);
  roll.lose(2, "the connection broke again");  // this is the new one
  EXPECT_FALSE(roll.returning());
  EXPECT_TRUE(roll.is_lost(2));
  roll.begin_return(2, 2);
  roll.lose(2, "it was killed again", Witness::Launcher);
  EXPECT_FALSE(roll.returning());
  EXPECT_EQ(roll.why_lost(2), "it was killed again");
  EXPECT_EQ(roll.losses(), 1u);
}

TEST(RankRollTest, WaitingEnds) {
  RankRoll impatient(kRanks, true, 30ms);
  impatient.lose(1, "it was killed");
  EXPECT_EQ(error_of(impatient), "rank 1 is lost, and this statement needs all ranks: it was killed; it has not come back for 0.0 s");
  RankRoll patient(kRanks, true, 1h);
  patient.lose(3, "it is silent");
  patient.lose(1, "it was killed");
  std::thread elsewhere([&] {
    std::this_thread::sleep_for(20ms);
    patient.give_up(1, "it has ended 5 times within a minute and is given up");
  });
  EXPECT_EQ(error_of(patient),
            "rank 1 is lost, and this statement needs all ranks: it was killed; it has ended 5 times within a minute and is given up; "
            "start the cluster again");
  elsewhere.join();
  CancelSource source;
  source.cancel("enough");
  RankRoll again(kRanks, true, 1h);
  again.lose(1, "it was killed");
  EXPECT_THROW(again.wait_for_all(source.token()), Cancelled);
  CancelSource limited({}, std::chrono::steady_clock::now() + 10ms);
  EXPECT_THROW(again.wait_for_all(limited.token()), Cancelled);
}

}  // namespace
}  // namespace pistachio
