#include "network/launcher_store.h"

#include <gtest/gtest.h>

#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "base/error.h"

namespace pistachio {
namespace {

using namespace std::chrono_literals;

class LauncherStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    c10d::TCPStoreOptions own;
    own.port = 0;
    own.isServer = true;
    own.waitWorkers = false;
    store_ = c10::make_intrusive<c10d::TCPStore>("127.0.0.1", own);
  }

  JobIdentity identity(int rank) const {
    JobIdentity made;
    made.rank = rank;
    made.ranks = 2;
    made.master_address = "127.0.0.1";
    made.master_port = store_->getPort();
    made.launcher_has_store = true;
    return made;
  }
  static JobSecret secret(char letter) { return JobSecret::from_text(std::string(32, letter), "a test"); }
  // Why a rank with the secret `b` found no port; it does not wait for a correct signature.
  std::string error(std::chrono::milliseconds timeout) const {
    try {
      find_meeting_port(identity(1), secret('b'), {timeout, nullptr, 0ms});
    } catch (const UserError& problem) {
      return problem.message();
    }
    return "";
  }

  c10::intrusive_ptr<c10d::TCPStore> store_;
};

TEST_F(LauncherStoreTest, PortWithTheSameSecretIsFound) {
  publish_meeting_port(identity(0), secret('b'), 4711, {60s, nullptr});
  EXPECT_EQ(find_meeting_port(identity(1), secret('b'), {60s, nullptr}), 4711);
}

TEST_F(LauncherStoreTest, PortWithAnotherSecretEndsTheWait) {
  publish_meeting_port(identity(0), secret('a'), 4711, {60s, nullptr});
  const std::string why = error(60s);
  EXPECT_NE(why.find("rank 1 found a rank 0 with a different secret in torchrun's store"), std::string::npos) << why;
  EXPECT_NE(why.find("PISTACHIO_JOB_SECRET must be the same for all ranks"), std::string::npos) << why;
}

TEST_F(LauncherStoreTest, MissingRankZeroIsNamed) {
  const std::string why = error(1ms);
  EXPECT_NE(why.find("rank 1 found no rank 0 in torchrun's store"), std::string::npos) << why;
}

TEST_F(LauncherStoreTest, RankZeroReplacesWhatStrangersWrote) {
  store_->set("pistachio/" + identity(1).attempt + "/meeting", std::vector<uint8_t>{1, 2, 3});
  int polls = 0;
  auto publish = [&] {
    if (++polls == 2) publish_meeting_port(identity(0), secret('b'), 4711, {60s, nullptr});
  };
  EXPECT_EQ(find_meeting_port(identity(1), secret('b'), {60s, publish, 60s}), 4711);
  EXPECT_EQ(polls, 2);
}

}  // namespace
}  // namespace pistachio
