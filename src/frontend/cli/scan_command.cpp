#include "frontend/cli/scan_command.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/format_bytes.h"
#include "engine/summary_scan.h"
#include "frontend/cli/command_arguments.h"
#include "frontend/cli/input_line.h"
#include "frontend/cli/progress_line.h"
#include "frontend/cli/standard_output.h"
#include "frontend/cli/text_table.h"

namespace pistachio {

namespace {

using Json = nlohmann::ordered_json;

std::string rate(int64_t bytes, double seconds) {
  return fmt::format("{:.2f} GB/s", seconds > 0 ? static_cast<double>(bytes) / seconds / 1e9 : 0.0);
}

std::string shown(const std::optional<ScalarValue>& value) {
  return value ? value->to_string() : "NULL";
}

std::string_view unit_of(LogicalType type) {
  return type.kind() == TypeKind::Varchar ? " characters" : type.kind() == TypeKind::Blob ? " bytes" : "";
}

void print_box(const SummaryResult& result, int64_t peak_memory) {
  TextTable facts({{"scan"}, {"", TextTable::Align::Right}, {""}});
  facts.add({"rows", with_thousands(result.selected), result.selected == result.rows ? "" : "of " + with_thousands(result.rows)});
  facts.add({"files", with_thousands(result.files), ""});
  facts.add({"time", fmt::format("{:.3f} ms", result.seconds * 1e3), ""});
  facts.add({"read", format_bytes(result.bytes_read), rate(result.bytes_read, result.seconds)});
  facts.add({"decoded", format_bytes(result.decoded_bytes), rate(result.decoded_bytes, result.seconds)});
  facts.add({"row groups pruned", with_thousands(result.pruned_row_groups), "of " + with_thousands(result.row_groups)});
  facts.add({"pages skipped", with_thousands(result.skipped_pages), "of " + with_thousands(result.pages)});
  facts.add({"peak memory", format_bytes(peak_memory), ""});
  fmt::print("{}\n", facts.to_string());
  TextTable columns({{"column"}, {"type"}, {"values", TextTable::Align::Right}, {"min"}, {"max"}, {"sum", TextTable::Align::Right}});
  for (const ColumnTotals& column : result.columns) {
    columns.add({column.name, column.type.to_string(), with_thousands(column.count), shown(column.minimum), shown(column.maximum),
                 column.sum_text().append(unit_of(column.type))});
  }
  fmt::print("{}", columns.to_string());
}

Json json_of(const SummaryResult& result, int64_t peak_memory) {
  Json columns = Json::object();
  for (const ColumnTotals& column : result.columns) {
    // A column that is requested twice appears twice: a, a:1.
    std::string name = column.name;
    for (int copy = 1; columns.contains(name); ++copy) name = fmt::format("{}:{}", column.name, copy);
    columns[name] = {{"type", column.type.to_string()},
                     {"count", column.count},
                     {"min", column.minimum ? Json(column.minimum->to_string()) : Json()},
                     {"max", column.maximum ? Json(column.maximum->to_string()) : Json()},
                     {"sum", column.sum_text()}};
  }
  return {{"seconds", result.seconds},
          {"rows", result.selected},
          {"table_rows", result.rows},
          {"files", result.files},
          {"bytes_read", result.bytes_read},
          {"decoded_bytes", result.decoded_bytes},
          {"row_groups", result.row_groups},
          {"row_groups_pruned", result.pruned_row_groups},
          {"pages", result.pages},
          {"pages_skipped", result.skipped_pages},
          {"peak_memory_bytes", peak_memory},
          {"peak_reserved_bytes", result.peak_reserved_bytes},
          {"columns", columns}};
}

// Invalid UTF-8 is shown with replacement characters instead of failing.
std::string dump(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::vector<std::string> strings_of(const Json& request, const char* name) {
  if (!request.contains(name)) return {};
  if (request[name].is_string()) return {request[name].get<std::string>()};
  return request[name].get<std::vector<std::string>>();
}

// The engines of `--serve`, one per combination of engine-level settings. They share the process's allocator and thus one memory limit: a
// request with another limit replaces all of them.
class ServedEngines {
 public:
  EngineInstance& find(const Settings& settings) {
    if (settings.memory_limit != memory_limit_) engines_.clear();
    memory_limit_ = settings.memory_limit;
    Key key{settings.threads, settings.io_threads, settings.metadata_cache_bytes, settings.composite_kernels};
    std::unique_ptr<EngineInstance>& engine = engines_[key];
    if (engine == nullptr) engine = std::make_unique<EngineInstance>(settings);
    return *engine;
  }

 private:
  using Key = std::tuple<int64_t, int64_t, int64_t, bool>;

  int64_t memory_limit_ = 0;
  std::map<Key, std::unique_ptr<EngineInstance>> engines_;
};

Json answer(ServedEngines& engines, const Settings& base, const std::string& line, const CancelToken& token) {
  try {
    Json request = Json::parse(line);
    Settings settings = base;
    if (request.contains("settings")) {
      for (const auto& [name, value] : request["settings"].items())
        assign_setting(settings, name, value.is_string() ? value.get<std::string>() : value.dump());
    }
    complete_settings(settings);
    EngineInstance& engine = engines.find(settings);
    SummaryRequest scan;
    scan.paths = strings_of(request, "files");
    scan.scan.columns = strings_of(request, "columns");
    for (const std::string& filter : strings_of(request, "where")) scan.scan.filters.push_back(parse_range_filter(filter));
    return json_of(run_summary_scan(engine, settings, scan, token), engine.peak_memory());
  } catch (const Cancelled&) {
    throw;
  } catch (const std::exception& error) {
    return {{"error", error.what()}};
  }
}

// One request per line, {"files": .., "columns": [..], "where": [..], "settings": {..}}, one answer per line; ends with the input. For
// programs that scan often and want to keep the engine, its caches and its memory.
int serve(const Settings& settings, const CancelToken& token) {
  ServedEngines engines;
  std::string line;
  while (read_input_line(line, token)) {
    fmt::print("{}\n", dump(answer(engines, settings, line, token)));
    flush_standard_output();
  }
  return 0;
}

}  // namespace

int run_scan_command(int argc, char** argv, Settings settings, InterruptWatcher& interrupts) {
  CommandArguments arguments(
      argc, argv, {{"--columns", true}, {"--where", true}, {"--repeat", true}, {"--format", true}, {"--serve", false}}, settings);
  if (arguments.has("--serve")) return serve(settings, interrupts.token());
  if (arguments.positional().empty()) throw UsageError("scan needs a path");
  std::string format = arguments.value("--format").value_or("box");
  if (format != "box" && format != "json") throw UsageError(fmt::format("--format is box or json, not '{}'", format));

  SummaryRequest request;
  request.paths = arguments.positional();
  request.scan.columns = split_list(arguments.value("--columns").value_or(""));
  for (const std::string& filter : arguments.values("--where")) request.scan.filters.push_back(parse_range_filter(filter));
  int64_t repeat = arguments.count("--repeat", 1);

  EngineInstance engine(settings);
  for (int64_t run = 0; run < repeat; ++run) {
    ScanCounters counters;
    SummaryResult result;
    {
      ProgressLine progress(settings.progress, counters);
      result = run_summary_scan(engine, engine.settings(), request, interrupts.token(), &counters);
    }
    if (format == "json") {
      fmt::print("{}\n", dump(json_of(result, engine.peak_memory())));
    } else if (run + 1 < repeat) {
      fmt::print("run {}: {:.3f} ms\n", run + 1, result.seconds * 1e3);
    } else {
      print_box(result, engine.peak_memory());
    }
  }
  return 0;
}

}  // namespace pistachio
