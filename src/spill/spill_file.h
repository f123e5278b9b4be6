// A temporary file of blocks. It has no name in its folder, so the system removes it however the process ends. Blocks are written and read
// by the scheduler's blocking threads, for any number of tasks concurrently. Memory: none of its own.
#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/task.h"
#include "spill/spill_space.h"

namespace pistachio {

struct SpillPlace {
  int64_t offset = 0;
  int64_t bytes = 0;
};

class SpillFile {
 public:
  // Throws UserError if no file can be created in the folder.
  SpillFile(SpillSpace& space, SpillLimits limits);
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  // Blocks are uint8 [bytes], contiguous, in host memory; they are written next to each other. Throws UserError if the disk is full.
  Task<std::vector<SpillPlace>> write(std::vector<at::Tensor> blocks);
  Task<at::Tensor> read(SpillPlace place);
  // Returns the block's disk space; it must not be read again.
  void release(SpillPlace place) noexcept;

 private:
  void write_now(const at::Tensor& block, int64_t offset);
  void read_now(const at::Tensor& block, int64_t offset);

  SpillSpace& space_;
  const SpillLimits limits_;
  int file_ = -1;
  std::atomic<int64_t> end_ = 0;
  std::atomic<int64_t> held_ = 0;  // bytes taken from the space
};

}  // namespace pistachio
