#include "network/rank_card.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>

#include "base/error.h"
#include "network/frame.h"

namespace pistachio {
namespace {

// Length-prefixed text: `5:hello`.
void add_text(std::string& bytes, const std::string& text) {
  bytes += std::to_string(text.size()) + ":" + text;
}

class CardReader {
 public:
  CardReader(int rank, const std::string& bytes) : rank_(rank), rest_(bytes) {}

  std::string text() {
    size_t length = 0;
    auto [end, problem] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), length);
    size_t digits = static_cast<size_t>(end - rest_.data());
    if (problem != std::errc() || digits >= rest_.size() || *end != ':' || length > rest_.size() - digits - 1) fail();
    std::string text(rest_.substr(digits + 1, length));
    rest_.remove_prefix(digits + 1 + length);
    return text;
  }
  int64_t number() {
    std::string digits = text();
    int64_t value = 0;
    auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (problem != std::errc() || end != digits.data() + digits.size() || value < 0) fail();
    return value;
  }
  bool at_end() const { return rest_.empty(); }

 private:
  [[noreturn]] void fail() const {
    throw UserError(fmt::format("the card of rank {} is not understood: run the same version on all hosts", rank_));
  }

  int rank_;
  std::string_view rest_;
};

std::string host_name() {
  char name[256] = {};
  if (gethostname(name, sizeof(name) - 1) != 0) return "unknown";
  return name;
}

// Two machines may have the same name; two containers of one machine may not share memory and have separate pid namespaces.
std::string machine_identity(const std::string& host) {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  std::getline(file, boot);
  char space[64] = {};
  [[maybe_unused]] ssize_t length = readlink("/proc/self/ns/pid", space, sizeof(space) - 1);
  return host + "/" + boot + "/" + space;
}

}  // namespace

RankCard card_of_this_process(const std::string& host) {
  RankCard card;
  std::string name = host_name();
  card.info.host = host.empty() ? name : host;
  card.info.pid = getpid();
  card.info.core_set = usable_cores();
  card.info.cores = static_cast<int>(card.info.core_set.size());
  card.machine = machine_identity(name);
  return card;
}

std::string pack_card(const RankCard& card) {
  std::string bytes;
  add_text(bytes, card.version);
  add_text(bytes, card.info.host);
  add_text(bytes, card.machine);
  add_text(bytes, std::to_string(card.info.pid));
  add_text(bytes, std::to_string(card.info.incarnation));
  add_text(bytes, to_text(card.info.core_set));
  add_text(bytes, card.info.address);
  for (const auto& [name, value] : card.settings) {
    add_text(bytes, name);
    add_text(bytes, value);
  }
  return bytes;
}

RankCard unpack_card(int rank, const std::string& bytes) {
  CardReader reader(rank, bytes);
  RankCard card;
  card.info.rank = rank;
  card.version = reader.text();
  card.info.host = reader.text();
  card.machine = reader.text();
  card.info.pid = reader.number();
  card.info.incarnation = static_cast<int>(reader.number());
  card.info.core_set = core_set_of(reader.text());
  card.info.cores = static_cast<int>(card.info.core_set.size());
  card.info.address = reader.text();
  while (!reader.at_end()) {
    std::string name = reader.text();
    card.settings.emplace_back(std::move(name), reader.text());
  }
  return card;
}

void compare_cards(const std::vector<RankCard>& cards) {
  const RankCard& first = cards.front();
  for (const RankCard& card : cards) {
    if (card.version != first.version) {
      throw UserError(fmt::format("{} runs version {}, {} runs {}: run the same version everywhere", card.info.to_string(), card.version,
                                  first.info.to_string(), first.version));
    }
    std::map<std::string, std::string> theirs(card.settings.begin(), card.settings.end());
    for (const auto& [name, value] : first.settings) {
      auto found = theirs.find(name);
      std::string other = found == theirs.end() ? "nothing" : found->second;
      if (other != value) {
        throw UserError(fmt::format("the setting {} is {} on {} and {} on {}: it must be the same on all ranks", name, other,
                                    card.info.to_string(), value, first.info.to_string()));
      }
    }
  }
}

std::vector<RankInfo> number_hosts(const std::vector<RankCard>& cards) {
  std::map<std::pair<std::string, std::string>, int> hosts;
  std::map<std::string, int> machines;
  std::vector<RankInfo> ranks;
  for (const RankCard& card : cards) {
    ranks.push_back(card.info);
    ranks.back().host_index = hosts.emplace(std::pair(card.machine, card.info.host), static_cast<int>(hosts.size())).first->second;
    std::string host = card.machine + '\n' + card.info.host;
    ranks.back().host_key = payload_checksum({reinterpret_cast<const uint8_t*>(host.data()), host.size()});
    ranks.back().machine_index = machines.emplace(card.machine, static_cast<int>(machines.size())).first->second;
  }
  return ranks;
}

}  // namespace pistachio
