#include "engine/decode_scan.h"

#include <c10/core/impl/VirtualGuardImpl.h>

#include <chrono>

#include "storage/device_scan.h"
#include "storage/parquet_table.h"

namespace pistachio {

namespace {

Task<int64_t> decode_all(EngineInstance& engine, StorageContext& storage, const SummaryRequest& request) {
  Task<ParquetTable> opening = open_table(storage, request.paths);
  ParquetTable table = co_await opening;
  ScanPlan plan = plan_scan(table, request.scan, ScanLimits(storage.settings), storage.settings.threads);
  ScanCounters counters;
  DeviceScan scan(storage, plan, counters, nullptr, engine.device());
  auto discard = [](int, Chunk) -> Task<void> { co_return; };
  const DeviceScan::Lanes lanes{engine.scheduler().workers(), static_cast<int>(storage.settings.device_scan_lanes), 1};
  Task<void> running = scan.run(lanes, discard);
  co_await running;
  co_return counters.rows_selected.load();
}

}  // namespace

DecodeScanResult run_decode_scan(EngineInstance& engine, const Settings& settings, const SummaryRequest& request,
                                 const CancelToken& token) {
  const auto begin = std::chrono::steady_clock::now();
  EngineInstance::QueryScope query(engine, settings, EngineInstance::QueryScope::Use::ScanOnly);
  DecodeScanResult result;
  result.rows = engine.scheduler().run(decode_all(engine, query.storage(), request), token);
  if (!engine.device().is_cpu()) c10::impl::VirtualGuardImpl(engine.device().type()).synchronizeDevice(engine.device().index());
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  result.bytes_read = query.read_pool().statistics().bytes;
  return result;
}

}  // namespace pistachio
