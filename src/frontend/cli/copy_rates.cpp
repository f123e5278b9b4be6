#include "frontend/cli/copy_rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "storage/device_copy_rate.h"
#include "storage/file_discovery.h"

namespace pistachio {

namespace {

std::vector<std::shared_ptr<DataFile>> open_local_files(StorageContext& storage, const std::vector<std::string>& paths) {
  std::vector<std::shared_ptr<DataFile>> files;
  for (const std::string& path : paths) {
    for (const FoundFile& found : find_files(storage.object_stores, path)) {
      if (is_object_address(found.path)) throw UserError(fmt::format("{} is not a local file, so it is not in the page cache", found.path));
      files.push_back(open_local_file(found.path, storage.settings.direct_io));
    }
  }
  return files;
}

}  // namespace

CopyRates measure_copy_rates(EngineInstance& engine, const std::vector<std::string>& paths, int64_t rounds, const CancelToken& token) {
  if (engine.device().is_cpu()) throw UserError("copies to a GPU are measured: set device=cuda");
  EngineInstance::QueryScope query(engine, engine.settings(), EngineInstance::QueryScope::Use::ScanOnly);
  const std::vector<std::shared_ptr<DataFile>> files = open_local_files(query.storage(), paths);
  CopyRates rates;
  for (const std::shared_ptr<DataFile>& file : files) rates.bytes += file->size();
  if (rates.bytes == 0) throw UserError("the files are empty: there is nothing to copy");
  // Nullopt if not all bytes could be copied.
  auto measure = [&](CopyWay way) {
    std::optional<double> best;
    for (int64_t round = -1; round < rounds; ++round) {
      const auto begin = std::chrono::steady_clock::now();
      const int workers = engine.scheduler().workers();
      const int64_t copied = engine.scheduler().run(copy_files(query.storage(), files, engine.device(), way, workers), token);
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      if (round < 0) continue;
      if (copied < rates.bytes) return std::optional<double>();
      best = std::max(best.value_or(0), static_cast<double>(copied) / seconds);
    }
    return best;
  };
  rates.staged = measure(CopyWay::Staged).value_or(0);
  rates.registered = measure(CopyWay::Registered);
  rates.pinned = pinned_copy_rate(engine.device());
  return rates;
}

nlohmann::ordered_json json_of_copy_rates(const CopyRates& rates) {
  return {{"bytes", rates.bytes},
          {"staged", rates.staged},
          {"registered", rates.registered ? nlohmann::ordered_json(*rates.registered) : nlohmann::ordered_json()},
          {"pinned", rates.pinned},
          {"better", rates.better_name()}};
}

std::string copy_rates_text(const CopyRates& rates, int64_t threads) {
  auto speed = [](double bytes_per_second) { return fmt::format("{:6.2f} GB/s", bytes_per_second / 1e9); };
  return fmt::format(
      "staged      {}  page cache to pinned memory to GPU, {} threads\n"
      "registered  {}  page cache to GPU\n"
      "pinned      {}  pinned memory to GPU\n",
      speed(rates.staged), threads, rates.registered ? speed(*rates.registered) : "   refused ", speed(rates.pinned));
}

}  // namespace pistachio
