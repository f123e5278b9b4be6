#include "base/blocking_pool.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <semaphore>
#include <vector>

namespace pistachio {
namespace {

class Job final : public BlockingJob {
 public:
  Job(int64_t need, std::function<void()> body) : BlockingJob(need), body_(std::move(body)) {}
  void run_job() noexcept override { body_(); }

 private:
  std::function<void()> body_;
};

// The order in which jobs run on one thread, which the first job occupies while the others queue.
std::vector<int> order_of(const std::vector<int64_t>& needs, int refused = -1) {
  std::binary_semaphore go(0);
  std::counting_semaphore<> ended(0);
  std::vector<int> order;
  std::vector<std::unique_ptr<Job>> jobs;
  std::binary_semaphore held(0);
  Job gate(0, [&] {
    held.release();
    go.acquire();
  });
  BlockingPool pool(1);
  pool.submit(gate);
  held.acquire();
  for (size_t i = 0; i < needs.size(); ++i) {
    jobs.push_back(std::make_unique<Job>(needs[i], [&order, &ended, i] {
      order.push_back(static_cast<int>(i));
      ended.release();
    }));
    EXPECT_TRUE(pool.submit(*jobs.back()));
  }
  if (refused >= 0) {
    EXPECT_TRUE(pool.refuse(*jobs[static_cast<size_t>(refused)]));
  }
  go.release();
  for (size_t i = 0; i < needs.size() - (refused >= 0); ++i) ended.acquire();
  return order;
}

TEST(BlockingPoolTest, EqualNeedsRunInOrderOfArrival) {
  EXPECT_EQ(order_of({7, 7, 7, 7}), (std::vector<int>{0, 1, 2, 3}));
}

TEST(BlockingPoolTest, SmallerNeedRunsFirst) {
  EXPECT_EQ(order_of({5, 1, 3, 1, 9, -1, 5}), (std::vector<int>{5, 1, 3, 2, 0, 6, 4}));
}

TEST(BlockingPoolTest, RefusedJobKeepsOrderOfOthers) {
  EXPECT_EQ(order_of({5, 1, 3, 4}, 2), (std::vector<int>{1, 3, 0}));
  EXPECT_EQ(order_of({5, 1, 3, 4}, 0), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(order_of({1, 2, 3}, 2), (std::vector<int>{0, 1}));
}

}  // namespace
}  // namespace pistachio
