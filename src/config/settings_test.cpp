#include "config/settings.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace pistachio {
namespace {

std::string error_of(std::string_view name, std::string_view text) {
  Settings settings;
  try {
    assign_setting(settings, name, text);
  } catch (const UserError& error) {
    return error.message();
  }
  return "";
}

TEST(SettingsTest, TakesEachKindOfValue) {
  Settings settings;
  assign_setting(settings, "threads", "7");
  assign_setting(settings, "MEMORY_LIMIT", "64MB");
  assign_setting(settings, "overlap", "off");
  assign_setting(settings, "reader", "blocking");
  EXPECT_EQ(settings.threads, 7);
  EXPECT_EQ(settings.memory_limit, 64'000'000);
  EXPECT_FALSE(settings.overlap);
  EXPECT_EQ(settings.reader, ReaderMode::Blocking);
  EXPECT_EQ(show_setting(settings, "reader"), "blocking");
}

TEST(SettingsTest, ErrorsSayWhatTheSettingTakes) {
  EXPECT_EQ(error_of("threads", "many"), "setting threads cannot be 'many': it takes an integer from 0 to 4096");
  EXPECT_EQ(error_of("threads", "-1"), "setting threads cannot be '-1': it takes an integer from 0 to 4096");
  EXPECT_EQ(error_of("memory_limit", "1KB"), "setting memory_limit cannot be '1KB': it takes 0 (the default) or at least 16000000 bytes");
  EXPECT_EQ(error_of("overlap", "maybe"), "setting overlap cannot be 'maybe': it takes on or off");
  EXPECT_EQ(error_of("thread", "1"), "there is no setting 'thread'; did you mean threads?");
  EXPECT_EQ(error_of("colour", "1"), "there is no setting 'colour'; `pistachio settings` lists them");
}

TEST(SettingsTest, TimesHaveUnits) {
  Settings settings;
  for (auto [text, shown] : {std::pair("500ms", "500ms"), std::pair("1.5S", "1500ms"), std::pair("90 s", "90s"), std::pair("120s", "2min"),
                             std::pair("1h", "1h"), std::pair("off", "off"), std::pair("0", "off"), std::pair("0s", "off")}) {
    assign_setting(settings, "query_timeout", text);
    EXPECT_EQ(show_setting(settings, "query_timeout"), shown);
  }
  for (const char* text : {"", "5", "ms", "-1s", "0.5ms", "1e300h", "5 weeks", "nan s", "infs"}) {
    EXPECT_EQ(error_of("query_timeout", text),
              std::string("setting query_timeout cannot be '") + text + "': it takes a time such as 500ms, 30s, 5min or 1h, or off");
  }
  // Shorter than the heartbeat of ranks allows.
  for (const char* text : {"off", "0", "999ms", "soon", "999999999h"}) {
    EXPECT_EQ(error_of("peer_timeout", text),
              std::string("setting peer_timeout cannot be '") + text + "': it takes a time of at least 1s, such as 5s or 1min");
  }
  assign_setting(settings, "peer_timeout", "1s");
  EXPECT_EQ(settings.peer_timeout, 1000);
}

TEST(SettingsTest, EverySettingShowsItsValue) {
  Settings settings;
  complete_settings(settings);
  for (const SettingDescription& setting : setting_descriptions()) {
    std::string shown = setting.show(settings);
    EXPECT_NO_THROW(setting.assign(settings, setting.name, shown)) << setting.name;
    EXPECT_EQ(setting.show(settings), shown);
    EXPECT_FALSE(setting.documentation.empty());
  }
}

TEST(SettingsTest, FooterCacheFollowsMemoryLimit) {
  for (auto [limit, cache] : {std::pair{int64_t{64} << 20, int64_t{16} << 20}, std::pair{int64_t{64} << 30, int64_t{256} << 20}}) {
    Settings settings;
    settings.memory_limit = limit;
    complete_settings(settings);
    EXPECT_EQ(settings.metadata_cache_bytes, cache);
  }
  Settings chosen;
  chosen.metadata_cache_bytes = 77;
  complete_settings(chosen);
  EXPECT_EQ(chosen.metadata_cache_bytes, 77);
}

TEST(SettingsTest, ByteSizes) {
  EXPECT_EQ(parse_byte_size("4096"), 4096);
  EXPECT_EQ(parse_byte_size("1.5GB"), 1'500'000'000);
  EXPECT_EQ(parse_byte_size("4 GiB"), int64_t{4} << 30);
  for (const char* wrong : {"", "GB", "1XB", "-5MB", "1e30", "1 GBB", "nan"}) EXPECT_THROW(parse_byte_size(wrong), UserError) << wrong;
}

TEST(SettingsTest, EnvironmentIsReadByPrefix) {
  Settings settings;
  std::string threads = "PISTACHIO_THREADS=3";
  std::string other = "HOME=/x";
  std::string unknown = "PISTACHIO_FOO=1";
  char* environment[] = {unknown.data(), threads.data(), other.data(), nullptr};
  const std::vector<std::string> problems = assign_settings_from_environment(settings, environment);
  EXPECT_EQ(settings.threads, 3);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_NE(problems[0].find("PISTACHIO_FOO in the environment"), std::string::npos);
}

}  // namespace
}  // namespace pistachio
