#include "storage/device_copy_rate.h"

#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <optional>

#include "base/task_group.h"
#include "kernels/ops/host_memory.h"
#include "kernels/ops/tensor_functions.h"
#include "storage/lane_streams.h"
#include "storage/staging_area.h"

namespace pistachio {

namespace {

// Copies of this size reach the full bandwidth of PCIe. Divides MappedFiles::kBlockBytes: no piece crosses two blocks.
constexpr int64_t kPieceBytes = int64_t{4} << 20;
static_assert(MappedFiles::kBlockBytes % kPieceBytes == 0);

struct FilePiece {
  std::shared_ptr<DataFile> file;
  ByteRange range;
};

// The copies of one lane, of which the last few may be under way.
class LaneCopies {
 public:
  LaneCopies(std::shared_ptr<LaneStreams> streams, at::Device device) : device_(device), stream_(std::move(streams), device) {}

  // `source` is kept until the copy is done; `enqueue(target)` starts it.
  template <typename Enqueue>
  void add(at::Tensor source, const Enqueue& enqueue) {
    Slot& slot = slots_[next_++ % slots_.size()];
    slot.wait();
    const OnLaneStream on_stream(stream_);
    if (!slot.target.defined()) slot.target = at::empty({kPieceBytes}, at::TensorOptions(at::kByte).device(device_));
    enqueue(slot.target);
    slot.source = std::move(source);
    if (stream_.stream()) {
      slot.done.emplace(device_.type());
      slot.done->record(*stream_.stream());
    }
  }

  void wait() {
    for (Slot& slot : slots_) slot.wait();
  }

 private:
  struct Slot {
    at::Tensor source;
    at::Tensor target;
    std::optional<c10::Event> done;

    void wait() {
      if (done) done->synchronize();
      done.reset();
      source.reset();
    }
  };

  const at::Device device_;
  const LaneStream stream_;
  std::array<Slot, 3> slots_;
  size_t next_ = 0;
};

class FileCopy {
 public:
  FileCopy(StorageContext& storage, std::vector<FilePiece> pieces, at::Device device, CopyWay way)
      : storage_(storage), pieces_(std::move(pieces)), device_(device), way_(way), staging_(device) {}

  Task<int64_t> run(int lanes) {
    std::vector<Task<void>> tasks;
    for (int lane = 0; lane < lanes; ++lane) tasks.push_back(run_lane());
    Task<void> all = when_all(std::move(tasks));
    co_await all;
    co_return bytes_.load();
  }

 private:
  Task<void> run_lane() {
    LaneCopies copies(storage_.lane_streams, device_);
    for (size_t index = next_++; index < pieces_.size(); index = next_++) {
      const FilePiece& piece = pieces_[index];
      Task<void> copying = way_ == CopyWay::Staged ? copy_staged(piece, copies) : copy_registered(piece, copies);
      co_await copying;
    }
    copies.wait();
  }

  Task<void> copy_staged(const FilePiece& piece, LaneCopies& copies) {
    std::vector<ByteRange> ranges = {piece.range};
    Task<std::vector<FileBytes>> reading = storage_.read_pool.read(piece.file, std::move(ranges), 0, &staging_);
    std::vector<FileBytes> read = co_await reading;
    for (const FileBytes& part : read) {
      auto enqueue = [&](const at::Tensor& target) { target.narrow(0, 0, part.bytes.numel()).copy_(part.bytes, /*non_blocking=*/true); };
      copies.add(part.bytes, enqueue);
      bytes_ += part.bytes.numel();
    }
  }

  Task<void> copy_registered(const FilePiece& piece, LaneCopies& copies) {
    std::vector<ByteRange> ranges = {piece.range};
    Task<at::Tensor> finding = storage_.mapped_files->find(piece.file, std::move(ranges), MappedFiles::When::Always);
    at::Tensor mapped = co_await finding;
    if (!mapped.defined()) co_return;  // another lane is registering the block, or it cannot be registered
    auto enqueue = [&](const at::Tensor& target) {
      const auto address = reinterpret_cast<intptr_t>(static_cast<const uint8_t*>(mapped.const_data_ptr()) + piece.range.offset);
      kernels::upload_ranges(target, at::tensor({static_cast<int64_t>(address), piece.range.length, int64_t{0}}, at::kLong).view({1, 3}));
    };
    copies.add(mapped, enqueue);
    bytes_ += piece.range.length;
  }

  StorageContext& storage_;
  const std::vector<FilePiece> pieces_;
  const at::Device device_;
  const CopyWay way_;
  StagingArea staging_;
  std::atomic<size_t> next_ = 0;
  std::atomic<int64_t> bytes_ = 0;
};

}  // namespace

Task<int64_t> copy_files(StorageContext& storage, std::vector<std::shared_ptr<DataFile>> files, at::Device device, CopyWay way, int lanes) {
  if (way == CopyWay::Registered && storage.mapped_files == nullptr) co_return 0;
  std::vector<FilePiece> pieces;
  for (const std::shared_ptr<DataFile>& file : files) {
    for (int64_t offset = 0; offset < file->size(); offset += kPieceBytes)
      pieces.push_back({file, {offset, std::min(kPieceBytes, file->size() - offset)}});
  }
  FileCopy copy(storage, std::move(pieces), device, way);
  Task<int64_t> copying = copy.run(lanes);
  int64_t bytes = co_await copying;
  co_return bytes;
}

double pinned_copy_rate(at::Device device) {
  constexpr int64_t kBytes = int64_t{32} << 20;
  constexpr int kCopies = 64;
  const c10::impl::VirtualGuardImpl guard(device.type());
  const at::Tensor source = at::zeros({kBytes}, at::TensorOptions(at::kByte).pinned_memory(true));
  const at::Tensor target = at::empty({kBytes}, at::TensorOptions(at::kByte).device(device));
  auto copy_all = [&](int copies) {
    for (int i = 0; i < copies; ++i) target.copy_(source, /*non_blocking=*/true);
    guard.synchronizeDevice(device.index());
  };
  copy_all(1);
  const auto begin = std::chrono::steady_clock::now();
  copy_all(kCopies);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return static_cast<double>(kCopies * kBytes) / seconds;
}

}  // namespace pistachio
