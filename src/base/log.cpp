#include "base/log.h"

#include <fmt/chrono.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>

namespace pistachio {

std::string_view to_string(LogLevel level) {
  switch (level) {
    case LogLevel::Debug: return "DEBUG";
    case LogLevel::Info: return "INFO";
    case LogLevel::Warning: return "WARNING";
    case LogLevel::Error: return "ERROR";
  }
  return "UNKNOWN";
}

namespace {

bool is_plain(std::string_view value) {
  auto is_special = [](unsigned char c) { return c <= ' ' || c == '"' || c == '=' || c == 0x7f; };
  return !value.empty() && std::none_of(value.begin(), value.end(), is_special);
}

// A record is one line: control characters are escaped.
void append_escaped(std::string& line, std::string_view text, bool in_quotes) {
  for (char c : text) {
    if (c == '\n') {
      line += "\\n";
    } else if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) {
      line += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      if (in_quotes && (c == '"' || c == '\\')) line += '\\';
      line += c;
    }
  }
}

}  // namespace

std::string LogRecord::to_line() const {
  const auto since_epoch = std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch());
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::string line = fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z {} ", fmt::gmtime(seconds), since_epoch.count() % 1000, to_string(level));
  append_escaped(line, message, false);
  for (const LogField& field : fields) {
    line += ' ';
    line += field.key;
    line += '=';
    if (is_plain(field.value)) {
      line += field.value;
    } else {
      line += '"';
      append_escaped(line, field.value, true);
      line += '"';
    }
  }
  return line;
}

void write_to_stderr(const LogRecord& record) {
  std::string line = record.to_line() + '\n';
  // Failing to log is not an error.
  [[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

Logger::Logger(LogLevel least, LogSink sink) : least_(least), sink_(std::make_shared<const LogSink>(std::move(sink))) {}

void Logger::write(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) const {
  if (!is_on(level)) return;
  (*sink_)(LogRecord{std::chrono::system_clock::now(), level, std::string(message), fields});
}

}  // namespace pistachio
