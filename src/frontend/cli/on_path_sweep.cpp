#include "frontend/cli/on_path_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace pistachio {

namespace {

constexpr int kPublishedCoresPerHost = 8;
constexpr int64_t kMaxTuples = int64_t{256} << 20;
constexpr int64_t kMaxRanksPerHost = 16;
constexpr double kMaxGigabits = 10'000;
constexpr double kMaxScale = 1'000;

// The words of a list option; at least one.
std::vector<std::string> words_of(const CommandArguments& arguments, std::string_view option, const std::string& otherwise) {
  std::vector<std::string> words = split_list(arguments.value(option).value_or(otherwise));
  if (words.empty()) throw UsageError(fmt::format("{} needs a value such as {}", option, otherwise));
  return words;
}

// Above 0, at most `most`.
double positive_number(std::string_view option, const std::string& word, double most) {
  double number = 0;
  const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (status != std::errc() || end != word.data() + word.size() || !(number > 0) || number > most)
    throw UsageError(fmt::format("{} takes numbers above 0 and at most {:g}, not '{}'", option, most, word));
  return number;
}

// 1000, 64Ki, 4Mi.
int64_t tuple_count(const std::string& word) {
  int64_t number = 0;
  const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), number);
  const std::string unit(end, word.data() + word.size());
  const int64_t factor = unit == "Ki" ? 1 << 10 : unit == "Mi" ? 1 << 20 : unit.empty() ? 1 : 0;
  if (status != std::errc() || factor == 0 || number < 1 || number > kMaxTuples / factor)
    throw UsageError(fmt::format("--tuples takes counts from 1 to 256Mi such as 64Ki or 4Mi, not '{}'", word));
  return number * factor;
}

KeyModel key_model(const std::string& word) {
  for (const KeyModelName& known : kKeyModels) {
    if (known.name == word) return known.model;
  }
  throw UsageError(fmt::format("--models takes disjoint, overlap and zipf, not '{}'", word));
}

int key_bits(const std::string& word) {
  if (word != "32" && word != "64") throw UsageError(fmt::format("--keys takes 32 and 64, not '{}'", word));
  return word == "32" ? 32 : 64;
}

bool has_on_path(const std::string& value) {
  Settings settings;
  try {
    assign_setting(settings, "on_path", value);
  } catch (const UserError&) {
    return false;
  }
  return true;
}

OnPathVariant on_path_variant(const std::string& name) {
  if (name == "none") return {name, {{"partial_aggregation", "off"}, {"on_path", "off"}}, DedupeAt::SinkOnly};
  OnPathVariant made{name, {{"partial_aggregation", "on"}, {"on_path", name}}, std::nullopt};
  if (name == "off") made.dedupes = DedupeAt::SenderRank;
  if (name == "on") made.dedupes = DedupeAt::SenderHost;
  if (!made.dedupes && name != "auto") throw UsageError(fmt::format("--variants takes none, off, on and auto, not '{}'", name));
  return made;
}

// The combiner is limited by cores, and what it saves by the link: a comparison with the published hosts needs the same ratio of both.
LinkScale link_scale(const CommandArguments& arguments, const Settings& settings, int64_t cores, const OnPathSweep& sweep) {
  if (const std::optional<std::string> word = arguments.value("--scale")) return {positive_number("--scale", *word, kMaxScale), "--scale"};
  const int hosts = sweep.source_hosts + 1;
  const double per_host = settings.threads > 0 ? static_cast<double>(settings.threads * sweep.ranks_per_host)
                                               : static_cast<double>(cores) / static_cast<double>(hosts);
  return {per_host / kPublishedCoresPerHost,
          fmt::format("{:.3g} cores per simulated host, {} per published host", per_host, kPublishedCoresPerHost)};
}

int64_t scaled_limit(double gigabits, double scale) {
  return std::max<int64_t>(1, std::llround(gigabits * 1e9 / 8 * scale));
}

}  // namespace

std::string OnPathSweep::hosts() const {
  std::string text = "1";
  for (int host = 0; host < source_hosts; ++host) text += fmt::format(",{}", ranks_per_host);
  return text;
}

std::vector<OptionDescription> on_path_options() {
  std::vector<OptionDescription> options;
  for (const char* name : {"--tuples", "--uniqueness", "--models", "--keys", "--limits", "--scale", "--variants", "--ranks-per-host",
                           "--repeat", "--json", "--plot", "--cache"})
    options.push_back({name, true});
  return options;
}

OnPathSweep on_path_sweep(const CommandArguments& arguments, const Settings& settings, int64_t cores) {
  OnPathSweep sweep;
  sweep.repeat = arguments.count("--repeat", sweep.repeat);
  const int64_t per_host = arguments.count("--ranks-per-host", sweep.ranks_per_host);
  if (per_host < 2 || per_host > kMaxRanksPerHost)
    throw UsageError(fmt::format("--ranks-per-host takes a number from 2 to {}, not {}", kMaxRanksPerHost, per_host));
  sweep.ranks_per_host = static_cast<int>(per_host);
  sweep.scale = link_scale(arguments, settings, cores, sweep);
  for (const std::string& name : words_of(arguments, "--variants", "none,off,on,auto")) {
    OnPathVariant variant = on_path_variant(name);
    if (has_on_path(variant.settings.back().second)) {
      sweep.variants.push_back(std::move(variant));
    } else {
      sweep.skipped.push_back(name);
    }
  }
  if (sweep.variants.empty()) throw UsageError("--variants: the setting on_path has none of these values");
  std::vector<int64_t> tuples;
  for (const std::string& word : words_of(arguments, "--tuples", "1Mi")) {
    tuples.push_back(tuple_count(word));
    if (tuples.back() > std::numeric_limits<int32_t>::max() / per_host - 1)
      throw UsageError(fmt::format("--tuples {}: the keys of {} ranks must fit into 32 bits", word, per_host));
  }
  std::vector<double> uniqueness;
  for (const std::string& word : words_of(arguments, "--uniqueness", "0.01,0.1,1"))
    uniqueness.push_back(positive_number("--uniqueness", word, 1));
  for (const std::string& limit : words_of(arguments, "--limits", "1,10,100")) {
    OnPathCell cell;
    if (limit != "off") {
      cell.gigabits = positive_number("--limits", limit, kMaxGigabits);
      cell.link_limit = scaled_limit(*cell.gigabits, sweep.scale.factor);
    }
    cell.data.source_hosts = sweep.source_hosts;
    cell.data.ranks_per_host = sweep.ranks_per_host;
    for (const std::string& model : words_of(arguments, "--models", "disjoint,overlap,zipf")) {
      cell.data.model = key_model(model);
      for (const std::string& bits : words_of(arguments, "--keys", "32")) {
        cell.data.key_bits = key_bits(bits);
        for (int64_t count : tuples) {
          cell.data.tuples = count;
          for (double share : uniqueness) {
            cell.data.uniqueness = share;
            sweep.cells.push_back(cell);
          }
        }
      }
    }
  }
  return sweep;
}

}  // namespace pistachio
