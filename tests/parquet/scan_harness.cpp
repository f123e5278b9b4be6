#include "tests/parquet/scan_harness.h"

#include <algorithm>
#include <exception>

#include "base/task_group.h"
#include "columns/device_copy.h"
#include "storage/device_scan.h"

namespace pistachio::test {

namespace {

// Sends every chunk of the scan into the channel, then closes it; an error fails it.
Task<void> send_all(TableScan& scan, int lanes, Channel<ScannedChunk>& channel) {
  auto consume = [&](ScanLane& lane) -> Task<void> {
    while (true) {
      Task<std::optional<ScannedChunk>> taking = lane.next();
      std::optional<ScannedChunk> chunk = co_await taking;
      if (!chunk) co_return;
      int64_t bytes = std::max<int64_t>(1, chunk->chunk.memory_bytes());
      Task<void> sending = channel.send(std::move(*chunk), bytes);
      co_await sending;
    }
  };
  std::exception_ptr error;
  try {
    Task<void> running = scan.run(lanes, consume);
    co_await running;
  } catch (...) {
    error = std::current_exception();
  }
  if (error) {
    channel.fail(error);
    std::rethrow_exception(error);
  }
  channel.close();
}

// Counts what arrives and hands it to the test.
Task<void> receive_all(Channel<ScannedChunk>& channel, const ScanPlan& plan, const ScanHarness::Consume& consume,
                       ScanHarness::Outcome& outcome) {
  while (true) {
    Task<std::optional<ScannedChunk>> receiving = channel.receive();
    std::optional<ScannedChunk> received = co_await receiving;
    if (!received) co_return;
    outcome.rows += received->chunk.rows();
    ++outcome.chunks;
    if (consume) consume(plan, received->chunk);
  }
}

Task<ScanHarness::Outcome> scan_table(StorageContext& storage, std::vector<std::string> patterns, const ScanRequest& request,
                                      const ScanHarness::Consume& consume, int lanes) {
  Task<ParquetTable> opening = open_table(storage, std::move(patterns));
  ParquetTable table = co_await opening;
  ScanPlan plan = plan_scan(table, request, ScanLimits(storage.settings), storage.settings.threads);
  ScanCounters counters;
  TableScan scan(storage, plan, counters);
  Channel<ScannedChunk> channel(int64_t{1} << 20);
  ScanHarness::Outcome outcome;
  auto body = [&](TaskGroup& group) -> Task<void> {
    group.spawn(send_all(scan, lanes, channel));
    group.spawn(receive_all(channel, plan, consume, outcome));
    co_return;
  };
  co_await with_task_group(body);
  outcome.row_groups = plan.row_groups;
  outcome.pruned_row_groups = plan.pruned_row_groups + counters.row_groups_pruned;
  outcome.pages = counters.pages_total;
  outcome.skipped_pages = counters.pages_skipped;
  co_return outcome;
}

Task<ScanHarness::Outcome> scan_table_together(StorageContext& storage, std::vector<std::string> patterns, const ScanRequest& request,
                                               const ScanHarness::Consume& consume, at::Device device) {
  Task<ParquetTable> opening = open_table(storage, std::move(patterns));
  ParquetTable table = co_await opening;
  ScanPlan plan = plan_scan(table, request, ScanLimits(storage.settings), storage.settings.threads);
  ScanCounters counters;
  DeviceScan scan(storage, plan, counters, nullptr, device);
  ScanHarness::Outcome outcome;
  auto take = [&](int, Chunk chunk) -> Task<void> {
    outcome.rows += chunk.rows();
    ++outcome.chunks;
    if (consume) consume(plan, to_device(chunk, at::kCPU));
    co_return;
  };
  Task<void> running = scan.run({.readers = 1, .decoders = 1, .consumers = 1}, take);
  co_await running;
  outcome.mapped_bytes = storage.read_pool.statistics().mapped_bytes;
  outcome.row_groups = plan.row_groups;
  outcome.pruned_row_groups = plan.pruned_row_groups + counters.row_groups_pruned;
  outcome.pages = counters.pages_total;
  outcome.skipped_pages = counters.pages_skipped;
  co_return outcome;
}

}  // namespace

Settings scan_test_settings() {
  Settings settings;
  settings.threads = 2;
  settings.memory_limit = 256 << 20;
  complete_settings(settings);
  return settings;
}

ScanHarness::ScanHarness(Settings settings)
    : settings_(settings),
      governor_(settings.memory_limit),
      scheduler_({.workers = static_cast<int>(settings.threads), .blocking_threads = 4}),
      metadata_cache_(settings.metadata_cache_bytes) {}

ScanHarness::Outcome ScanHarness::scan(std::vector<std::string> patterns, ScanRequest request, Consume consume, CancelToken token) {
  Settings settings = settings_;
  settings.overlap = false;  // units that are read ahead may overtake each other
  return run(settings, std::move(patterns), std::move(request), std::move(consume), std::move(token), /*lanes=*/1);
}

ScanHarness::Outcome ScanHarness::scan_in_any_order(std::vector<std::string> patterns, ScanRequest request, Consume consume,
                                                    CancelToken token) {
  return run(settings_, std::move(patterns), std::move(request), std::move(consume), std::move(token),
             static_cast<int>(settings_.threads));
}

ScanHarness::Outcome ScanHarness::run(const Settings& settings, std::vector<std::string> patterns, ScanRequest request, Consume consume,
                                      CancelToken token, int lanes) {
  ReadPool read_pool({.bandwidth_limit = settings.storage_bandwidth_limit});
  StorageContext storage{settings, object_stores_, metadata_cache_, read_pool, governor_.process_account().make_child("scan")};
  Task<Outcome> task = scan_table(storage, std::move(patterns), request, consume, lanes);
  return scheduler_.run(std::move(task), token);
}

ScanHarness::Outcome ScanHarness::scan_together(std::vector<std::string> patterns, ScanRequest request, Consume consume,
                                                at::Device device) {
  ReadPool read_pool({});
  StorageContext storage{settings_, object_stores_, metadata_cache_, read_pool, governor_.process_account().make_child("scan")};
  storage.settings.overlap = false;  // one unit is read after the other
  storage.mapped_files = std::make_shared<MappedFiles>(
      governor_.process_account().make_child("registered files", settings_.gpu_registered_bytes), device);
  Task<Outcome> task = scan_table_together(storage, std::move(patterns), request, consume, device);
  return scheduler_.run(std::move(task));
}

}  // namespace pistachio::test
