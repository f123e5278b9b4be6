#include "frontend/cli/bench_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace pistachio {

std::string cache_folder(const CommandArguments& arguments) {
  if (std::optional<std::string> folder = arguments.value("--cache")) return *folder;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != 0) return fmt::format("{}/pistachio", cache);
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != 0) return fmt::format("{}/.cache/pistachio", home);
  throw UsageError("--cache is needed: neither XDG_CACHE_HOME nor HOME is set");
}

std::vector<OptionDescription> with_common_options(std::vector<OptionDescription> own) {
  own.insert(own.end(), {{"--ranks", true}, {"--repeat", true}, {"--json", true}, {"--plot", true}, {"--balance", true}});
  return own;
}

int rank_count(const CommandArguments& arguments) {
  int64_t ranks = arguments.count("--ranks", 2);
  if (ranks > kMaxBenchRanks) throw UsageError(fmt::format("--ranks {}: at most {} are started on one machine", ranks, kMaxBenchRanks));
  return static_cast<int>(ranks);
}

BenchRun bench_run(const CommandArguments& arguments, int ranks) {
  BenchRun run{.ranks = ranks, .repeat = arguments.count("--repeat", 3), .balance = {}};
  if (std::optional<std::string> word = arguments.value("--balance")) {
    if (*word != "io" && *word != "all") throw UsageError(fmt::format("--balance takes io or all, not '{}'", *word));
    run.balance = *word == "io" ? Balance::InputOutput : Balance::All;
    if (ranks < 2) throw UsageError("--balance needs at least 2 ranks: there is no link with one");
  }
  return run;
}

std::vector<int64_t> number_list(const CommandArguments& arguments, std::string_view option, const std::string& otherwise, int64_t most) {
  std::vector<int64_t> made;
  for (const std::string& word : split_list(arguments.value(option).value_or(otherwise))) {
    int64_t number = 0;
    auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (status != std::errc() || end != word.data() + word.size() || number < 1 || number > most)
      throw UsageError(fmt::format("{} takes whole numbers from 1 to {} such as 1,2,4, not '{}'", option, most, word));
    made.push_back(number);
  }
  if (made.empty()) throw UsageError(fmt::format("{} needs a number", option));
  return made;
}

double share_option(const CommandArguments& arguments, std::string_view option, double otherwise) {
  std::optional<std::string> text = arguments.value(option);
  if (!text) return otherwise;
  double number = 0;
  auto [end, status] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (status != std::errc() || end != text->data() + text->size() || !(number >= 0) || number > 1)
    throw UsageError(fmt::format("{} takes a share from 0 to 1, not '{}'", option, *text));
  return number;
}

void refuse_words(const CommandArguments& arguments) {
  if (!arguments.positional().empty()) throw UsageError(fmt::format("there is no option '{}'", arguments.positional()[0]));
}

JoinTablePaths join_tables_for(const CommandArguments& arguments, JoinTables tables) {
  if (std::max(tables.build_rows, tables.probe_rows) > kMaxJoinRows)
    throw UsageError(fmt::format("--build and --probe take at most {} rows", kMaxJoinRows));
  return ensure_join_tables(cache_folder(arguments), tables);
}

}  // namespace pistachio
