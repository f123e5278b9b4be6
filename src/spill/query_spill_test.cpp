#include "spill/query_spill.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "base/error.h"
#include "base/scheduler.h"
#include "base/task_group.h"

namespace pistachio {
namespace {

// Rows of one size. Spilling them releases their memory, or fails.
class StoreOfBytes final : public SpillableStore {
 public:
  StoreOfBytes(const MemoryGovernor& governor, int64_t bytes, bool fails)
      : memory_(governor.process_account().reserve_now(bytes, ReservationKind::Held)), fails_(fails) {}

  int64_t spillable_bytes() const override { return memory_.bytes(); }
  Task<void> spill() override {
    ++calls_;
    memory_.release();
    if (fails_) throw OutOfMemory("no memory to pack 5 rows");
    co_return;
  }
  int calls() const { return calls_; }

 private:
  Reservation memory_;
  const bool fails_;
  int calls_ = 0;
};

class QuerySpillTest : public testing::Test {
 protected:
  std::shared_ptr<StoreOfBytes> add_store(int64_t bytes, bool fails = false) {
    auto store = std::make_shared<StoreOfBytes>(governor_, bytes, fails);
    spill_.add(store);
    return store;
  }

  SpillSpace space_;
  MemoryGovernor governor_{64 << 20};
  Settings settings_;
  QuerySpill spill_{space_, governor_, settings_};
  Scheduler scheduler_{SchedulerOptions{.workers = 2}};
};

TEST_F(QuerySpillTest, RelievesByTheLargestStore) {
  const auto small = add_store(2 << 20), large = add_store(4 << 20);
  scheduler_.run(spill_.relieve());
  EXPECT_EQ(small->calls(), 0);
  EXPECT_EQ(large->calls(), 1);
  EXPECT_EQ(governor_.used(), 2 << 20);
}

// A caller that recovers from an OutOfMemory of its own would go on without the rows of the other operator.
TEST_F(QuerySpillTest, LostRowsEndTheQuery) {
  add_store(4 << 20, true);
  auto relieve_and_recover = [&]() -> Task<void> {
    try {
      Task<void> relieving = spill_.relieve();
      co_await relieving;
    } catch (const OutOfMemory&) {
      ADD_FAILURE() << "looks like an error of the caller";
    }
  };
  try {
    scheduler_.run(relieve_and_recover());
    FAIL() << "the rows are lost";
  } catch (const UserError& error) {
    EXPECT_EQ(error.message(), "no memory to pack 5 rows");
  }
}

// Tasks that ran out of memory at the same time wait for the first one to spill, which helps all of them.
TEST_F(QuerySpillTest, OneSpillRelievesAllThatWaitForIt) {
  const auto first = add_store(8 << 20), second = add_store(4 << 20);
  // On a single worker, children start in the order in which they were spawned: both wait when the third lets go.
  Scheduler scheduler{SchedulerOptions{.workers = 1}};
  auto relieve_twice = [&]() -> Task<void> {
    Task<QuerySpill::Turn> taking = spill_.take_turn();
    QuerySpill::Turn taken = co_await taking;
    std::optional<QuerySpill::Turn> turn(std::move(taken));
    auto let_go = [&]() -> Task<void> {
      turn.reset();
      co_return;
    };
    auto spawn = [&](TaskGroup& group) -> Task<void> {
      group.spawn(spill_.relieve());
      group.spawn(spill_.relieve());
      group.spawn(let_go());
      co_return;
    };
    Task<void> all = with_task_group(spawn);
    co_await all;
  };
  scheduler.run(relieve_twice());
  EXPECT_EQ(first->calls(), 1);
  EXPECT_EQ(second->calls(), 0);
}

}  // namespace
}  // namespace pistachio
