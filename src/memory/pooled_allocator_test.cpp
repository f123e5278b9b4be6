#include "memory/pooled_allocator.h"

#include <ATen/Parallel.h>
#include <ATen/ops/tensor.h>
#include <c10/core/CPUAllocator.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "base/error.h"
#include "memory/size_classes.h"

namespace pistachio {
namespace {

constexpr size_t kMebibyte = size_t{1} << 20;

TEST(SizeClassTest, EveryClassHoldsItsSizesAndWastesLittle) {
  for (int i = 0; i < kSizeClasses; ++i) {
    const size_t size = size_of_class(i);
    const size_t smallest = i == 0 ? 1 : size_of_class(i - 1) + 1;
    EXPECT_EQ(size_class_of(size), i);
    EXPECT_EQ(size_class_of(smallest), i);
    EXPECT_EQ(size % 64, 0u);
    if (smallest > 4096) {
      EXPECT_LE(static_cast<double>(size - smallest), 0.25 * static_cast<double>(size));
    }
    if (i >= kSlabClasses) {
      EXPECT_EQ(size % kPageBytes, 0u);
    }
  }
}

TEST(PooledAllocatorTest, BlocksAreAlignedAndDistinct) {
  PooledAllocator allocator;
  std::vector<c10::DataPtr> blocks;
  std::vector<size_t> sizes;
  for (size_t size : {1, 63, 64, 65, 1000, 4096, 5000, 32768, 32769, 100'000, 1 << 20, (4 << 20) + 1, 20 << 20}) {
    for (int i = 0; i < 5; ++i) {
      blocks.push_back(allocator.allocate(size));
      sizes.push_back(size);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(blocks.back().get()) % 64, 0u);
      if (size > 32768) {
        EXPECT_EQ(reinterpret_cast<uintptr_t>(blocks.back().get()) % 4096, 0u);
      }
      std::memset(blocks.back().get(), static_cast<int>(blocks.size()), size);
    }
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    const auto* bytes = static_cast<const unsigned char*>(blocks[i].get());
    EXPECT_EQ(bytes[0], static_cast<unsigned char>(i + 1));
    EXPECT_EQ(bytes[sizes[i] - 1], static_cast<unsigned char>(i + 1));
  }
}

TEST(PooledAllocatorTest, EmptyBlocks) {
  PooledAllocator allocator;
  c10::DataPtr block = allocator.allocate(0);
  EXPECT_EQ(block.get(), nullptr);
  EXPECT_EQ(allocator.statistics().mapped_bytes, 0);
  block.clear();
  allocator.raw_deallocate(allocator.raw_allocate(0));
}

TEST(PooledAllocatorTest, RawAllocationsWork) {
  PooledAllocator allocator;
  void* block = allocator.raw_allocate(1000);
  EXPECT_EQ(allocator.statistics().live_bytes, 1024);
  allocator.raw_deallocate(block);
  EXPECT_EQ(allocator.statistics().live_bytes, 0);
}

TEST(PooledAllocatorTest, FreedMemoryIsKeptAndReused) {
  PooledAllocator allocator;
  for (size_t size : {size_t{1000}, size_t{100'000}, kMebibyte, 16 * kMebibyte}) {
    c10::DataPtr first = allocator.allocate(size);
    void* address = first.get();
    first.clear();
    EXPECT_GE(allocator.statistics().cached_bytes, static_cast<int64_t>(size));
    c10::DataPtr second = allocator.allocate(size);
    EXPECT_EQ(second.get(), address);
  }
}

TEST(PooledAllocatorTest, AdjacentFreeRunsAreMerged) {
  PooledAllocator allocator;
  std::vector<c10::DataPtr> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(allocator.allocate(8 * kMebibyte));
  const int64_t mapped = allocator.statistics().mapped_bytes;
  blocks.clear();
  c10::DataPtr large = allocator.allocate(64 * kMebibyte);
  EXPECT_EQ(allocator.statistics().mapped_bytes, mapped);
}

TEST(PooledAllocatorTest, TrimReleasesEverything) {
  PooledAllocator allocator;
  {
    std::vector<c10::DataPtr> blocks;
    std::mt19937 random(1);
    for (int i = 0; i < 2'000; ++i) blocks.push_back(allocator.allocate(random() % (i % 10 == 0 ? 3'000'000 : 9'000)));
    EXPECT_GT(allocator.statistics().live_bytes, 0);
  }
  EXPECT_EQ(allocator.statistics().live_bytes, 0);
  EXPECT_GT(allocator.statistics().cached_bytes, 0);
  EXPECT_EQ(allocator.statistics().cached_bytes, allocator.statistics().mapped_bytes);
  allocator.trim();
  EXPECT_EQ(allocator.statistics().mapped_bytes, 0);
  EXPECT_GT(allocator.statistics().peak_mapped_bytes, 0);
  c10::DataPtr again = allocator.allocate(kMebibyte);
  std::memset(again.get(), 1, kMebibyte);
}

TEST(PooledAllocatorTest, TrimKeepsWhatIsInUse) {
  PooledAllocator allocator;
  std::vector<c10::DataPtr> kept;
  {
    std::vector<c10::DataPtr> dropped;
    for (size_t i = 0; i < 300; ++i) {
      const size_t size = 1 + i * 1'777;
      kept.push_back(allocator.allocate(size));
      std::memset(kept.back().get(), static_cast<int>(i % 251), size);
      dropped.push_back(allocator.allocate(size));
    }
  }
  allocator.trim();
  for (size_t i = 0; i < kept.size(); ++i) {
    const auto* bytes = static_cast<const unsigned char*>(kept[i].get());
    EXPECT_EQ(bytes[0], i % 251);
    EXPECT_EQ(bytes[i * 1'777], i % 251);
  }
  const PooledAllocatorStatistics statistics = allocator.statistics();
  EXPECT_LT(statistics.cached_bytes, statistics.live_bytes);
  kept.clear();
  allocator.trim();
  EXPECT_EQ(allocator.statistics().mapped_bytes, 0);
}

TEST(PooledAllocatorTest, LimitIsEnforced) {
  PooledAllocator allocator(PooledAllocatorOptions{.limit_bytes = 64 * static_cast<int64_t>(kMebibyte)});
  std::vector<c10::DataPtr> blocks;
  try {
    while (true) blocks.push_back(allocator.allocate(5 * kMebibyte));
  } catch (const OutOfMemory& error) {
    EXPECT_NE(error.message().find("raise memory_limit"), std::string::npos) << error.message();
    EXPECT_NE(error.message().find("64.0 MiB"), std::string::npos) << error.message();
  }
  EXPECT_EQ(blocks.size(), 12u);
  EXPECT_LE(allocator.statistics().peak_mapped_bytes, 64 * static_cast<int64_t>(kMebibyte));
  EXPECT_THROW(allocator.allocate(size_t{100} << 30), OutOfMemory);
}

// Free memory of any kind, in caches of this and of other threads, is used before an allocation is refused.
TEST(PooledAllocatorTest, TellsWhatIsFreeWithinTheLimit) {
  constexpr int64_t kLimit = 64 << 20;
  PooledAllocator allocator({.limit_bytes = kLimit});
  EXPECT_EQ(allocator.free_bytes(), kLimit);
  c10::DataPtr large = allocator.allocate(40 * kMebibyte);
  EXPECT_EQ(allocator.free_bytes(), kLimit - (40 << 20));
  // Cached blocks count as free.
  for (int i = 0; i < 100; ++i) allocator.allocate(100'000);
  EXPECT_GT(allocator.free_bytes(), kLimit - (41 << 20));
  large.clear();
  EXPECT_GT(allocator.free_bytes(), kLimit - (1 << 20));
  allocator.set_limit(1);
  EXPECT_LE(allocator.free_bytes(), 1);
  EXPECT_GE(allocator.free_bytes(), 0);
}

TEST(PooledAllocatorTest, CachesAreEmptiedBeforeRefusal) {
  PooledAllocator allocator(PooledAllocatorOptions{.limit_bytes = 40 * static_cast<int64_t>(kMebibyte)});
  std::atomic<int> phase = 0;
  std::thread other([&] {
    {
      std::vector<c10::DataPtr> blocks;
      for (int i = 0; i < 15; ++i) blocks.push_back(allocator.allocate(kMebibyte + static_cast<size_t>(i) * 131'072));
    }
    phase = 1;
    while (phase < 2) std::this_thread::yield();
  });
  while (phase < 1) std::this_thread::yield();
  {
    c10::DataPtr large = allocator.allocate(39 * kMebibyte);
    std::memset(large.get(), 1, 39 * kMebibyte);
  }
  std::vector<c10::DataPtr> small;
  for (int i = 0; i < 30'000; ++i) small.push_back(allocator.allocate(1'000));
  small.clear();
  c10::DataPtr large = allocator.allocate(39 * kMebibyte);
  phase = 2;
  other.join();
  EXPECT_LE(allocator.statistics().peak_mapped_bytes, 40 * static_cast<int64_t>(kMebibyte));
}

TEST(PooledAllocatorTest, LowerLimitTrimsAtOnce) {
  PooledAllocator allocator;
  { c10::DataPtr block = allocator.allocate(32 * kMebibyte); }
  allocator.set_limit(static_cast<int64_t>(kMebibyte));
  EXPECT_EQ(allocator.statistics().mapped_bytes, 0);
  EXPECT_THROW(allocator.allocate(2 * kMebibyte), OutOfMemory);
  allocator.set_limit(INT64_MAX);
  c10::DataPtr block = allocator.allocate(2 * kMebibyte);
}

TEST(PooledAllocatorTest, BlocksOutliveAndLeaveTheirThread) {
  PooledAllocator allocator;
  std::vector<c10::DataPtr> blocks;
  std::thread allocating([&] {
    for (size_t i = 0; i < 3'000; ++i) blocks.push_back(allocator.allocate(1 + i * 97 % 200'000));
  });
  allocating.join();
  std::thread freeing([&] { blocks.resize(1'500); });
  freeing.join();
  blocks.clear();
  EXPECT_EQ(allocator.statistics().live_bytes, 0);
  allocator.trim();
  EXPECT_EQ(allocator.statistics().mapped_bytes, 0);
}

// Threads exchange blocks through a shared table while one of them trims all the time.
TEST(PooledAllocatorTest, ThreadsExchangeBlocksWhileOneTrims) {
  PooledAllocator allocator;
  constexpr size_t kPlaces = 64;
  struct Place {
    std::mutex mutex;
    c10::DataPtr block;
    unsigned char mark = 0;
    size_t size = 0;
  };
  std::vector<Place> places(kPlaces);
  std::atomic<int> running = 3;
  auto exchange = [&](uint32_t seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < 4'000; ++i) {
      const size_t size = 1 + random() % (i % 20 == 0 ? 1'000'000 : 10'000);
      const auto mark = static_cast<unsigned char>(random());
      c10::DataPtr block = allocator.allocate(size);
      auto* bytes = static_cast<unsigned char*>(block.get());
      bytes[0] = bytes[size - 1] = mark;
      Place& place = places[random() % kPlaces];
      std::lock_guard lock(place.mutex);
      if (place.size > 0) {
        const auto* old = static_cast<const unsigned char*>(place.block.get());
        ASSERT_EQ(old[0], place.mark);
        ASSERT_EQ(old[place.size - 1], place.mark);
      }
      place.block = std::move(block);
      place.mark = mark;
      place.size = size;
    }
    --running;
  };
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < 3; ++i) threads.emplace_back(exchange, i);
  while (running > 0) allocator.trim();
  for (std::thread& thread : threads) thread.join();
  for (Place& place : places) place.block.clear();
  EXPECT_EQ(allocator.statistics().live_bytes, 0);
  allocator.trim();
  EXPECT_EQ(allocator.statistics().mapped_bytes, 0);
}

// A thread-local object destroyed after the thread's caches can still free its block.
TEST(PooledAllocatorTest, ThreadLocalObjectsMayFreeLate) {
  PooledAllocator allocator;
  struct Late {
    c10::DataPtr block;
  };
  std::thread thread([&] {
    static thread_local Late late;  // created before the thread's caches, so destroyed after them
    late.block = c10::DataPtr();
    late.block = allocator.allocate(1'000);
    c10::DataPtr other = allocator.allocate(100'000);
  });
  thread.join();
  EXPECT_EQ(allocator.statistics().live_bytes, 0);
}

TEST(PooledAllocatorTest, SeveralAllocatorsLiveSideBySide) {
  PooledAllocator first;
  PooledAllocator second;
  c10::DataPtr in_first = first.allocate(1'000);
  c10::DataPtr in_second = second.allocate(2'000);
  EXPECT_EQ(first.statistics().live_bytes, 1'024);
  EXPECT_EQ(second.statistics().live_bytes, 2'048);
  in_first.clear();
  EXPECT_EQ(first.statistics().live_bytes, 0);
  EXPECT_EQ(second.statistics().live_bytes, 2'048);
}

#if defined(__SANITIZE_ADDRESS__)
TEST(PooledAllocatorDeathTest, AddressSanitizerSeesUseAfterFreeAndOverruns) {
  PooledAllocator allocator;
  EXPECT_DEATH(
      {
        c10::DataPtr block = allocator.allocate(1'000);
        auto* bytes = static_cast<volatile char*>(block.get());
        block.clear();
        bytes[0] = 1;
      },
      "use-after-poison");
  EXPECT_DEATH(
      {
        c10::DataPtr block = allocator.allocate(1'000);
        static_cast<volatile char*>(block.get())[1'000] = 1;
      },
      "use-after-poison");
}
#endif

// A tensor that is destroyed after main: installed allocators must outlive it.
at::Tensor& static_tensor() {
  static at::Tensor tensor;
  return tensor;
}

// Last in this file: it changes the allocator of the whole process.
TEST(PooledAllocatorInstallTest, TensorsUseItUntilProcessEnd) {
  at::set_num_threads(1);  // as in every worker; ThreadSanitizer cannot see into OpenMP
  const std::vector<double> ones(1'000, 1);
  at::Tensor before = at::tensor(ones);
  PooledAllocator& allocator = install_pooled_allocator();
  EXPECT_EQ(c10::GetCPUAllocator(), &allocator);
  at::Tensor sum = before.add(at::tensor(ones));
  EXPECT_GT(allocator.statistics().live_bytes, 0);
  EXPECT_EQ(sum.sum().item<double>(), 2'000);
  sum = at::Tensor();
  static_tensor() = before.repeat(100);
  EXPECT_EQ(allocator.statistics().live_bytes, static_cast<int64_t>(size_of_class(size_class_of(800'000))));
}

}  // namespace
}  // namespace pistachio
