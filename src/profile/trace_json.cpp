#include "profile/trace_json.h"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

namespace pistachio {

namespace {

constexpr double kNanosecondsPerMicrosecond = 1000;

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// One event per line, so that a trace can be searched with a text tool.
class Events {
 public:
  template <typename... Arguments>
  void add(fmt::format_string<Arguments...> form, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text_), "{}", std::exchange(separator_, ",\n"));
    fmt::format_to(std::back_inserter(text_), form, std::forward<Arguments>(arguments)...);
  }
  std::string take() { return "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n" + fmt::to_string(text_) + "\n]}\n"; }

 private:
  fmt::memory_buffer text_;
  const char* separator_ = "";
};

}  // namespace

std::string trace_json(const std::vector<std::string>& steps, const QueryProfile& profile) {
  std::vector<std::string> names;
  for (size_t step = 0; step < steps.size(); ++step) names.push_back(quoted(steps[step]));
  Events events;
  for (size_t rank = 0; rank < profile.ranks.size(); ++rank) {
    events.add(R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":"rank {}"}}}})", rank, rank);
    std::set<uint32_t> threads;
    for (const Span& span : profile.ranks[rank].spans) {
      if (threads.insert(span.thread).second)
        events.add(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":"thread {}"}}}})", rank, span.thread, span.thread);
      const std::string_view name = span.step < names.size() ? std::string_view(names[span.step]) : std::string_view(R"("?")");
      events.add(R"({{"ph":"X","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},"name":{},"args":{{"step":{}}}}})", rank, span.thread,
                 static_cast<double>(span.begin) / kNanosecondsPerMicrosecond,
                 static_cast<double>(span.nanoseconds) / kNanosecondsPerMicrosecond, name, span.step);
    }
  }
  return events.take();
}

}  // namespace pistachio
