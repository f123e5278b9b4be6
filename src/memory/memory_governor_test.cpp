#include "memory/memory_governor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/scheduler.h"
#include "base/task_group.h"

namespace pistachio {
namespace {

constexpr ReservationKind kTransient = ReservationKind::Transient;
constexpr ReservationKind kHeld = ReservationKind::Held;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(ReservationTest, CountsInEveryAccountOfThePath) {
  MemoryGovernor governor(1'000);
  MemoryAccount query = governor.process_account().make_child("query 1");
  MemoryAccount join = query.make_child("hash join");
  {
    Reservation first = join.reserve_now(300, kHeld);
    Reservation second = query.reserve_now(100, kTransient);
    EXPECT_EQ(join.used(), 300);
    EXPECT_EQ(query.used(), 400);
    EXPECT_EQ(governor.used(), 400);
  }
  EXPECT_EQ(governor.used(), 0);
  EXPECT_EQ(query.peak(), 400);
  EXPECT_EQ(join.path(), "process/query 1/hash join");
}

TEST(ReservationTest, ShrinksMovesAndReleases) {
  MemoryGovernor governor(1'000);
  Reservation reservation = governor.process_account().reserve_now(600, kHeld);
  reservation.shrink_to(500);
  EXPECT_EQ(governor.used(), 500);
  Reservation other = governor.process_account().reserve_now(400, kHeld);
  other = std::move(reservation);
  EXPECT_EQ(other.bytes(), 500);
  EXPECT_EQ(governor.used(), 500);
  other.release();
  EXPECT_EQ(governor.used(), 0);
}

TEST(ReservationTest, OutlivesTheHandlesOfItsAccount) {
  MemoryGovernor governor(1'000);
  std::optional<Reservation> reservation = governor.process_account().make_child("gone").reserve_now(10, kHeld);
  EXPECT_EQ(governor.used(), 10);
  reservation.reset();
  EXPECT_EQ(governor.used(), 0);
}

TEST(ReservationTest, OwnLimitsHold) {
  MemoryGovernor governor(1'000);
  MemoryAccount query = governor.process_account().make_child("query 1", 100);
  MemoryAccount scan = query.make_child("scan");
  std::optional<Reservation> first = scan.try_reserve(80, kHeld);
  EXPECT_TRUE(first.has_value());
  EXPECT_FALSE(scan.try_reserve(21, kHeld).has_value());
  EXPECT_TRUE(governor.process_account().try_reserve(900, kHeld).has_value());
}

TEST(ReservationTest, RefusalNamesLimitAndHolders) {
  MemoryGovernor governor(int64_t{1} << 30, [] { return int64_t{77} << 20; });
  MemoryAccount query = governor.process_account().make_child("query 7");
  std::vector<Reservation> held;
  for (int i = 1; i <= 7; ++i) held.push_back(query.make_child("operator " + std::to_string(i)).reserve_now(int64_t{i} << 20, kHeld));
  try {
    Reservation refused = query.make_child("hash join").reserve_now(int64_t{2} << 30, kHeld);
    FAIL();
  } catch (const OutOfMemory& error) {
    const std::string& text = error.message();
    EXPECT_TRUE(contains(text, "process/query 7/hash join asked for 2.0 GiB")) << text;
    EXPECT_TRUE(contains(text, "memory_limit is 1.0 GiB")) << text;
    EXPECT_TRUE(contains(text, "28.0 MiB is in use, tensors take 77.0 MiB in memory")) << text;
    EXPECT_TRUE(contains(text, "process/query 7/operator 7 7.0 MiB, process/query 7/operator 6 6.0 MiB")) << text;
    EXPECT_TRUE(contains(text, "operator 3")) << text;
    EXPECT_FALSE(contains(text, "operator 2")) << text;
    EXPECT_TRUE(contains(text, "raise memory_limit")) << text;
  }
  const MemoryGovernor device(1'000, {}, {"GPU", "device_memory_limit"});
  try {
    Reservation refused = device.process_account().make_child("query 8").reserve_now(1'001, kHeld);
    FAIL();
  } catch (const OutOfMemory& error) {
    EXPECT_TRUE(contains(error.message(), "GPU/query 8 asked for 1001 B, device_memory_limit is 1000 B")) << error.message();
    EXPECT_TRUE(contains(error.message(), "raise device_memory_limit")) << error.message();
  }
  try {
    Reservation refused = query.make_child("sort", 1'000).reserve_now(1'001, kHeld);
    FAIL();
  } catch (const OutOfMemory& error) {
    EXPECT_TRUE(contains(error.message(), "the limit of process/query 7/sort is 1000 B")) << error.message();
  }
}

TEST(PressureTest, CachesShrinkInOrderUntilEnough) {
  MemoryGovernor governor(1'000);
  Reservation first_cache = governor.process_account().reserve_now(400, kHeld);
  Reservation second_cache = governor.process_account().reserve_now(400, kHeld);
  std::vector<int64_t> wanted;
  PressureRegistration first = governor.add_pressure_callback([&](int64_t bytes) {
    wanted.push_back(bytes);
    first_cache.release();
  });
  PressureRegistration second = governor.add_pressure_callback([&](int64_t bytes) {
    wanted.push_back(bytes);
    second_cache.release();
  });
  Reservation small = governor.process_account().reserve_now(300, kHeld);
  EXPECT_EQ(wanted, (std::vector<int64_t>{100}));
  EXPECT_EQ(second_cache.bytes(), 400);
  std::optional<Reservation> large = governor.process_account().try_reserve(500, kHeld);
  EXPECT_TRUE(large.has_value());
  EXPECT_EQ(wanted, (std::vector<int64_t>{100, 200, 200}));
  first = PressureRegistration();
  EXPECT_THROW(governor.process_account().reserve_now(900, kHeld).release(), OutOfMemory);
  EXPECT_EQ(wanted.size(), 4u);
}

TEST(PressureTest, CallbackMayReserveAndFail) {
  MemoryGovernor governor(100);
  int calls = 0;
  PressureRegistration registration = governor.add_pressure_callback([&](int64_t) {
    ++calls;
    EXPECT_FALSE(governor.process_account().try_reserve(1'000, kHeld).has_value());
  });
  EXPECT_FALSE(governor.process_account().try_reserve(1'000, kHeld).has_value());
  EXPECT_EQ(calls, 1);
}

TEST(PressureTest, CallbacksMayBeRegisteredUnderPressure) {
  MemoryGovernor governor(100);
  std::atomic<bool> stop = false;
  std::thread reserving([&] {
    while (!stop) EXPECT_FALSE(governor.process_account().try_reserve(1'000, kHeld).has_value());
  });
  for (int i = 0; i < 500; ++i) {
    auto counter = std::make_unique<int>(0);
    PressureRegistration registration = governor.add_pressure_callback([&](int64_t) { ++*counter; });
    registration = PressureRegistration();
    counter.reset();
  }
  stop = true;
  reserving.join();
}

class ReserveTest : public testing::TestWithParam<int> {
 protected:
  // Runs tasks until the expected number of them is waiting.
  Task<void> until_waiting(int64_t count) {
    while (governor.waiting() < count) co_await reschedule();
  }

  Scheduler scheduler{SchedulerOptions{.workers = GetParam()}};
  MemoryGovernor governor{1'000};
  MemoryAccount account = governor.process_account();
};

TEST_P(ReserveTest, WaitsForTransientBytes) {
  auto body = [&](TaskGroup& group) -> Task<void> {
    Reservation in_flight = account.reserve_now(800, kTransient);
    std::atomic<bool> served = false;
    auto wait = [&]() -> Task<void> {
      Reservation reservation = co_await account.reserve(500, kTransient);
      served = true;
    };
    group.spawn(wait());
    co_await until_waiting(1);
    EXPECT_FALSE(served);
    EXPECT_FALSE(account.try_reserve(1, kTransient).has_value()) << "would overtake";
    in_flight.shrink_to(500);
    while (!served) co_await reschedule();
  };
  scheduler.run(with_task_group(body));
  EXPECT_EQ(governor.used(), 0);
}

TEST_P(ReserveTest, CachesAreKeptWhenWaitingSuffices) {
  auto body = [&](TaskGroup& group) -> Task<void> {
    std::atomic<int> calls = 0;
    PressureRegistration registration = governor.add_pressure_callback([&](int64_t) { ++calls; });
    Reservation in_flight = account.reserve_now(800, kTransient);
    std::atomic<bool> served = false;
    auto wait = [&]() -> Task<void> {
      Reservation reservation = co_await account.reserve(500, kTransient);
      served = true;
    };
    group.spawn(wait());
    co_await until_waiting(1);
    in_flight.release();
    while (!served) co_await reschedule();
    EXPECT_EQ(calls, 0);
    EXPECT_FALSE(account.try_reserve(1'001, kTransient).has_value());
    EXPECT_EQ(calls, 1) << "who cannot wait asks";
  };
  scheduler.run(with_task_group(body));
}

TEST_P(ReserveTest, CachesShrinkOnceBeforeRefusal) {
  Reservation cache = account.reserve_now(600, kHeld);
  int calls = 0;
  PressureRegistration registration = governor.add_pressure_callback([&](int64_t) {
    if (++calls == 1) cache.release();
  });
  auto reserve = [&](int64_t bytes) -> Task<void> { Reservation reservation = co_await account.reserve(bytes, kTransient); };
  scheduler.run(reserve(700));
  EXPECT_EQ(calls, 1);
  EXPECT_THROW(scheduler.run(reserve(1'001)), OutOfMemory);
  EXPECT_EQ(calls, 2);
}

TEST_P(ReserveTest, RefusesAtOnceIfWaitingCannotHelp) {
  Reservation held = account.reserve_now(600, kHeld);
  Reservation transient = account.reserve_now(300, kTransient);
  auto too_much = [&]() -> Task<void> { Reservation reservation = co_await account.reserve(401, kTransient); };
  EXPECT_THROW(scheduler.run(too_much()), OutOfMemory);
}

TEST_P(ReserveTest, ServesStrictlyInOrder) {
  auto body = [&](TaskGroup& group) -> Task<void> {
    std::vector<Reservation> in_flight;
    for (int i = 0; i < 10; ++i) in_flight.push_back(account.reserve_now(100, kTransient));
    std::vector<int> order;
    std::mutex mutex;
    auto wait = [&](int number, int64_t bytes) -> Task<void> {
      Reservation reservation = co_await account.reserve(bytes, kTransient);
      std::lock_guard lock(mutex);
      order.push_back(number);
    };
    group.spawn(wait(0, 900));
    co_await until_waiting(1);
    for (int i = 1; i < 20; ++i) {
      group.spawn(wait(i, 200));
      co_await until_waiting(i + 1);
    }
    for (int i = 0; i < 9; ++i) {
      EXPECT_EQ(governor.waiting(), 20) << "a small request overtook the large one";
      in_flight[static_cast<size_t>(i)].release();
    }
    while (governor.waiting() > 0) co_await reschedule();
    in_flight.clear();
    std::unique_lock lock(mutex);
    while (order.size() < 20) {
      lock.unlock();
      co_await reschedule();
      lock.lock();
    }
    EXPECT_EQ(order[0], 0);
  };
  scheduler.run(with_task_group(body));
  EXPECT_EQ(governor.used(), 0);
}

TEST_P(ReserveTest, WaitAtOwnLimitDoesNotBlockOthers) {
  MemoryAccount small = account.make_child("small", 100);
  auto body = [&](TaskGroup& group) -> Task<void> {
    Reservation in_flight = small.reserve_now(100, kTransient);
    auto wait = [&]() -> Task<void> { Reservation reservation = co_await small.reserve(50, kTransient); };
    group.spawn(wait());
    co_await until_waiting(1);
    Reservation other = co_await account.reserve(500, kTransient);
    EXPECT_EQ(other.bytes(), 500);
    EXPECT_FALSE(small.try_reserve(1, kTransient).has_value());
    in_flight.release();
    while (governor.waiting() > 0) co_await reschedule();
  };
  scheduler.run(with_task_group(body));
  EXPECT_EQ(governor.used(), 0);
}

TEST_P(ReserveTest, OutrunWaitIsRefused) {
  auto body = [&](TaskGroup& group) -> Task<void> {
    std::atomic<bool> refused = false;
    Reservation in_flight = account.reserve_now(500, kTransient);
    auto wait = [&]() -> Task<void> {
      try {
        Reservation reservation = co_await account.reserve(800, kTransient);
      } catch (const OutOfMemory&) {
        refused = true;
      }
    };
    group.spawn(wait());
    co_await until_waiting(1);
    Reservation held = account.reserve_now(300, kHeld);
    while (!refused) co_await reschedule();
  };
  scheduler.run(with_task_group(body));
  EXPECT_EQ(governor.used(), 0);
}

TEST_P(ReserveTest, OutrunWaitShrinksCachesFirst) {
  auto body = [&](TaskGroup& group) -> Task<void> {
    Reservation cache;
    std::mutex cache_mutex;
    PressureRegistration registration = governor.add_pressure_callback([&](int64_t) {
      std::lock_guard lock(cache_mutex);
      cache.release();
    });
    Reservation in_flight = account.reserve_now(500, kTransient);
    std::atomic<bool> served = false;
    auto wait = [&]() -> Task<void> {
      Reservation reservation = co_await account.reserve(800, kTransient);
      served = true;
    };
    group.spawn(wait());
    co_await until_waiting(1);
    {
      std::lock_guard lock(cache_mutex);
      cache = account.reserve_now(300, kHeld);
    }
    while (governor.used() != 500) co_await reschedule();
    co_await until_waiting(1);
    in_flight.release();
    while (!served) co_await reschedule();
  };
  scheduler.run(with_task_group(body));
  EXPECT_EQ(governor.used(), 0);
}

TEST_P(ReserveTest, CancelledWaitLetsTheNextPass) {
  auto body = [&](TaskGroup& group) -> Task<void> {
    Reservation in_flight = account.reserve_now(600, kTransient);
    CancelSource source;
    auto large = [&]() -> Task<void> { Reservation reservation = co_await account.reserve(900, kTransient); };
    auto cancelled_large = [&]() -> Task<void> {
      auto inner = [&](TaskGroup& inner_group) -> Task<void> {
        inner_group.spawn(large());
        while (!source.is_cancelled()) co_await reschedule();
        inner_group.cancel("enough");
      };
      try {
        co_await with_task_group(inner);
      } catch (const Cancelled&) {
      }
    };
    std::atomic<bool> served = false;
    auto small = [&]() -> Task<void> {
      Reservation reservation = co_await account.reserve(100, kTransient);
      served = true;
    };
    group.spawn(cancelled_large());
    co_await until_waiting(1);
    group.spawn(small());
    co_await until_waiting(2);
    EXPECT_FALSE(served);
    source.cancel("now");
    while (!served) co_await reschedule();
  };
  scheduler.run(with_task_group(body));
  EXPECT_EQ(governor.used(), 0);
}

// Counts bytes while it lives; destroyed before the reservation that they belong to.
struct CountedBytes {
  CountedBytes(std::atomic<int64_t>& total_bytes, int64_t own_bytes) : total(total_bytes), bytes(own_bytes) { total += bytes; }
  ~CountedBytes() { total -= bytes; }
  std::atomic<int64_t>& total;
  const int64_t bytes;
};

// Tasks reserve, hold, and release at random in a tree of accounts until cancelled at a random moment.
TEST_P(ReserveTest, RandomUseStaysWithinLimitAndReturnsEverything) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    CancelSource source;
    MemoryAccount query = account.make_child("query", 700);
    std::atomic<int64_t> granted = 0;
    auto work = [&](uint32_t work_seed) -> Task<void> {
      std::mt19937 random(work_seed);
      MemoryAccount own = (random() % 2 == 0 ? query : account).make_child("operator");
      for (int i = 0; i < 100; ++i) {
        const int64_t bytes = random() % 400;
        try {
          Reservation reservation = co_await own.reserve(bytes, random() % 8 == 0 ? kHeld : kTransient);
          CountedBytes counted(granted, reservation.bytes());
          EXPECT_LE(granted, 1'000);
          if (random() % 4 == 0) co_await reschedule();
        } catch (const OutOfMemory&) {
        }
      }
    };
    auto body = [&](TaskGroup& group) -> Task<void> {
      for (uint32_t i = 0; i < 12; ++i) group.spawn(work(seed * 100 + i));
      co_return;
    };
    std::thread canceller;
    if (seed % 2 == 0) {
      canceller = std::thread([&] {
        std::this_thread::sleep_for(std::chrono::microseconds(std::mt19937(seed)() % 2'000));
        source.cancel("random moment");
      });
    }
    try {
      scheduler.run(with_task_group(body), source.token());
    } catch (const Cancelled&) {
    }
    if (canceller.joinable()) canceller.join();
    EXPECT_EQ(governor.used(), 0) << "seed " << seed;
    EXPECT_EQ(governor.waiting(), 0) << "seed " << seed;
    EXPECT_LE(governor.peak(), 1'000);
  }
}

INSTANTIATE_TEST_SUITE_P(Workers, ReserveTest, testing::Values(1, 2, 4));

}  // namespace
}  // namespace pistachio
