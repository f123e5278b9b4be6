#include "frontend/cli/statement_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "base/error.h"
#include "frontend/cli/result_output.h"
#include "frontend/cli/standard_output.h"

namespace pistachio {

namespace {

size_t line_ends(std::string_view text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

// The line of the text that contains the position, with a caret below it. `first_line` is the number of the text's first line.
std::string show_position(std::string_view text, int64_t position, size_t first_line) {
  size_t at = std::min(static_cast<size_t>(position), text.size());
  size_t begin = text.rfind('\n', at == 0 ? 0 : at - 1);
  begin = begin == std::string_view::npos || begin >= at ? 0 : begin + 1;
  size_t end = std::min(text.find('\n', at), text.size());
  std::string_view before = text.substr(begin, at - begin);
  std::string prefix = fmt::format("line {}: ", first_line + line_ends(text.substr(0, at)));
  // Of very long lines only the part around the position is shown.
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

}  // namespace

bool StatementRunner::run_text(std::string_view text, const CancelToken& token, size_t first_line) {
  size_t counted = 0;
  for (const StatementText& piece : split_statements(text)) {
    size_t offset = static_cast<size_t>(piece.offset);
    first_line += line_ends(text.substr(counted, offset - counted));
    counted = offset;
    if (!run_statement(piece.text, token, first_line)) return false;
  }
  return true;
}

bool StatementRunner::run_statement(std::string_view text, const CancelToken& token, size_t first_line) {
  try {
    auto read = std::chrono::steady_clock::now();
    std::vector<ast::Statement> parsed = session_.parse(text, token, read);
    for (ast::Statement& statement : parsed) {
      auto begin = std::chrono::steady_clock::now();
      session_.execute(std::make_shared<const ast::Statement>(std::move(statement)), printer_, token, read);
      double milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
      read = std::chrono::steady_clock::now();
      flush_standard_output();
      for (const std::string& note : session_.notes()) print_to_standard_error("note: {}\n", note);
      if (session_.settings().timer) print_to_standard_error("-- time: {:.3f} ms\n", milliseconds);
    }
    return true;
  } catch (const Cancelled&) {
    throw;
  } catch (const UserError& error) {
    report(error.message(), error.position() ? show_position(text, *error.position(), first_line) : "", token);
  } catch (const Error& error) {
    report(error.message(), "", token);
  }
  return session_.settings().continue_on_error;
}

void StatementRunner::report(const std::string& message, const std::string& place, const CancelToken& token) {
  failed_ = true;
  if (session_.settings().continue_on_error && results_are_text_) {
    // The statement's deadline may have passed; the message may still wait for the reader.
    output_.set_token(token);
    output_.write(fmt::format("{}error: {}\n", output_.is_inside_line() ? "\n" : "", message));
    flush_standard_output();
    return;
  }
  flush_standard_output();
  print_to_standard_error("error: {}\n", message);
  if (!place.empty()) print_to_standard_error("{}\n", place);
}

}  // namespace pistachio
