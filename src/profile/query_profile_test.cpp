#include "profile/query_profile.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "profile/profile_text.h"

namespace pistachio {
namespace {

StepFigures rows(int64_t count) {
  StepFigures step;
  step.gives_rows = true;
  step.rows = count;
  return step;
}

StepFigures moved(int64_t rows_sent, int64_t bytes_sent, int64_t bytes_received) {
  StepFigures step;
  step.rows_sent = rows_sent;
  step.bytes_sent = bytes_sent;
  step.bytes_received = bytes_received;
  return step;
}

TEST(QueryProfileTest, ProfilesRoundTrip) {
  RankProfile sent{.bytes_read = 77, .steps = {}};
  sent.steps[3] = rows(5);
  sent.steps[9] = moved(4, 100, 200);
  sent.steps[9].receivers_stalled = 6;
  sent.steps[3].synchronizations = 8;
  sent.use = {{0, 0, 0, 0}, {10, 20, 30, 40}};
  sent.spans = {{.step = 3, .thread = 1, .begin = 50, .nanoseconds = 60}};
  sent.device = DeviceFigures{.are_known = true, .synchronizations = 11, .pageable_copies = 12, .waited = 13};
  ByteWriter writer;
  put_profile(writer, sent);
  ByteReader reader(writer.bytes());
  RankProfile received = get_profile(reader);
  EXPECT_EQ(reader.left(), 0u);
  EXPECT_EQ(received.bytes_read, 77);
  ASSERT_EQ(received.steps.size(), 2u);
  EXPECT_TRUE(received.steps[3].gives_rows);
  EXPECT_EQ(received.steps[3].rows, 5);
  EXPECT_FALSE(received.steps[9].gives_rows);
  EXPECT_EQ(received.steps[9].rows_sent, 4);
  EXPECT_EQ(received.steps[9].bytes_sent, 100);
  EXPECT_EQ(received.steps[9].receivers_stalled, 6);
  EXPECT_EQ(received.bytes_received(), 200);
  ASSERT_EQ(received.use.size(), 2u);
  EXPECT_EQ(received.use[1].bytes_received, 30);
  EXPECT_EQ(received.use[1].core_nanoseconds, 40);
  ASSERT_EQ(received.spans.size(), 1u);
  EXPECT_EQ(received.spans[0].step, 3u);
  EXPECT_EQ(received.spans[0].thread, 1u);
  EXPECT_EQ(received.spans[0].begin, 50);
  EXPECT_EQ(received.spans[0].nanoseconds, 60);
  EXPECT_EQ(received.steps[3].synchronizations, 8);
  ASSERT_TRUE(received.device.has_value());
  EXPECT_TRUE(received.device->are_known);
  EXPECT_EQ(received.device->synchronizations, 11);
  EXPECT_EQ(received.device->pageable_copies, 12);
  EXPECT_EQ(received.device->waited, 13);
  ByteReader cut(std::string_view(writer.bytes()).substr(0, writer.bytes().size() - 1));
  EXPECT_THROW(get_profile(cut), PeerError);
}

TEST(QueryProfileTest, RanksAreAddedUp) {
  QueryProfile profile;
  profile.ranks.resize(3);
  profile.ranks[0].steps[1] = rows(10);
  profile.ranks[2].steps[1] = rows(20);
  profile.ranks[0].bytes_read = 1;
  profile.ranks[1].bytes_read = 2;
  EXPECT_EQ(profile.bytes_read(), 3);
  auto step = profile.step(1);
  ASSERT_EQ(step.size(), 3u);
  EXPECT_FALSE(step[1].has_value());
  EXPECT_EQ(total_of(step).rows, 30);
  EXPECT_TRUE(total_of(step).gives_rows);
  EXPECT_FALSE(total_of(profile.step(2)).gives_rows);
}

TEST(QueryProfileTest, ImbalanceIsMaximumOverMean) {
  EXPECT_EQ(imbalance({5, 5, 5}), 1);
  EXPECT_EQ(imbalance({30, 0, 0}), 3);
  EXPECT_EQ(imbalance({0, 0}), 1);
  EXPECT_EQ(imbalance({}), 1);
}

TEST(QueryProfileTest, ShortestTimeIsThatOfSlowestResource) {
  QueryProfile profile;
  profile.ranks.resize(2);
  profile.ranks[0].bytes_read = 600;
  profile.ranks[1].bytes_read = 200;
  profile.ranks[1].steps[0] = moved(0, 0, 90);
  EXPECT_EQ(profile.shortest_seconds(), std::nullopt);
  profile.bandwidths.storage = 100;  // of each of the two
  EXPECT_EQ(profile.shortest_seconds(), 4);
  profile.bandwidths.link = 10;
  EXPECT_EQ(profile.shortest_seconds(), 9);
  profile.bandwidths.storage = 0;
  EXPECT_EQ(profile.shortest_seconds(), 9);
}

TEST(ProfileTextTest, OneRankHasOneLine) {
  StepProfile step({rows(10)}, StepProfile::Kind::Other);
  EXPECT_EQ(step.total_text(), "; actual 10, 0.000 ms");
  EXPECT_TRUE(step.rank_lines().empty());
  nlohmann::ordered_json made;
  step.add_to(made);
  EXPECT_EQ(made["rows"], 10);
  EXPECT_FALSE(made.contains("ranks"));
}

TEST(ProfileTextTest, SeveralRanksAreShownSideBySide) {
  StepProfile step({rows(10), rows(12), rows(11)}, StepProfile::Kind::Other);
  EXPECT_EQ(step.total_text(), "; actual 33, 0.000 ms");
  EXPECT_EQ(step.rank_lines(), std::vector<std::string>{"ranks: rows 10/12/11 (imbalance 1.1), ms 0.0/0.0/0.0"});
  // Only the first rank: the total is enough.
  EXPECT_TRUE(StepProfile({rows(10), std::nullopt}, StepProfile::Kind::Other).rank_lines().empty());
}

TEST(ProfileTextTest, ExchangeShowsMovedRows) {
  StepFigures first = rows(9);
  first.rows_sent = 3;
  first.bytes_received = 2048;
  first.messages_received = 2;
  first.receivers_stalled = 1'500'000;
  StepFigures second = moved(6, 2048, 0);
  second.messages_sent = 2;
  second.credit_stalled = 400'000;
  StepProfile step({first, second}, StepProfile::Kind::Exchange);
  std::vector<std::string> lines = step.rank_lines();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], "ranks: rows 9/-, ms 0.0/0.0");
  EXPECT_EQ(lines[1],
            "moved: rows 3/6 (imbalance 1.3), sent 2.0 KiB in 2 messages, received 2.0 KiB in 2 messages, stalled 0.0 ms sending, "
            "0.4 ms for credit, 1.5 ms receiving");
  nlohmann::ordered_json made;
  step.add_to(made);
  EXPECT_EQ(made["ranks"]["rows"], (nlohmann::ordered_json{9, nullptr}));
  EXPECT_EQ(made["ranks"]["rows_sent"], (nlohmann::ordered_json{3, 6}));
  EXPECT_EQ(made["ranks"]["bytes_received"], (nlohmann::ordered_json{2048, 0}));
}

