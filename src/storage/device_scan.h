// A scan that decodes pages on a device. Host tasks read row groups and decompress them into pinned memory. A few lanes batch whatever has
// arrived, up to device_chunk_bytes: they copy it by few large copies on a stream of its own, and decode and filter it with one kernel per
// encoding, since a single row group is too small to keep a GPU busy; one lane copies while another decodes. Their chunks go to the lanes
// of the consumer, usually fewer: two sets of groups would have to be merged. Back-pressure: at most two chunks' worth of row groups wait
// for the device, and one decoded chunk for each decoding lane.
#pragma once

#include <c10/core/Stream.h>

#include <atomic>
#include <functional>
#include <optional>

#include "memory/channel.h"
#include "storage/table_scan.h"

namespace pistachio {

class DeviceScan {
 public:
  // Everything passed by reference outlives the scan; see TableScan.
  DeviceScan(StorageContext& storage, const ScanPlan& plan, ScanCounters& counters, UnitSource* source, at::Device device);

  struct Lanes {
    int readers = 1;
    int decoders = 1;
    int consumers = 1;
  };
  // Calls `consume` on each consumer's lane with the chunks of that lane, one after the other. The first error ends all.
  Task<void> run(Lanes lanes, std::function<Task<void>(int lane, Chunk chunk)> consume);

  // Nobody wants the rest; any lane may call it.
  void stop() { scan_.stop(); }

 private:
  Task<void> read_units(ScanLane& lane);
  Task<void> read_all(int readers);
  Task<void> decode_units();
  Task<std::optional<Chunk>> next_chunk();
  void upload(std::vector<UnitPages>& units) const;
  Chunk decode(std::vector<UnitPages> units);
  Column decode_column(const std::vector<UnitPages>& units, size_t column) const;
  int64_t decoded_bytes(const UnitPages& unit) const;

  const ScanPlan& plan_;
  ScanCounters& counters_;
  const at::Device device_;
  const int64_t chunk_bytes_;
  TableScan scan_;
  std::optional<c10::Stream> copy_stream_;  // of a GPU
  Channel<UnitPages> staged_;
  Channel<Chunk> decoded_;
  std::atomic<int> decoding_ = 0;  // decoders that have not come to the end
};

}  // namespace pistachio
