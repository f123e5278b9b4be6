#include "spill/spilled_partitions.h"

#include <utility>

#include "columns/chunk_packing.h"
#include "columns/device_copy.h"
#include "columns/row_selection.h"
#include "kernels/ops/hash64.h"
#include "kernels/ops/partition_rows.h"
#include "kernels/ops/tensor_functions.h"

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

Task<int64_t> SpilledPartitions::add(Chunk rows, at::Tensor hashes) {
  auto [order, offsets] = kernels::partition_rows(kernels::hash64_combine(hashes, at::full({hashes.numel()}, kFirstSalt + level_, hashes.options())), bits_);
  const at::Tensor begins = offsets.to(at::kCPU);
  // Leaves a GPU as a whole: one download per column, not per column and partition.
  rows = to_device(take_rows(rows, order), at::kCPU);
  std::vector<Packed> packed;
  int64_t written = 0;
  int64_t waiting = 0;
  for (size_t partition = 0; partition < partitions_.size(); ++partition) {
    const int64_t begin = begins.const_data_ptr<int64_t>()[partition];
    const int64_t count = begins.const_data_ptr<int64_t>()[partition + 1] - begin;
    if (count > 0) {
      packed.push_back({partition, count, pack_chunk(rows.slice(begin, count))});
      waiting += packed.back().block.numel();
    }
    if (waiting < kBytesPerWrite && partition + 1 < partitions_.size()) continue;
    Task<void> writing = write(std::exchange(packed, {}));
    co_await writing;
    written += std::exchange(waiting, 0);
  }
  co_return written;
}

Task<void> SpilledPartitions::write(std::vector<Packed> packed) {
  std::vector<at::Tensor> blocks;
  for (Packed& part : packed) blocks.push_back(std::move(part.block));
  Task<std::vector<SpillPlace>> writing = file_->write(std::move(blocks));
  const std::vector<SpillPlace> places = co_await writing;
  for (size_t i = 0; i < packed.size(); ++i) partitions_[packed[i].partition]->add_written({places[i], packed[i].rows});
}

}  // namespace pistachio
