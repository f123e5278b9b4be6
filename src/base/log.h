// Structured log: a level, a message, and key=value fields. A Logger is a value, passed to whoever logs; its sink receives the records
// (stderr by default, one line each; tests collect them). As thread-safe as its sink; the stderr sink is.
//   logger.warning("slow read", {{"file", path}, {"milliseconds", 17}});
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pistachio {

enum class LogLevel { Debug, Info, Warning, Error };

std::string_view to_string(LogLevel level);

struct LogField {
  template <typename Value>
  LogField(std::string_view field_key, const Value& field_value) : key(field_key), value(fmt::format("{}", field_value)) {}

  std::string key;
  std::string value;
};

struct LogRecord {
  std::chrono::system_clock::time_point time;
  LogLevel level;
  std::string message;
  std::vector<LogField> fields;

  // `2026-07-30T12:00:00.123Z WARNING slow read file=a.parquet milliseconds=17`; a value with spaces or quotes is quoted.
  std::string to_line() const;
};

using LogSink = std::function<void(const LogRecord&)>;

// Writes each record with one write call, so that lines of different threads never interleave.
void write_to_stderr(const LogRecord& record);

class Logger {
 public:
  explicit Logger(LogLevel least = LogLevel::Info, LogSink sink = write_to_stderr);

  bool is_on(LogLevel level) const { return level >= least_; }
  void write(LogLevel level, std::string_view message, std::initializer_list<LogField> fields = {}) const;

  // The fields are formatted before the call: guard expensive ones with is_on.
  void debug(std::string_view message, std::initializer_list<LogField> fields = {}) const { write(LogLevel::Debug, message, fields); }
  void info(std::string_view message, std::initializer_list<LogField> fields = {}) const { write(LogLevel::Info, message, fields); }
  void warning(std::string_view message, std::initializer_list<LogField> fields = {}) const { write(LogLevel::Warning, message, fields); }
  void error(std::string_view message, std::initializer_list<LogField> fields = {}) const { write(LogLevel::Error, message, fields); }

 private:
  LogLevel least_;
  std::shared_ptr<const LogSink> sink_;
};

}  // namespace pistachio
