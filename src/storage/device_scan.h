// A scan that decodes pages on a device. Row groups are read into pinned host memory, or copied from the page cache where that is
// registered with the GPU (storage/mapped_files.h); reader lanes parse their page headers, and decompress what the device cannot. Decoder
// lanes batch whatever has arrived, up to device_chunk_bytes, because a single row group is too small to keep a GPU busy: each batch is
// uploaded in a few large copies, decompressed with one kernel call, then decoded and filtered with one call per encoding, all on the lane's
// own stream, so that the copies, kernels and waits of one lane overlap with those of the others. Consumer lanes receive the chunks; there
// are usually fewer of them, since partial results of several lanes would have to be merged. Back-pressure: at most two chunks' worth of
// staged row groups, and one decoded chunk in the channel plus one per decoder lane.
// With `overlap` off, for comparison, a decoder lane reads a row group, uploads it, waits for the device, decodes it, waits again, and only
// then reads the next one. With `pinned_memory` off, the staged pages are in ordinary memory.
#pragma once

#include <atomic>
#include <functional>
#include <optional>

#include "memory/channel.h"
#include "storage/device_decompression.h"
#include "storage/lane_streams.h"
#include "storage/table_scan.h"

namespace pistachio {

class DeviceScan {
 public:
  // Every reference must outlive the scan; see TableScan.
  DeviceScan(StorageContext& storage, const ScanPlan& plan, ScanCounters& counters, UnitSource* source, at::Device device);

  struct Lanes {
    int readers = 1;
    int decoders = 1;
    int consumers = 1;
  };
  // Calls `consume` on every consumer lane, one chunk at a time per lane. The first error stops all lanes.
  Task<void> run(Lanes lanes, std::function<Task<void>(int lane, Chunk chunk)> consume);

  // Drops the rest of the table. Any lane may call it.
  void stop() { scan_.stop(); }

 private:
  Task<void> read_units(ScanLane& lane);
  Task<void> read_all(int readers);
  Task<void> decode_units();
  Task<void> read_and_decode_units(ScanLane& lane);
  Task<void> read_and_decode_all(int lanes);
  Task<std::vector<UnitPages>> next_units();
  Task<void> decode_in_parts(std::vector<UnitPages> units, const LaneStream& stream);
  void ensure_free_memory(std::span<const UnitPages> units, const LaneStream& stream) const;
  DeviceDecompression upload(std::vector<UnitPages>& units) const;
  Chunk decode(std::vector<UnitPages> units, const LaneStream& stream);
  Chunk decode_uploaded(const std::vector<UnitPages>& units) const;
  Column decode_column(const std::vector<UnitPages>& units, size_t column) const;
  int64_t decoded_bytes(const UnitPages& unit) const;
  int64_t batch_bytes(const UnitPages& unit) const;

  const ScanPlan& plan_;
  ScanCounters& counters_;
  const at::Device device_;
  const int64_t chunk_bytes_;
  const bool overlaps_;
  const std::shared_ptr<LaneStreams> streams_;
  const DeviceRelief relief_;
  StagingArea staging_;
  TableScan scan_;
  Channel<UnitPages> staged_;
  Channel<Chunk> decoded_;
  int decoders_ = 1;               // decoder lanes
  std::atomic<int> decoding_ = 0;  // those still running
};

}  // namespace pistachio