TEST(ProfileTextTest, QueryShowsItsShortestTime) {
  QueryProfile profile;
  profile.seconds = 0.006;
  profile.ranks.resize(2);
  profile.ranks[0].bytes_read = 2'000'000;
  profile.ranks[1].steps[0] = moved(0, 0, 1'000'000);
  std::vector<std::string> lines;
  add_query_text(profile, lines);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0], "time: 6.000 ms, read 1.9 MiB");
  EXPECT_EQ(lines[1], "received by ranks: 0 B/976.6 KiB");
  EXPECT_EQ(lines[2], "T_min: storage not known (storage_bandwidth_limit), link not known (SHOW links)");
  profile.bandwidths = {.storage = 0, .link = 5e8};
  lines.clear();
  add_query_text(profile, lines);
  EXPECT_EQ(lines[2], "T_min: 2.000 ms (storage not known (storage_bandwidth_limit), link at 0.5 GB/s), T / T_min 3.00");
  nlohmann::ordered_json made;
  add_query_json(profile, made);
  EXPECT_EQ(made["t_over_t_min"], 3.0);
  EXPECT_EQ(made["storage_bytes_per_second"], nullptr);
  EXPECT_EQ(made["ranks"]["bytes_received"], (nlohmann::ordered_json{0, 1'000'000}));
}

