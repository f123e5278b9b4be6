#include "spill/query_spill.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/scheduler.h"
#include "base/task_group.h"

namespace pistachio {
namespace {

// Rows in memory, of a size that the test chooses.
class FakeStore final : public SpillableStore {
 public:
  FakeStore(const MemoryAccount& account, int64_t bytes) : memory_(account.reserve_now(bytes, ReservationKind::Held)) {}
  int64_t spillable_bytes() const override { return memory_.bytes(); }
  Task<void> spill() override {
    ++spills;
    if (is_stuck) co_return;
    memory_.release();
    memory_ = {};
    if (is_failing) throw OutOfMemory("no memory to pack 5 rows");
  }
  int spills = 0;
  bool is_stuck = false;
  bool is_failing = false;

 private:
  Reservation memory_;
};

class QuerySpillTest : public testing::Test {
 protected:
  QuerySpillTest() { settings_.temp_directory = "/tmp"; }
  Task<void> make_room(QuerySpill& spill, int64_t bytes) { return spill.make_room(bytes); }
  Task<void> relieve(QuerySpill& spill) { return spill.relieve(); }

  Settings settings_;
  SpillSpace space_;
  MemoryGovernor governor_{100 << 20};
  Scheduler scheduler_{SchedulerOptions{.workers = 2}};
};

TEST_F(QuerySpillTest, LargestStoreSpillsFirst) {
  QuerySpill spill(space_, governor_, settings_);
  const auto small = std::make_shared<FakeStore>(governor_.process_account(), 20 << 20);
  const auto large = std::make_shared<FakeStore>(governor_.process_account(), 50 << 20);
  spill.add(small);
  spill.add(large);
  scheduler_.run(make_room(spill, 5 << 20));
  EXPECT_EQ(large->spills + small->spills, 0);
  scheduler_.run(make_room(spill, 30 << 20));
  EXPECT_EQ(large->spills, 1);
  EXPECT_EQ(small->spills, 0);
  scheduler_.run(make_room(spill, 70 << 20));
  EXPECT_EQ(small->spills, 1);
}

TEST_F(QuerySpillTest, MakeRoomEndsWhenNothingCanSpill) {
  QuerySpill spill(space_, governor_, settings_);
  scheduler_.run(make_room(spill, 90 << 20));
  const auto stuck = std::make_shared<FakeStore>(governor_.process_account(), 50 << 20);
  stuck->is_stuck = true;
  spill.add(stuck);
  scheduler_.run(make_room(spill, 90 << 20));
  EXPECT_EQ(stuck->spills, 1);
}

TEST_F(QuerySpillTest, NothingSpillsWhenOff) {
  settings_.spill = SpillMode::Off;
  QuerySpill spill(space_, governor_, settings_);
  const auto store = std::make_shared<FakeStore>(governor_.process_account(), 50 << 20);
  spill.add(store);
  scheduler_.run(make_room(spill, 90 << 20));
  EXPECT_EQ(store->spills, 0);
}

TEST_F(QuerySpillTest, RefusesWhatDoesNotFit) {
  QuerySpill spill(space_, governor_, settings_);
  auto reserve = [&](int64_t bytes) -> Task<void> {
    Task<Reservation> reserving = spill.reserve(governor_.process_account(), bytes);
    const Reservation memory = co_await reserving;
    EXPECT_EQ(memory.bytes(), bytes);
  };
  scheduler_.run(reserve(95 << 20));
  EXPECT_THROW(scheduler_.run(reserve(int64_t{101} << 20)), OutOfMemory);
}

TEST_F(QuerySpillTest, RelievesByTheLargestStore) {
  QuerySpill spill(space_, governor_, settings_);
  const auto small = std::make_shared<FakeStore>(governor_.process_account(), 20 << 20);
  const auto large = std::make_shared<FakeStore>(governor_.process_account(), 30 << 20);
  spill.add(small);
  spill.add(large);
  scheduler_.run(relieve(spill));
  EXPECT_EQ(small->spills, 0);
  EXPECT_EQ(large->spills, 1);
}

// A caller that recovers from an OutOfMemory of its own would go on without the rows of the other operator.
TEST_F(QuerySpillTest, LostRowsEndTheQuery) {
  QuerySpill spill(space_, governor_, settings_);
  const auto store = std::make_shared<FakeStore>(governor_.process_account(), 30 << 20);
  store->is_failing = true;
  spill.add(store);
  auto relieve_and_recover = [&]() -> Task<void> {
    try {
      Task<void> relieving = spill.relieve();
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
  QuerySpill spill(space_, governor_, settings_);
  const auto first = std::make_shared<FakeStore>(governor_.process_account(), 40 << 20);
  const auto second = std::make_shared<FakeStore>(governor_.process_account(), 20 << 20);
  spill.add(first);
  spill.add(second);
  // On a single worker, children start in the order in which they were spawned: both wait when the third lets go.
  Scheduler scheduler{SchedulerOptions{.workers = 1}};
  auto relieve_twice = [&]() -> Task<void> {
    Task<QuerySpill::Turn> taking = spill.take_turn();
    QuerySpill::Turn taken = co_await taking;
    std::optional<QuerySpill::Turn> turn(std::move(taken));
    auto let_go = [&]() -> Task<void> {
      turn.reset();
      co_return;
    };
    auto spawn = [&](TaskGroup& group) -> Task<void> {
      group.spawn(spill.relieve());
      group.spawn(spill.relieve());
      group.spawn(let_go());
      co_return;
    };
    Task<void> all = with_task_group(spawn);
    co_await all;
  };
  scheduler.run(relieve_twice());
  EXPECT_EQ(first->spills, 1);
  EXPECT_EQ(second->spills, 0);
}

}  // namespace
}  // namespace pistachio
