// Blocks of spilled rows: in host memory as far as there is an account for them that has room (rows of a GPU), else in a temporary file. It
// has no name in its folder, so the system removes it however the process ends, and is created when the first block needs it. Blocks are
// written and read by the scheduler's blocking threads, for any number of tasks concurrently.
#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/task.h"
#include "memory/memory_account.h"
#include "spill/spill_space.h"

namespace pistachio {

struct SpillPlace {
  int64_t offset = 0;  // in the file; of a block in memory its number
  int64_t bytes = 0;
  bool is_in_memory = false;
};

class SpillFile {
 public:
  // Without an account for host memory the file is created at once. Throws UserError if it cannot be.
  SpillFile(SpillSpace& space, SpillLimits limits, std::optional<MemoryAccount> memory = std::nullopt);
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  // Blocks are uint8 [bytes], contiguous, in host memory. Throws UserError if the disk is full.
  Task<std::vector<SpillPlace>> write(std::vector<at::Tensor> blocks);
  Task<at::Tensor> read(SpillPlace place);
  // Returns the block's disk space; it must not be read again.
  void release(SpillPlace place) noexcept;

 private:
  struct Kept {
    at::Tensor block;
    Reservation memory;
  };
  std::optional<SpillPlace> keep(const at::Tensor& block);
  void open();
  void write_now(const at::Tensor& block, int64_t offset);
  void read_now(const at::Tensor& block, int64_t offset);

  SpillSpace& space_;
  const SpillLimits limits_;
  const std::optional<MemoryAccount> memory_;
  std::atomic<int64_t> end_ = 0;
  std::atomic<int64_t> held_ = 0;  // bytes taken from the space
  std::mutex mutex_;
  // Guarded by mutex_.
  int file_ = -1;
  std::unordered_map<int64_t, Kept> kept_;  // blocks in host memory, by number
  int64_t kept_count_ = 0;
};

}  // namespace pistachio
