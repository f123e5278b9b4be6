#include "profile/trace_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/added_time.h"

namespace pistachio {
namespace {

using Json = nlohmann::json;

std::vector<Json> events_of(const std::string& text, const std::string& phase) {
  std::vector<Json> found;
  const Json trace = Json::parse(text);
  for (const Json& event : trace.at("traceEvents")) {
    if (event.at("ph") == phase) found.push_back(event);
  }
  return found;
}

TEST(TraceJsonTest, RanksAreProcessesAndSpansEvents) {
  QueryProfile profile;
  profile.ranks.resize(2);
  profile.ranks[0].spans = {{.step = 1, .thread = 0, .begin = 1'500, .nanoseconds = 2'000}};
  profile.ranks[1].spans = {{.step = 0, .thread = 3, .begin = 0, .nanoseconds = 10},
                            {.step = 1, .thread = 3, .begin = 10, .nanoseconds = 1}};
  const std::string text = trace_json({"sort", "scan \"t\""}, profile);
  const std::vector<Json> spans = events_of(text, "X");
  ASSERT_EQ(spans.size(), 3u);
  EXPECT_EQ(spans[0].at("name"), "scan \"t\"");
  EXPECT_EQ(spans[0].at("pid"), 0);
  EXPECT_DOUBLE_EQ(spans[0].at("ts"), 1.5);
  EXPECT_DOUBLE_EQ(spans[0].at("dur"), 2);
  EXPECT_EQ(spans[1].at("name"), "sort");
  EXPECT_EQ(spans[1].at("pid"), 1);
  EXPECT_EQ(spans[1].at("tid"), 3);
  EXPECT_EQ(spans[2].at("args").at("step"), 1);
  EXPECT_EQ(events_of(text, "M").size(), 4u);  // two processes and two threads
}

TEST(TraceJsonTest, QueryWithoutSpansIsAnEmptyTrace) {
  EXPECT_TRUE(Json::parse(trace_json({}, {})).at("traceEvents").empty());
}

TEST(TraceJsonTest, OnlyTracedWorkIsRecorded) {
  SpanRecorder recorder;
  std::atomic<int64_t> nanoseconds = 0;
  const SpanTarget traced{&recorder, 7};
  { const AddedTime work(nanoseconds, traced); }
  const SpanTarget untraced;
  { const AddedTime work(nanoseconds, untraced); }
  const std::vector<Span> spans = recorder.take();
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_EQ(spans[0].step, 7u);
  EXPECT_GE(spans[0].begin, 0);
  EXPECT_GE(nanoseconds, spans[0].nanoseconds);
  EXPECT_TRUE(recorder.take().empty());
}

}  // namespace
}  // namespace pistachio
