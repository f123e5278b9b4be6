// Splits text into statements at semicolons outside quotes and comments. For scripts and for the interactive prompt, which must know
// whether a statement is complete. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pistachio {

// Refers to the given text.
struct StatementText {
  std::string_view text;  // from its first to its last token, without the semicolon
  int64_t offset = 0;     // of the text in the whole
};

// Skips pieces without a token (blank, comments only). Includes an unfinished last statement.
std::vector<StatementText> split_statements(std::string_view text);

// Statements that arrive line by line. Each line is lexed once, however many a statement has; only a multi-line quote or comment is lexed
// again, at lines that may close it.
class StatementLines {
 public:
  // `line` has no line break.
  void add(std::string_view line);
  // More lines must follow: a quote or comment is open, or there are tokens after the last semicolon.
  bool is_open() const { return !ends_statement_ || !closing_sign_.empty(); }
  const std::string& text() const { return text_; }
  void clear() { *this = {}; }

 private:
  std::string text_;
  int64_t unread_ = 0;             // where lexing resumes: all tokens before are known
  bool ends_statement_ = true;     // there is no token after the last semicolon
  std::string_view closing_sign_;  // a line without it cannot close the open quote or comment; empty: nothing is open
};

}  // namespace pistachio
