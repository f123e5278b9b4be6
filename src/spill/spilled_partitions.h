// Rows on disk, partitioned by a hash, so that rows with equal keys are processed together, one partition at a time. A partition that is
// too large is split again at the next level, by other bits. Written by any number of tasks.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/task.h"
#include "spill/spilled_chunks.h"

namespace pistachio {

class SpilledPartitions {
 public:
  // Bits of the first partitions, and of each level below.
  static constexpr int64_t kFirstBits = 6;
  static constexpr int64_t kBitsPerLevel = 4;
  // Enough for 2^18 times the memory; a partition that is still too large then is dominated by a frequent key.
  static constexpr int kMaxLevels = 3;

  // 2^bits partitions.
  SpilledPartitions(std::shared_ptr<SpillFile> file, int64_t bits, int level);

  // int64 [rows], as hash_rows() makes them.
  using Hash = std::function<at::Tensor(const Chunk& rows)>;
  // Returns the bytes written. If there is no memory to order all rows by partition, fewer are at a time. `hash` outlives the task.
  Task<int64_t> add(Chunk rows, const Hash& hash);

  size_t count() const { return partitions_.size(); }
  int level() const { return level_; }
  // After the last add.
  const SpilledChunks& at(size_t partition) const { return *partitions_[partition]; }

 private:
  struct Packed {
    size_t partition = 0;
    int64_t rows = 0;
    at::Tensor block;
  };
  // Rows in host memory, by partition.
  struct Divided {
    Chunk rows;
    at::Tensor begins;  // int64 [partitions + 1]
  };
  Divided divide(const Chunk& rows, const Hash& hash) const;
  Task<int64_t> write(Divided divided);
  Task<void> write_packed(std::vector<Packed> packed);

  const std::shared_ptr<SpillFile> file_;
  const int64_t bits_;
  const int level_;
  std::vector<std::unique_ptr<SpilledChunks>> partitions_;
};

}  // namespace pistachio
