#include "frontend/cli/query_command.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

#include "frontend/cli/command_arguments.h"
#include "frontend/cli/input_line.h"
#include "frontend/cli/result_printer.h"
#include "parser/parse.h"
#include "parser/statement_splitter.h"
#include "session/session.h"

namespace pistachio {

namespace {

int terminal_width() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

std::string read_script(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file) throw UserError(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  return text.str();
}

// The line of the text that the position is in, with a caret below it.
std::string show_position(std::string_view text, int64_t position) {
  size_t at = std::min(static_cast<size_t>(position), text.size());
  size_t begin = text.rfind('\n', at == 0 ? 0 : at - 1);
  begin = begin == std::string_view::npos || begin >= at ? 0 : begin + 1;
  size_t end = std::min(text.find('\n', at), text.size());
  std::string_view before = text.substr(begin, at - begin);
  size_t line = static_cast<size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n')) + 1;
  std::string prefix = fmt::format("line {}: ", line);
  // Very long lines are shown around the position only.
  constexpr size_t kShown = 100;
  std::string_view shown = text.substr(begin, end - begin);
  if (before.size() > kShown) {
    shown.remove_prefix(before.size() - kShown);
    before.remove_prefix(before.size() - kShown);
  }
  shown = shown.substr(0, before.size() + kShown);
  size_t column = static_cast<size_t>(std::count_if(before.begin(), before.end(), [](char letter) { return (letter & 0xC0) != 0x80; }));
  return fmt::format("{}{}\n{:>{}}", prefix, shown, "^", prefix.size() + column + 1);
}

class StatementRunner {
 public:
  StatementRunner(Session& session, ResultReceiver& printer, const CancelToken& token)
      : session_(session), printer_(printer), token_(token) {}

  // False after an error that ends the run.
  bool run_text(const std::string& text) {
    for (const StatementText& piece : split_statements(text)) {
      if (!run_statement(piece)) return false;
    }
    return true;
  }

  bool failed() const { return failed_; }

 private:
  bool run_statement(const StatementText& piece) {
    try {
      std::vector<ast::Statement> parsed = parse_statements(piece.text);
      for (ast::Statement& statement : parsed) {
        auto begin = std::chrono::steady_clock::now();
        session_.execute(std::make_shared<const ast::Statement>(std::move(statement)), printer_, token_);
        double milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
        flush();
        if (session_.settings().timer) fmt::print(stderr, "-- time: {:.3f} ms\n", milliseconds);
      }
      return true;
    } catch (const Cancelled&) {
      throw;
    } catch (const UserError& error) {
      report(error.message(), error.position() ? show_position(piece.text, *error.position()) : "");
    } catch (const Error& error) {
      report(error.message(), "");
    }
    return session_.settings().continue_on_error;
  }

  void report(const std::string& message, const std::string& place) {
    failed_ = true;
    if (session_.settings().continue_on_error) {
      fmt::print("error: {}\n", message);
      flush();
      return;
    }
    flush();
    fmt::print(stderr, "error: {}\n", message);
    if (!place.empty()) fmt::print(stderr, "{}\n", place);
  }

  static void flush() {
    if (std::fflush(stdout) != 0) throw UserError("cannot write to standard output");
  }

  Session& session_;
  ResultReceiver& printer_;
  const CancelToken& token_;
  bool failed_ = false;
};

bool is_goodbye(const std::string& line) {
  return line == "exit" || line == "quit" || line == "\\q" || line == ".exit" || line == ".quit";
}

// Statements from standard input, each run as soon as it is complete: a program on the other end of a pipe can wait for the answer before
// it sends the next. With a prompt, errors do not end the run. False after an error that does.
bool run_input(StatementRunner& runner, bool prompt, const CancelToken& token) {
  std::string text;
  std::string line;
  while (true) {
    if (prompt) fmt::print(stderr, "{}", text.empty() ? "pistachio> " : "       ... ");
    if (!read_input_line(line, token)) break;
    if (prompt && text.empty() && is_goodbye(line)) break;
    text += line + "\n";
    if (ends_open(text)) continue;
    if (!runner.run_text(text) && !prompt) return false;
    text.clear();
  }
  if (prompt) fmt::print(stderr, "\n");
  return runner.run_text(text) || prompt;
}

}  // namespace

int run_query_command(int argc, char** argv, Settings settings, const CancelToken& token) {
  // -c and -f run in the order they are given, which options by name would lose.
  struct Script {
    bool is_file = false;
    std::string text;
  };
  std::vector<Script> scripts;
  std::vector<std::string> folders;
  std::optional<ResultFormat> format;
  for (int i = 0; i < argc; ++i) {
    std::string word = argv[i];
    auto value = [&]() -> std::string {
      if (i + 1 >= argc) throw UsageError(fmt::format("{} needs a value", word));
      return argv[++i];
    };
    if (word == "-c") {
      scripts.push_back({false, value()});
    } else if (word == "-f") {
      scripts.push_back({true, value()});
    } else if (word == "-d") {
      folders.push_back(value());
    } else if (word == "--format") {
      format = parse_result_format(value());
    } else if (word == "-s" || word == "--device") {
      std::string setting = word == "-s" ? value() : "device=" + value();
      size_t equals = setting.find('=');
      if (equals == std::string::npos) throw UsageError(fmt::format("-s takes name=value, not '{}'", setting));
      try {
        assign_setting(settings, setting.substr(0, equals), setting.substr(equals + 1));
      } catch (const UserError& error) {
        throw UsageError(error.message());
      }
    } else {
      throw UsageError(fmt::format("there is no command or option '{}'", word));
    }
  }
  bool terminal = ::isatty(STDIN_FILENO) != 0;
  bool output_is_terminal = ::isatty(STDOUT_FILENO) != 0;
  if (scripts.empty() && !terminal) scripts.push_back({true, "-"});
  ResultFormat chosen = format.value_or(output_is_terminal ? ResultFormat::Box : ResultFormat::Csv);
  EngineInstance engine(settings);
  Session session(engine);
  for (const std::string& folder : folders) session.add_folder(folder);
  std::unique_ptr<ResultReceiver> printer = make_result_printer(chosen, stdout, output_is_terminal ? terminal_width() : 0);
  StatementRunner runner(session, *printer, token);
  for (const Script& script : scripts) {
    bool from_input = script.is_file && script.text == "-";
    bool goes_on = from_input ? run_input(runner, false, token) : runner.run_text(script.is_file ? read_script(script.text) : script.text);
    if (!goes_on) return 1;
  }
  if (!scripts.empty()) return runner.failed() ? 1 : 0;
  run_input(runner, true, token);
  return 0;
}

}  // namespace pistachio
