#include "frontend/cli/query_command.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "base/error.h"
#include "base/format_bytes.h"
#include "frontend/cli/command_arguments.h"
#include "frontend/cli/input_line.h"
#include "frontend/cli/interactive_shell.h"
#include "frontend/cli/result_output.h"
#include "frontend/cli/result_printer.h"
#include "frontend/cli/statement_runner.h"
#include "session/session.h"

namespace pistachio {

namespace {

int terminal_width() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

// At most `most` bytes: the whole text stays in memory while its statements run.
std::string read_script(const std::string& path, size_t most) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode)) throw UserError(fmt::format("cannot read {}: it is a folder", path));
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UserError(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  std::string script;
  std::vector<char> block(size_t{1} << 20);
  while (file.read(block.data(), static_cast<std::streamsize>(block.size())) || file.gcount() > 0) {
    script.append(block.data(), static_cast<size_t>(file.gcount()));
    if (script.size() > most) {
      throw UserError(fmt::format("cannot read {}: a script may have a quarter of memory_limit, {}; send it through standard input instead, which is "
                                  "read line by line",
                                  path, format_bytes(static_cast<int64_t>(most))));
    }
  }
  if (file.bad()) throw UserError(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (script.starts_with(byte_order_mark)) script.erase(0, byte_order_mark.size());
  return script;
}

// Statements from standard input, each run as soon as it is complete: a program at the other end of a pipe can wait for the answer before
// it sends the next. False after an error that ends the run.
bool run_input(StatementRunner& runner, const CancelToken& token) {
  StatementLines lines;
  std::string line;
  size_t lines_read = 0;
  size_t first_line = 1;
  while (read_input_line(line, token)) {
    ++lines_read;
    lines.add(line);
    if (lines.is_open()) continue;
    if (!runner.run_text(lines.text(), token, first_line)) return false;
    lines.clear();
    first_line = lines_read + 1;
  }
  return runner.run_text(lines.text(), token, first_line);
}

}  // namespace

QueryArguments parse_query_arguments(int argc, char** argv, Settings& settings) {
  QueryArguments arguments;
  for (int i = 0; i < argc; ++i) {
    std::string word = argv[i];
    auto value = [&]() -> std::string {
      if (i + 1 >= argc) throw UsageError(fmt::format("{} needs a value", word));
      return argv[++i];
    };
    if (word == "-c") {
      arguments.scripts.push_back({false, value()});
    } else if (word == "-f") {
      arguments.scripts.push_back({true, value()});
    } else if (word == "-d") {
      arguments.folders.push_back(value());
    } else if (word == "--format") {
      arguments.format = parse_result_format(value());
    } else if (word == "-s" || word == "--device") {
      assign_from_words(settings, word == "-s" ? value() : "device=" + value());
    } else {
      throw UsageError(fmt::format("there is no command or option '{}'", word));
    }
  }
  return arguments;
}

int run_query_command(int argc, char** argv, Settings settings, InterruptWatcher& interrupts) {
  QueryArguments arguments = parse_query_arguments(argc, argv, settings);
  EngineInstance engine(settings);
  return run_queries(arguments, engine, nullptr, interrupts);
}

int run_queries(const QueryArguments& arguments, EngineInstance& engine, RankService* ranks, InterruptWatcher& interrupts) {
  bool terminal = ::isatty(STDIN_FILENO) != 0;
  bool output_is_terminal = ::isatty(STDOUT_FILENO) != 0;
  std::vector<QueryArguments::Script> scripts = arguments.scripts;
  if (scripts.empty() && !terminal) scripts.push_back({true, "-"});
  ResultFormat chosen = arguments.format.value_or(output_is_terminal ? ResultFormat::Box : ResultFormat::Csv);
  if (is_binary(chosen) && output_is_terminal)
    throw UsageError("--format parquet and arrow are not for a terminal: send the output to a file or a program");
  Session session(engine, ranks);
  for (const std::string& folder : arguments.folders) session.add_folder(folder);
  ResultOutput output(stdout);
  std::unique_ptr<ResultReceiver> printer =
      make_result_printer(chosen, output, output_is_terminal ? terminal_width() : 0, /*reports_as_lines=*/!arguments.format);
  StatementRunner runner(session, *printer, output, !is_binary(chosen));
  if (scripts.empty()) {
    run_interactive_shell(runner, session, interrupts);
    return 0;
  }
  CancelToken token = interrupts.token();
  const auto most = static_cast<size_t>(session.settings().memory_limit / 4);
  for (const QueryArguments::Script& script : scripts) {
    bool from_input = script.is_file && script.text == "-";
    bool goes_on = from_input ? run_input(runner, token) : runner.run_text(script.is_file ? read_script(script.text, most) : script.text, token);
    if (!goes_on) return 1;
  }
  return runner.failed() ? 1 : 0;
}

}  // namespace pistachio
