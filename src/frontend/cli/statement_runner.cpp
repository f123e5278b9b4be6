#include "frontend/cli/statement_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "base/error.h"
#include "parser/parse.h"

namespace pistachio {

namespace {

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

void flush_output() {
  if (std::fflush(stdout) != 0) throw UserError("cannot write to standard output");
}

}  // namespace

bool StatementRunner::run_text(std::string_view text, const CancelToken& token) {
  for (const StatementText& piece : split_statements(text)) {
    if (!run_statement(piece, token)) return false;
  }
  return true;
}

bool StatementRunner::run_statement(const StatementText& piece, const CancelToken& token) {
  try {
    std::vector<ast::Statement> parsed = parse_statements(piece.text);
    for (ast::Statement& statement : parsed) {
      auto begin = std::chrono::steady_clock::now();
      session_.execute(std::make_shared<const ast::Statement>(std::move(statement)), printer_, token);
      double milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
      flush_output();
      for (const std::string& note : session_.notes()) fmt::print(stderr, "note: {}\n", note);
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

void StatementRunner::report(const std::string& message, const std::string& place) {
  failed_ = true;
  if (session_.settings().continue_on_error && results_are_text_) {
    fmt::print("error: {}\n", message);
    flush_output();
    return;
  }
  flush_output();
  fmt::print(stderr, "error: {}\n", message);
  if (!place.empty()) fmt::print(stderr, "{}\n", place);
}

}  // namespace pistachio
