#include "spill/spilled_partitions.h"

#include <utility>

#include "columns/chunk_packing.h"
#include "columns/device_copy.h"
#include "columns/row_selection.h"
#include "kernels/ops/hash64.h"
#include "kernels/ops/partition_rows.h"
#include "kernels/ops/tensor_functions.h"
#include "memory/fitting_ranges.h"

namespace pistachio {

namespace {

// Joins, groupings and exchanges use bits of the hashes as they are, or combined with smaller numbers.
constexpr int64_t kFirstSalt = 1'000;

// Bytes packed before they are written.
constexpr int64_t kBytesPerWrite = 4 << 20;

}  // namespace

SpilledPartitions::SpilledPartitions(std::shared_ptr<SpillFile> file, int64_t bits, int level)
    : file_(std::move(file)), bits_(bits), level_(level) {
  for (int64_t partition = 0; partition < int64_t{1} << bits; ++partition) partitions_.push_back(std::make_unique<SpilledChunks>(file_));
}

Task<int64_t> SpilledPartitions::add(Chunk rows, const Hash& hash) {
  int64_t written = 0;
  auto divide_some = [&](int64_t begin, int64_t count) { return divide(rows.slice(begin, count), hash); };
  FittingRanges ranges(rows.rows());
  while (!ranges.is_done()) {
    std::optional<Divided> divided = ranges.try_next(divide_some);
    if (!divided) continue;
    Task<int64_t> writing = write(std::move(*divided));
    written += co_await writing;
  }
  co_return written;
}

SpilledPartitions::Divided SpilledPartitions::divide(const Chunk& rows, const Hash& hash) const {
  const at::Tensor hashes = hash(rows);
  const at::Tensor salt = at::full({hashes.numel()}, kFirstSalt + level_, hashes.options());
  auto [order, offsets] = kernels::partition_rows(kernels::hash64_combine(hashes, salt), bits_);
  // Leaves a GPU as a whole: one download per column, not per column and partition.
  return {to_device(take_rows(rows, order), at::kCPU), offsets.to(at::kCPU)};
}

Task<int64_t> SpilledPartitions::write(Divided divided) {
  std::vector<Packed> packed;
  int64_t written = 0;
  int64_t waiting = 0;
  for (size_t partition = 0; partition < partitions_.size(); ++partition) {
    const int64_t begin = divided.begins.const_data_ptr<int64_t>()[partition];
    const int64_t count = divided.begins.const_data_ptr<int64_t>()[partition + 1] - begin;
    if (count > 0) {
      packed.push_back({partition, count, pack_chunk(divided.rows.slice(begin, count))});
      waiting += packed.back().block.numel();
    }
    if (waiting < kBytesPerWrite && partition + 1 < partitions_.size()) continue;
    Task<void> writing = write_packed(std::exchange(packed, {}));
    co_await writing;
    written += std::exchange(waiting, 0);
  }
  co_return written;
}

Task<void> SpilledPartitions::write_packed(std::vector<Packed> packed) {
  std::vector<at::Tensor> blocks;
  for (Packed& part : packed) blocks.push_back(std::move(part.block));
  Task<std::vector<SpillPlace>> writing = file_->write(std::move(blocks));
  const std::vector<SpillPlace> places = co_await writing;
  for (size_t i = 0; i < packed.size(); ++i) partitions_[packed[i].partition]->add_written({places[i], packed[i].rows});
}

}  // namespace pistachio
