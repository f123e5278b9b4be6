#include "frontend/cli/bench_on_path_command.h"

#include <fmt/format.h>

#include <exception>
#include <nlohmann/json.hpp>

#include "frontend/cli/bench_arguments.h"
#include "frontend/cli/bench_output.h"
#include "frontend/cli/on_path_measurement.h"
#include "frontend/cli/on_path_report.h"

namespace pistachio {

namespace {

int64_t cores_of_machine() {
  Settings settings;
  complete_settings(settings);
  return settings.threads;
}

}  // namespace

int run_bench_on_path_command(int argc, char** argv, Settings settings, InterruptWatcher& interrupts) {
  assign_for_comparison(settings);
  settings.device = DeviceChoice::Auto;  // the published sources and sink are GPUs; -s device=cpu overrides it
  CommandArguments arguments(argc, argv, on_path_options(), settings);
  refuse_words(arguments);
  assign_for_on_path(settings);
  if (settings.link_bandwidth_limit > 0) throw UsageError("link_bandwidth_limit cannot be combined with onpath: use --limits and --scale");
  const OnPathSweep sweep = on_path_sweep(arguments, settings, cores_of_machine());
  const std::string folder = cache_folder(arguments);
  const BenchOutput output(arguments);
  OnPathTable table(introduction_of(sweep));
  std::vector<OnPathCellFigures> cells;
  // An error, such as too little memory for the largest cell, loses the other cells as little as Ctrl-C does.
  std::exception_ptr failure;
  OnPathMeasurement measurement(sweep, folder, settings, interrupts);
  for (const OnPathCell& cell : sweep.cells) {
    OnPathCellFigures& figures = cells.emplace_back(OnPathCellFigures{.cell = cell});
    try {
      measurement.measure(figures);
    } catch (const std::exception&) {
      failure = std::current_exception();
    }
    table.print(figures);
    if (failure) break;
  }
  if (cells.front().is_measured()) {
    fmt::print("\n{}\n{}", text_of_checks(cells), published_comparison(cells));
    nlohmann::ordered_json json = json_of_on_path(sweep, settings, cells);
    json["interrupted"] = failure != nullptr;
    output.write(json, charts_of_on_path(cells));
  }
  if (failure) std::rethrow_exception(failure);
  return 0;
}

}  // namespace pistachio
