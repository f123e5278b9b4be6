#include "base/core_set.h"

#include <fmt/format.h>
#include <sched.h>

#include <charconv>

namespace pistachio {

CoreSet usable_cores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CoreSet cores;
  if (sched_getaffinity(0, sizeof(mask), &mask) == 0) {
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_ISSET(core, &mask)) cores.push_back(core);
    }
  }
  if (cores.empty()) cores.push_back(0);
  return cores;
}

bool bind_this_thread(const CoreSet& cores) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (int core : cores) {
    if (core >= 0 && core < CPU_SETSIZE) CPU_SET(core, &mask);
  }
  return sched_setaffinity(0, sizeof(mask), &mask) == 0;
}

std::string to_text(const CoreSet& cores) {
  std::string text;
  for (size_t i = 0; i < cores.size();) {
    size_t last = i;
    while (last + 1 < cores.size() && cores[last + 1] == cores[last] + 1) ++last;
    text += text.empty() ? "" : ",";
    text += last == i ? fmt::format("{}", cores[i]) : fmt::format("{}-{}", cores[i], cores[last]);
    i = last + 1;
  }
  return text;
}

CoreSet core_set_of(std::string_view text) {
  CoreSet cores;
  auto number = [&](int& value) {
    auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    bool is_good = problem == std::errc() && value >= 0 && value < CPU_SETSIZE;
    text.remove_prefix(is_good ? static_cast<size_t>(end - text.data()) : 0);
    return is_good;
  };
  while (!text.empty()) {
    int first = 0;
    if (!number(first)) return {};
    int last = first;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      if (!number(last)) return {};
    }
    bool is_ascending = cores.empty() || first > cores.back();
    if (last < first || !is_ascending) return {};
    for (int core = first; core <= last; ++core) cores.push_back(core);
    if (text.empty()) return cores;
    if (!text.starts_with(',') || text.size() == 1) return {};
    text.remove_prefix(1);
  }
  return cores;
}

}  // namespace pistachio
