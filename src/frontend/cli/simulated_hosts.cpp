#include "frontend/cli/simulated_hosts.h"

#include <fmt/format.h>

#include <charconv>
#include <numeric>
#include <vector>

#include "frontend/cli/command_arguments.h"

namespace pistachio {

namespace {

std::vector<int64_t> numbers_of_hosts(const std::string& text) {
  std::vector<int64_t> numbers;
  for (const std::string& word : split_list(text)) {
    int64_t number = 0;
    const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (status != std::errc() || end != word.data() + word.size() || number < 1)
      throw UsageError(
          fmt::format("option --hosts takes a whole number of at least 1, or the ranks of each host such as 1,2,2, not '{}'", text));
    numbers.push_back(number);
  }
  if (numbers.empty()) throw UsageError("option --hosts needs a number of hosts, or the ranks of each host such as 1,2,2");
  return numbers;
}

}  // namespace

std::string simulated_host(const std::string& hosts, int rank, int ranks) {
  const std::vector<int64_t> numbers = numbers_of_hosts(hosts);
  if (numbers.size() == 1) {
    if (numbers[0] > ranks) throw UsageError(fmt::format("--hosts {}: {} ranks cannot be on so many hosts", numbers[0], ranks));
    return fmt::format("host-{}", rank * numbers[0] / ranks);
  }
  const int64_t sum = std::accumulate(numbers.begin(), numbers.end(), int64_t{0});
  if (sum != ranks) throw UsageError(fmt::format("--hosts {}: these are hosts of {} ranks, and there are {}", hosts, sum, ranks));
  size_t host = 0;
  for (int64_t end = numbers[0]; end <= rank; end += numbers[host]) ++host;
  return fmt::format("host-{}", host);
}

}  // namespace pistachio