TEST(ProfileTextTest, EachRankHasALineForEachResource) {
  QueryProfile profile;
  profile.seconds = 2;
  profile.ranks.resize(2);
  std::vector<std::string> lines;
  add_timeline_text(profile, lines);
  EXPECT_TRUE(lines.empty());  // nothing was requested
  profile.ranks[0].use = {{0, 0, 0, 0}, {1'000'000'000, 3'000'000'000, 0, 500'000'000}, {2'000'000'000, 3'000'000'000, 0, 500'000'000}};
  profile.ranks[1].use = {{0, 0, 0, 0}, {2'000'000'000, 0, 8'000'000, 0}};
  add_timeline_text(profile, lines);
  ASSERT_EQ(lines.size(), 7u);
  EXPECT_EQ(lines[0], "use over time, 48 slots of 41.667 ms:");
  std::string half;
  for (int i = 0; i < 24; ++i) half += "█";
  EXPECT_EQ(lines[1], "    rank 0 storage |" + half + std::string(24, ' ') + "| peak 3 GB/s");
  EXPECT_EQ(lines[2], "    rank 0 network |" + std::string(48, ' ') + "| peak 0 GB/s");
  EXPECT_EQ(lines[3], "    rank 0 cores   |" + half + std::string(24, ' ') + "| peak 0.5 busy");
  EXPECT_EQ(lines[5], "    rank 1 network |" + half + half + "| peak 0.004 GB/s");
  nlohmann::ordered_json made;
  add_query_json(profile, made);
  EXPECT_NEAR(made["timeline"]["slot_milliseconds"].get<double>(), 2e3 / 48, 1e-9);
  ASSERT_EQ(made["timeline"]["storage_bytes_per_second"].size(), 2u);
  EXPECT_EQ(made["timeline"]["storage_bytes_per_second"][0].size(), 48u);
  EXPECT_NEAR(made["timeline"]["busy_cores"][0][3].get<double>(), 0.5, 1e-9);
  EXPECT_NEAR(made["timeline"]["network_bytes_per_second"][1][47].get<double>(), 4e6, 1);
}

TEST(ProfileTextTest, StepShowsItsWaitsForDevice) {
  StepFigures figures = rows(10);
  figures.synchronizations = 3;
  figures.device_waited = 1'500'000;
  nlohmann::ordered_json made;
  StepProfile({figures}, StepProfile::Kind::Other).add_to(made);
  EXPECT_EQ(StepProfile({figures}, StepProfile::Kind::Other).total_text(), "; actual 10, 0.000 ms, 3 synchronizations");
  EXPECT_EQ(made["synchronizations"], 3);
  EXPECT_EQ(made["pageable_copies"], 0);
  EXPECT_EQ(made["milliseconds_waited"], 1.5);
  figures.synchronizations = 1;
  figures.pageable_copies = 1;
  EXPECT_EQ(StepProfile({figures}, StepProfile::Kind::Other).total_text(), "; actual 10, 0.000 ms, 1 synchronization, 1 pageable copy");
}

TEST(ProfileTextTest, QueryShowsWaitsOfAllRanks) {
  QueryProfile profile;
  profile.ranks.resize(1);
  std::vector<std::string> lines;
  nlohmann::ordered_json made;
  add_query_text(profile, lines);
  add_query_json(profile, made);
  EXPECT_EQ(lines.size(), 1u);
  EXPECT_FALSE(made.contains("device"));
  profile.ranks.resize(2);
  for (RankProfile& rank : profile.ranks)
    rank.device = DeviceFigures{.are_known = true, .synchronizations = 107, .pageable_copies = 0, .waited = 15'500'000};
  lines.clear();
  add_query_text(profile, lines);
  add_query_json(profile, made);
  EXPECT_EQ(lines[1], "device: 214 synchronizations (31.0 ms waited), 0 pageable copies");
  EXPECT_EQ(made["device"]["synchronizations"], 214);
  EXPECT_EQ(made["device"]["milliseconds_waited"], 31.0);
  EXPECT_EQ(made["device"]["pageable_copies"], 0);
}

TEST(ProfileTextTest, UncountedWaitsAreHidden) {
  QueryProfile profile;
  profile.ranks.resize(1);
  profile.ranks[0].device = DeviceFigures{};
  std::vector<std::string> lines;
  nlohmann::ordered_json made;
  add_query_text(profile, lines);
  add_query_json(profile, made);
  EXPECT_TRUE(lines[1].starts_with("device: waits not counted"));
  EXPECT_TRUE(made["device"].is_null());
}

}  // namespace
}  // namespace pistachio
