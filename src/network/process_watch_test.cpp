#include "network/process_watch.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace pistachio {
namespace {

TEST(ProcessWatchTest, ProcessExitIsDetected) {
  pid_t process = -1;
  char name[] = "sleep", time[] = "1000";
  char* arguments[] = {name, time, nullptr};
  ASSERT_EQ(posix_spawnp(&process, name, nullptr, nullptr, arguments, nullptr), 0);
  ProcessWatch watch(process);
  ASSERT_GE(watch.descriptor(), 0);
  EXPECT_FALSE(watch.has_ended());
  kill(process, SIGKILL);
  pollfd descriptor{watch.descriptor(), POLLIN, 0};
  EXPECT_EQ(poll(&descriptor, 1, 60'000), 1);
  EXPECT_TRUE(watch.has_ended());
  waitpid(process, nullptr, 0);
  EXPECT_TRUE(watch.has_ended());
  ProcessWatch too_late(process);
  EXPECT_FALSE(too_late.has_ended());
}

TEST(ProcessWatchTest, NothingIsWatchedWithoutAProcess) {
  ProcessWatch watch;
  EXPECT_EQ(watch.descriptor(), -1);
  EXPECT_FALSE(watch.has_ended());
  ProcessWatch self(getpid());
  EXPECT_FALSE(self.has_ended());
}

}  // namespace
}  // namespace pistachio
