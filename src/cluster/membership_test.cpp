#include "cluster/membership.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/error.h"

namespace pistachio {
namespace {

using namespace std::chrono_literals;
using LossSource = Membership::LossSource;

constexpr int kRanks = 4;

std::string error_of(const Membership& membership) {
  try {
    membership.wait_for_all({});
  } catch (const PeerError& error) {
    return error.message();
  }
  return "";
}

TEST(MembershipTest, WithoutRestartsLossIsFinal) {
  Membership membership(kRanks, false, 60s);
  EXPECT_EQ(error_of(membership), "");
  membership.lose(2, "it is silent");
  membership.lose(1, "it is silent too");
  membership.lose(2, "a second witness");
  EXPECT_EQ(membership.losses(), 2u);
  EXPECT_EQ(error_of(membership), "rank 2 is lost, and this statement needs all ranks: it is silent; start the cluster again");
}

TEST(MembershipTest, RankReturnsOnceAllLiveRanksMetIt) {
  Membership membership(kRanks, true, 60s);
  membership.lose(2, "it was killed");
  membership.begin_rejoin(2, 1);
  EXPECT_EQ(membership.returning(), 2);
  for (int by : {0, 1, 2}) {
    membership.note_connected(2, 1, by);
    EXPECT_TRUE(membership.is_lost(2)) << by;
  }
  membership.note_connected(2, 0, 3);  // of an older process
  EXPECT_TRUE(membership.is_lost(2));
  std::thread last([&] {
    std::this_thread::sleep_for(20ms);
    membership.note_connected(2, 1, 3);
  });
  EXPECT_EQ(error_of(membership), "");
  last.join();
  EXPECT_FALSE(membership.is_lost(2));
  EXPECT_FALSE(membership.returning());
  EXPECT_EQ(membership.take_restored(), std::vector<std::string>{"rank 2 was lost (it was killed) and started again"});
  EXPECT_TRUE(membership.take_restored().empty());
}

TEST(MembershipTest, LostRanksAreNotAwaited) {
  Membership membership(kRanks, true, 60s);
  membership.lose(2, "it was killed");
  membership.lose(3, "it was killed too");
  membership.begin_rejoin(2, 1);
  for (int by : {0, 2}) membership.note_connected(2, 1, by);
  EXPECT_TRUE(membership.is_lost(2));
  membership.lose(1, "it has followed");  // and will not connect
  EXPECT_FALSE(membership.is_lost(2));
  EXPECT_TRUE(membership.is_lost(3));
  EXPECT_TRUE(membership.is_lost(1));
}

TEST(MembershipTest, LossOfOldProcessDoesNotAbortReturn) {
  Membership membership(kRanks, true, 60s);
  membership.lose(2, "it was killed", LossSource::Launcher);
  membership.begin_rejoin(2, 1);
  membership.lose(2, "the connection broke");  // the network notices now
  EXPECT_EQ(membership.returning(), 2);
  membership.note_connected(2, 1, 0);
  membership.lose(2, "the connection broke again");  // this is the new one
  EXPECT_FALSE(membership.returning());
  EXPECT_TRUE(membership.is_lost(2));
  membership.begin_rejoin(2, 2);
  membership.lose(2, "it was killed again", LossSource::Launcher);
  EXPECT_FALSE(membership.returning());
  EXPECT_EQ(membership.why_lost(2), "it was killed again");
  EXPECT_EQ(membership.losses(), 1u);
}

TEST(MembershipTest, WaitingEnds) {
  Membership impatient(kRanks, true, 30ms);
  impatient.lose(1, "it was killed");
  EXPECT_EQ(error_of(impatient), "rank 1 is lost, and this statement needs all ranks: it was killed; it has not come back for 0.0 s");
  Membership patient(kRanks, true, 1h);
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
  Membership again(kRanks, true, 1h);
  again.lose(1, "it was killed");
  EXPECT_THROW(again.wait_for_all(source.token()), Cancelled);
  CancelSource limited({}, std::chrono::steady_clock::now() + 10ms);
  EXPECT_THROW(again.wait_for_all(limited.token()), Cancelled);
}

}  // namespace
}  // namespace pistachio
