#include "spill/spilled_partitions.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "base/error.h"
#include "base/scheduler.h"
#include "columns/column_hash.h"
#include "kernels/ops/tensor_functions.h"
#include "spill/query_spill.h"

namespace pistachio {
namespace {

const SpillLimits kLimits{"/tmp", 0};

Chunk numbers(int64_t begin, int64_t count) {
  return Chunk({Column::fixed(TypeKind::BigInt, at::arange(begin, begin + count, at::kLong))}, count);
}

at::Tensor block_of(int64_t bytes) {
  return at::arange(bytes, at::kLong).remainder(251).to(at::kByte);
}

class SpillFileTest : public testing::Test {
 protected:
  SpillSpace space_;
  Scheduler scheduler_{SchedulerOptions{.workers = 2}};
};

TEST_F(SpillFileTest, BlocksRoundTrip) {
  SpillFile file(space_, kLimits);
  auto write_and_read = [&]() -> Task<void> {
    std::vector<at::Tensor> blocks{block_of(10'000), block_of(0), block_of(1), block_of(3 << 20)};
    Task<std::vector<SpillPlace>> writing = file.write(blocks);
    const std::vector<SpillPlace> places = co_await writing;
    for (size_t i = 0; i < blocks.size(); ++i) {
      Task<at::Tensor> reading = file.read(places[i]);
      const at::Tensor back = co_await reading;
      EXPECT_TRUE(at::equal(back, blocks[i]));
    }
  };
  scheduler_.run(write_and_read());
}

TEST_F(SpillFileTest, CountsItsSpaceUntilItIsReleased) {
  {
    SpillFile file(space_, kLimits);
    auto write_and_release = [&]() -> Task<void> {
      std::vector<at::Tensor> blocks{block_of(8'192), block_of(4'096)};
      Task<std::vector<SpillPlace>> writing = file.write(blocks);
      const std::vector<SpillPlace> places = co_await writing;
      EXPECT_EQ(space_.bytes(), 12'288);
      file.release(places[0]);
      EXPECT_LE(space_.bytes(), 12'288);
    };
    scheduler_.run(write_and_release());
  }
  EXPECT_EQ(space_.bytes(), 0);
}

TEST_F(SpillFileTest, KeepsBlocksInMemoryThatHasRoom) {
  const MemoryGovernor governor(10'000);
  const MemoryAccount& memory = governor.process_account();
  {
    SpillFile file(space_, kLimits, memory);
    auto write_and_read = [&]() -> Task<void> {
      // The first and the last fit into memory, the second does not.
      std::vector<at::Tensor> blocks{block_of(6'000), block_of(9'000), block_of(4'000)};
      Task<std::vector<SpillPlace>> writing = file.write(blocks);
      const std::vector<SpillPlace> places = co_await writing;
      EXPECT_EQ(memory.used(), 10'000);
      EXPECT_EQ(space_.bytes(), 12'288);
      for (size_t i = 0; i < blocks.size(); ++i) {
        Task<at::Tensor> reading = file.read(places[i]);
        const at::Tensor back = co_await reading;
        EXPECT_TRUE(at::equal(back, blocks[i])) << i;
      }
      file.release(places[0]);
      EXPECT_EQ(memory.used(), 4'000);
    };
    scheduler_.run(write_and_read());
  }
  EXPECT_EQ(memory.used(), 0);
  EXPECT_EQ(space_.bytes(), 0);
}

TEST_F(SpillFileTest, NeedsNoFolderWhileBlocksFitIntoMemory) {
  const MemoryGovernor governor(10'000);
  SpillFile file(space_, {"/tmp/there is no such folder", 0}, governor.process_account());
  auto write = [&](int64_t bytes) -> Task<void> {
    std::vector<at::Tensor> blocks{block_of(bytes)};
    Task<std::vector<SpillPlace>> writing = file.write(blocks);
    co_await writing;
  };
  scheduler_.run(write(5'000));
  EXPECT_THROW(scheduler_.run(write(9'000)), UserError);
}

TEST_F(SpillFileTest, ObeysTheLimitOfAllFiles) {
  const SpillLimits small{"/tmp", 20'000};
  SpillFile first(space_, small);
  SpillFile second(space_, small);
  auto write = [&](SpillFile& file, int64_t bytes) -> Task<void> {
    std::vector<at::Tensor> blocks{block_of(bytes)};
    Task<std::vector<SpillPlace>> writing = file.write(blocks);
    co_await writing;
  };
  scheduler_.run(write(first, 12'000));
  EXPECT_THROW(scheduler_.run(write(second, 12'000)), UserError);
  EXPECT_EQ(space_.bytes(), 12'288);
}

TEST_F(SpillFileTest, MissingFolderIsNamed) {
  try {
    SpillFile file(space_, {"/tmp/there is no such folder", 0});
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(error.message().find("temp_directory /tmp/there is no such folder"), std::string::npos) << error.message();
  }
}

TEST_F(SpillFileTest, EqualKeysMeetInOnePartition) {
  SpilledPartitions partitions(std::make_shared<SpillFile>(space_, kLimits), 4, 0);
  auto spill = [&]() -> Task<void> {
    // Every number twice, by different calls.
    for (int64_t begin : {0, 500, 0, 500}) {
      Chunk rows = numbers(begin, 500);
      const SpilledPartitions::Hash hash = [](const Chunk& part) { return hash_rows(part.columns()); };
      Task<int64_t> adding = partitions.add(std::move(rows), hash);
      EXPECT_GT(co_await adding, 0);
    }
    std::map<int64_t, std::map<size_t, int>> seen;  // number -> partition -> times
    for (size_t partition = 0; partition < partitions.count(); ++partition) {
      const SpilledChunks& rows = partitions.at(partition);
      for (size_t piece = 0; piece < rows.pieces().size(); ++piece) {
        Task<Chunk> reading = rows.read(piece, at::kCPU);
        const Chunk chunk = co_await reading;
        for (int64_t i = 0; i < chunk.rows(); ++i) ++seen[chunk.column(0).values()[i].item<int64_t>()][partition];
      }
    }
    EXPECT_EQ(seen.size(), 1'000u);
    for (const auto& [number, places] : seen) {
      EXPECT_EQ(places.size(), 1u) << number;
      EXPECT_EQ(places.begin()->second, 2) << number;
    }
  };
  scheduler_.run(spill());
}

}  // namespace
}  // namespace pistachio
