// A scan that decodes pages on a device. Host tasks read and decompress row groups and copy their pages on a dedicated stream. A few lanes batch
// whatever has arrived, up to device_chunk_bytes, and decode and filter it with one kernel per encoding: a single row group is too small to
// keep a GPU busy. Back-pressure: at most two chunks' worth of row groups wait for the device.
#pragma once

#include <c10/core/Event.h>
#include <c10/core/Stream.h>

#include <functional>
#include <optional>

#include "memory/channel.h"
#include "storage/table_scan.h"

namespace pistachio {

class DeviceScan {
 public:
  // Everything passed by reference outlives the scan; see TableScan.
  DeviceScan(StorageContext& storage, const ScanPlan& plan, ScanCounters& counters, UnitSource* source, at::Device device);

  // Calls `consume` on each lane with the chunks of that lane, one after the other. The first error ends all.
  Task<void> run(int readers, int lanes, std::function<Task<void>(int lane, Chunk chunk)> consume);

  // Nobody wants the rest; any lane may call it.
  void stop() { scan_.stop(); }

 private:
  struct CopiedUnit {
    UnitPages pages;
    std::optional<c10::Event> copied;  // of a GPU
  };

  Task<void> read_units(ScanLane& lane);
  Task<void> read_all(int readers);
  Task<std::optional<Chunk>> next_chunk();
  CopiedUnit copy(UnitPages pages) const;
  Chunk decode(std::vector<CopiedUnit> units);
  Column decode_column(const std::vector<CopiedUnit>& units, size_t column) const;
  int64_t decoded_bytes(const UnitPages& unit) const;

  const ScanPlan& plan_;
  ScanCounters& counters_;
  const at::Device device_;
  const int64_t chunk_bytes_;
  TableScan scan_;
  std::optional<c10::Stream> copy_stream_;  // of a GPU
  Channel<CopiedUnit> copied_;
};

}  // namespace pistachio
