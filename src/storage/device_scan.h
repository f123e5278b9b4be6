// A scan whose pages are decoded on a device. Many tasks on the host read and decompress units and start their copies, on a stream of their
// own; few lanes take the units that have come, up to the size of a large chunk, and decode, filter and hand them on together: kernels on
// the rows of one row group take hardly longer to run than to launch. Memory: units that wait are bounded by two such chunks.
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
